// The configuration file: named profiles of a service and its credentials.
import { chmod, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { errorCode } from "../core/thrown.ts";
import { findJsonFault, memberName, positionOf } from "./entry-files/json-fault.ts";
import { usageFailure } from "./failure.ts";
import { systemReason } from "./system-reason.ts";

const profileSchema = z.object({
  url: z.string().optional(),
  apiKey: z.string().optional(),
  apiSecret: z.string().optional(),
  ledger: z.string().optional(),
});

const configSchema = z.object({
  currentProfile: z.string().optional(),
  profiles: z.record(z.string(), profileSchema).default({}),
});

export type Profile = z.infer<typeof profileSchema>;
export type ConfigFile = z.infer<typeof configSchema>;

/** Reads the file; without one there are no profiles. A mode that lets others read secrets is warned about. */
export async function readConfigFile(
  file: string,
  warn: (message: string) => void,
): Promise<ConfigFile> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) warn(`${file} can be read by others; run chmod 600 on it`);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { profiles: {} };
    throw usageFailure(`${file} can't be read: ${systemReason(error)}`);
  }
  return parseConfig(file, text);
}

/** Its messages quote nothing of the file, which holds secrets: not even as a cause that somebody may print. */
function parseConfig(file: string, text: string): ConfigFile {
  const broken = findJsonFault(text);
  if (broken !== null) {
    const { line, column } = positionOf(text, broken.offset);
    throw usageFailure(`${file} is not valid JSON at line ${line}, column ${column}`);
  }
  const { data, error } = configSchema.safeParse(JSON.parse(text));
  if (error === undefined) return data;
  const [issue] = error.issues;
  const member = memberName(
    (issue?.path ?? []).filter((part): part is string => typeof part === "string"),
  );
  const what = member === "" ? "it must be a JSON object" : `${member} ${expectedOf(issue)}`;
  throw usageFailure(`${file} is not a configuration file: ${what}`);
}

function expectedOf(issue: z.core.$ZodIssue | undefined): string {
  return issue?.code === "invalid_type" && issue.expected === "string"
    ? "must be a text"
    : "must be a JSON object";
}

/** Writes the file whole, readable by its owner alone, or not at all. */
export async function writeConfigFile(file: string, config: ConfigFile): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.new`;
  const handle = await open(draft, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(config, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(draft, 0o600);
  await rename(draft, file);
}
