// A first organization, ledger and key on a database that has none, for somebody who just wants to try.
import { delimiter, join } from "node:path";
import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isSea } from "node:sea";
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../../../config.ts";
import { defaultScopes } from "../../../core/ledger.ts";
import {
  createApiKey,
  createLedger,
  createOrganization,
  starterChart,
} from "../../../engine/administration.ts";
import type { Pool } from "../../../store/database/pool.ts";
import { listOrganizations, lockOrganizations } from "../../../store/organizations.ts";
import { now } from "../../connection/database-context.ts";
import { toJson, type Output } from "../../terminal/output.ts";
import { readConfigFile, writeConfigFile, type Profile } from "../../connection/profiles.ts";
import { fileFailureReason } from "../../input/file-failure.ts";

const profileName = "local";

/** A home directory on a server that is gone must not keep the service from being ready. */
const saveTimeoutMs = 5_000;

type Credentials = NonNullable<Awaited<ReturnType<typeof makeFirstBooks>>>;

/** What became of the profile: used by every command, saved beside another that is, or not saved. */
type ProfileFate = "current" | "saved" | "left alone" | "not saved";

/**
 * Makes everything a first try needs and prints it; the credentials are printed before anything else is tried,
 * since nobody can show them again. False, and nothing printed, on a database that has an organization.
 */
export async function bootstrap(
  pool: Pool,
  masterKey: Buffer,
  environment: Environment,
  url: string,
  output: Output,
): Promise<boolean> {
  const made = await makeFirstBooks(pool, masterKey);
  if (made === null) return false;
  output.line(output.isJson ? toJson({ event: "bootstrap", ...made }) : describeMade(made));
  const { apiKey, apiSecret, ledgerId: ledger } = made;
  const profile = { url, apiKey, apiSecret, ledger };
  const fate = await saveProfile(environment.configFile, profile, output);
  if (!output.isJson) output.line(describeNext(made, url, fate, environment));
  else if (fate === "left alone") output.note(leftAlone(environment.configFile));
  return true;
}

async function makeFirstBooks(pool: Pool, masterKey: Buffer) {
  return pool.transaction(async (transaction) => {
    // Two first starts must not make two organizations, and a killed one not half of one.
    await lockOrganizations(transaction);
    if ((await listOrganizations(transaction)).length > 0) return null;
    const createdAt = now();
    const { organizationId } = await createOrganization(transaction, "My organization", createdAt);
    const ledger = await createLedger(transaction, {
      organizationId,
      name: "Main",
      functionalCurrency: "USD",
      chart: starterChart,
      createdAt,
    });
    const key = await createApiKey(transaction, {
      organizationId,
      scopes: defaultScopes,
      masterKey,
      createdAt,
      expiresAt: null,
    });
    if (ledger === null || key === null) throw new Error("an organization just made is there");
    return { organizationId, ledgerId: ledger.ledgerId, ...key };
  });
}

async function saveProfile(
  configFile: string,
  profile: Profile,
  output: Output,
): Promise<ProfileFate> {
  try {
    const timeout = sleep(saveTimeoutMs, undefined, { ref: false }).then(() => {
      throw new Error(`${configFile} can't be read and written within ${saveTimeoutMs / 1000} s`);
    });
    return await Promise.race([timeout, addProfile(configFile, profile, output)]);
  } catch (error) {
    output.warn(`the profile was not saved: ${fileFailureReason(error)}`);
    return "not saved";
  }
}

async function addProfile(
  configFile: string,
  profile: Profile,
  output: Output,
): Promise<ProfileFate> {
  const found = await stat(configFile).catch(() => null);
  // Reading a pipe would wait for its writer, and a file would then be put in its place.
  if (found?.isFile() === false) throw new Error(`${configFile} is no regular file`);
  const config = await readConfigFile(configFile, output.warn);
  if (Object.hasOwn(config.profiles, profileName)) return "left alone";
  await writeConfigFile(configFile, {
    ...config,
    currentProfile: config.currentProfile ?? profileName,
    profiles: { ...config.profiles, [profileName]: profile },
  });
  return config.currentProfile === undefined ? "current" : "saved";
}

/** `ledgerctl` where the shell finds it as this very program, else its path, behind node where it is a script. */
function programCall(path: string): string {
  const script = realpathSync(isSea() ? process.execPath : (process.argv[1] ?? ""));
  const isOnPath = path.split(delimiter).some((directory) => {
    try {
      return realpathSync(join(directory, "ledgerctl")) === script;
    } catch {
      return false;
    }
  });
  if (isOnPath) return "ledgerctl";
  const quoted = /^[\w./-]+$/.test(script) ? script : `'${script.replaceAll("'", `'\\''`)}'`;
  return isSea() ? quoted : `node ${quoted}`;
}

function describeMade({ organizationId, ledgerId, apiKey, apiSecret }: Credentials): string {
  return [
    "Made a first organization with a USD ledger and an API key.",
    `  organization  ${organizationId}`,
    `  ledger        ${ledgerId}`,
    `  API key       ${apiKey}`,
    `  API secret    ${apiSecret}   (shown this once)`,
    "",
  ].join("\n");
}

function leftAlone(configFile: string): string {
  return `A profile "${profileName}" was in ${configFile} already and was left alone: it is not for these books.`;
}

/** Where the credentials are, and the commands to try with them. */
function describeNext(
  { ledgerId, apiKey, apiSecret }: Credentials,
  url: string,
  fate: ProfileFate,
  { configFile, path }: Environment,
): string {
  const program = programCall(path);
  const saved = `They are saved as profile "${profileName}" in ${configFile}.`;
  const said = {
    current: [saved, ""],
    saved: [`${saved} Another is its currentProfile.`, ""],
    "left alone": [leftAlone(configFile), ""],
    "not saved": [],
  }[fate];
  const exports = [
    `  export LEDGERCTL_URL=${url} LEDGERCTL_LEDGER=${ledgerId}`,
    `  export LEDGERCTL_API_KEY=${apiKey} LEDGERCTL_API_SECRET=${apiSecret}`,
  ];
  return [
    ...said,
    "Try, in another terminal:",
    "",
    ...(fate === "current" ? [] : exports),
    `  ID=$(${program} entry post --line 1000:+12500 --line 4000:-12500 --description "First sale" --quiet)`,
    `  ${program} balance 1000`,
    `  ${program} entry list`,
    `  ${program} entry reverse "$ID"`,
    `  ${program} balance 1000`,
    "",
  ].join("\n");
}
