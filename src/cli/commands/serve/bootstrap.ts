// A first organization, ledger and key on a database that has none, for somebody who just wants to try.
import { delimiter, join } from "node:path";
import { realpathSync } from "node:fs";
import type { Environment } from "../../../config.ts";
import { scopes } from "../../../core/ledger.ts";
import {
  createApiKey,
  createLedger,
  createOrganization,
  starterChart,
} from "../../../engine/administration.ts";
import { listOrganizations, lockOrganizations } from "../../../store/organizations.ts";
import type { ReadPool } from "../../../store/read-pool.ts";
import { now } from "../../database-context.ts";
import { toJson, type Output } from "../../output.ts";
import { readConfigFile, writeConfigFile } from "../../profiles.ts";
import { systemReason } from "../../system-reason.ts";

const profileName = "local";

export interface Bootstrapped {
  readonly organizationId: string;
  readonly ledgerId: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly url: string;
  /** How this program is called from a shell. */
  readonly program: string;
  /** Whether commands find these credentials by themselves, through the profile. */
  readonly isProfileSaved: boolean;
  readonly configFile: string;
}

/** Makes everything a first try needs; null on a database that has an organization. */
export async function bootstrap(
  pool: ReadPool,
  masterKey: Buffer,
  environment: Environment,
  url: string,
  output: Output,
): Promise<Bootstrapped | null> {
  const made = await pool.transaction(async (transaction) => {
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
      scopes,
      masterKey,
      createdAt,
      expiresAt: null,
    });
    if (ledger === null || key === null) throw new Error("an organization just made is there");
    return { organizationId, ledger, key };
  });
  if (made === null) return null;
  const { organizationId, ledger, key } = made;
  const { ledgerId } = ledger;
  const profile = { url, ...key, ledger: ledgerId };
  const isProfileSaved = await saveProfile(environment.configFile, profile, output);
  return {
    organizationId,
    ledgerId,
    ...key,
    url,
    program: programCall(environment.path),
    isProfileSaved,
    configFile: environment.configFile,
  };
}

async function saveProfile(
  configFile: string,
  profile: { url: string; apiKey: string; apiSecret: string; ledger: string },
  output: Output,
): Promise<boolean> {
  try {
    const config = await readConfigFile(configFile, (message) => {
      output.warn(message);
    });
    if (Object.hasOwn(config.profiles, profileName)) return false;
    await writeConfigFile(configFile, {
      ...config,
      currentProfile: config.currentProfile ?? profileName,
      profiles: { ...config.profiles, [profileName]: profile },
    });
    return config.currentProfile === undefined;
  } catch (error) {
    output.warn(`the profile was not saved: ${systemReason(error)}`);
    return false;
  }
}

/** `ledgerctl` where the shell finds it as this very program, else node with the path of the script. */
function programCall(path: string): string {
  const script = realpathSync(process.argv[1] ?? "");
  const isOnPath = path.split(delimiter).some((directory) => {
    try {
      return realpathSync(join(directory, "ledgerctl")) === script;
    } catch {
      return false;
    }
  });
  if (isOnPath) return "ledgerctl";
  return `node ${/^[\w./-]+$/.test(script) ? script : `'${script.replaceAll("'", `'\\''`)}'`}`;
}

export function describeBootstrap(made: Bootstrapped, isJson: boolean): string {
  const { organizationId, ledgerId, apiKey, apiSecret, program } = made;
  if (isJson) return toJson({ event: "bootstrap", organizationId, ledgerId, apiKey, apiSecret });
  const credentials = made.isProfileSaved
    ? [
        `They are saved as profile "${profileName}" in ${made.configFile}.`,
        "",
        "Try, in another terminal:",
        "",
      ]
    : [
        "Try, in another terminal:",
        "",
        `  export LEDGERCTL_URL=${made.url} LEDGERCTL_LEDGER=${ledgerId}`,
        `  export LEDGERCTL_API_KEY=${apiKey} LEDGERCTL_API_SECRET=${apiSecret}`,
      ];
  return [
    "Made a first organization with a USD ledger and an API key.",
    `  organization  ${organizationId}`,
    `  ledger        ${ledgerId}`,
    `  API key       ${apiKey}`,
    `  API secret    ${apiSecret}   (shown this once)`,
    "",
    ...credentials,
    `  ID=$(${program} entry post --line 1000:+12500 --line 4000:-12500 --description "First sale" --quiet)`,
    `  ${program} balance 1000`,
    `  ${program} entry list`,
    `  ${program} entry reverse "$ID"`,
    `  ${program} balance 1000`,
    "",
  ].join("\n");
}
