// The configuration file: named profiles of a service and its credentials.
import {
  chmod,
  mkdir,
  readFile,
  readlink,
  realpath,
  rename,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isJsonObject } from "../../core/journal.ts";
import { errorCode } from "../../core/thrown.ts";
import { findJsonFault, positionOf } from "../input/entry-files/json-fault.ts";
import { notFoundFailure, usageFailure } from "../failure.ts";
import { fileFailureReason } from "../input/file-failure.ts";
import { suggestion } from "../input/suggestion.ts";

/** What a profile may say, each a text, by what it is called on the command line. */
export const settingMembers = {
  url: "url",
  "api-key": "apiKey",
  "api-secret": "apiSecret",
  ledger: "ledger",
} as const;

export type ProfileMember = (typeof settingMembers)[keyof typeof settingMembers];
export type Profile = Partial<Record<ProfileMember, string>>;

export interface ConfigFile {
  readonly currentProfile?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** A secret as it may be shown: that there is one, and nothing of it. */
export function masked(secret: string): string {
  return secret.startsWith("ls_") ? "ls_********" : "********";
}

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
    throw usageFailure(`${file} can't be read: ${fileFailureReason(error)}`);
  }
  return parseConfig(file, text);
}

/**
 * Its messages quote nothing of the file, which holds secrets: not even as a cause that somebody may print. By hand:
 * every offline command reads the file, and a schema library costs more to load than all else.
 */
function parseConfig(file: string, text: string): ConfigFile {
  const broken = findJsonFault(text);
  if (broken !== null) {
    const { line, column } = positionOf(text, broken.offset);
    throw usageFailure(`${file} is not valid JSON at line ${line}, column ${column}`);
  }
  const fail = (what: string) => usageFailure(`${file} is not a configuration file: ${what}`);
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw fail("it must be a JSON object");
  const { profiles = {} } = value;
  if (!isJsonObject(profiles)) throw fail("profiles must be a JSON object");
  const read = Object.entries(profiles).map(([name, profile]) => {
    const place = `profiles.${name}`;
    if (!isJsonObject(profile)) throw fail(`${place} must be a JSON object`);
    return [name, readTexts(profile, Object.values(settingMembers), `${place}.`, fail)] as const;
  });
  return {
    ...readTexts(value, ["currentProfile"], "", fail),
    profiles: Object.fromEntries(read),
  };
}

/** The members of those names that are there. */
function readTexts<Name extends string>(
  object: Readonly<Record<string, unknown>>,
  names: readonly Name[],
  place: string,
  fail: (what: string) => Error,
): Partial<Record<Name, string>> {
  const present = names.filter((name) => object[name] !== undefined);
  const wrong = present.find((name) => typeof object[name] !== "string");
  if (wrong !== undefined) throw fail(`${place}${wrong} must be a text`);
  return Object.fromEntries(present.map((name) => [name, object[name]])) as Partial<
    Record<Name, string>
  >;
}

/** A profile that was named; it has to be there. */
export function requireProfile({ profiles }: ConfigFile, name: string, file: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  throw notFoundFailure(
    `there is no profile "${name}" in ${file}${suggestion(name, Object.keys(profiles))}`,
  );
}

/** Writes the file whole, readable by its owner alone, or not at all. A link stays one: what it leads to is written. */
export async function writeConfigFile(path: string, config: ConfigFile): Promise<void> {
  const file = await followLinks(path);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.new`;
  await writeFile(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, flush: true });
  await chmod(draft, 0o600);
  await rename(draft, file);
}

/** Where a path leads, for a link also where there is no file yet. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    const link = await readlink(path).catch(() => null);
    return link === null ? path : followLinks(resolve(dirname(path), link));
  }
}
