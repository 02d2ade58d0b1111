// From flags, environment and profile to where the service is and who asks. Light: signing offline
// needs no client.
import type { Environment } from "../../config.ts";
import { notFoundFailure, usageFailure } from "../failure.ts";
import type { DatabaseFlags, ServiceFlags } from "../definition/options.ts";
import type { Output } from "../terminal/output.ts";
import { readConfigFile, requireProfile, type Profile, type ProfileMember } from "./profiles.ts";

const defaultUrl = "http://127.0.0.1:8420";

export interface Connection {
  readonly url: string;
  /** The flag, variable or profile that the URL comes from; null for the default. */
  readonly urlSource?: string | null;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly ledger: string | null;
}

/** A setting with where it comes from: a flag, a variable or a profile; both null where it is not set. */
export interface Setting {
  readonly value: string | null;
  readonly source: string | null;
}

/** Flags win over the environment, the environment over the profile. */
export async function resolveSettings(
  flags: ServiceFlags,
  environment: Environment,
  output: Output,
): Promise<Readonly<Record<ProfileMember, Setting>>> {
  const { name, profile } = await selectProfile(flags, environment, output);
  const setting = (member: ProfileMember, flag: string | null, variable: string): Setting => {
    const all = [
      [member === "apiSecret" ? null : flags[member], flag],
      [environment[member], variable],
      [profile[member], `profile ${name ?? ""}`],
    ] as const;
    const [value, source] = all.find(([given]) => typeof given === "string") ?? [];
    return { value: value ?? null, source: source ?? null };
  };
  const url = setting("url", "--url", "LEDGERCTL_URL");
  const apiKey = setting("apiKey", "--api-key", "LEDGERCTL_API_KEY");
  // A key given by itself must not be paired with the secret of the profile's other key.
  const isOfOtherKey = environment.apiSecret === null && apiKey.value !== (profile.apiKey ?? null);
  return {
    // A base never ends in a slash: targets begin with one.
    url:
      url.value === null
        ? { value: defaultUrl, source: "default" }
        : { ...url, value: url.value.replace(/\/+$/, "") },
    apiKey,
    apiSecret: isOfOtherKey
      ? { value: null, source: null }
      : setting("apiSecret", null, "LEDGERCTL_API_SECRET"),
    ledger: setting("ledger", "--ledger", "LEDGERCTL_LEDGER"),
  };
}

/** The values of those settings; members that are not set are left out. */
export async function resolveConnection(
  flags: ServiceFlags,
  environment: Environment,
  output: Output,
): Promise<Partial<Connection>> {
  const settings = await resolveSettings(flags, environment, output);
  const given = Object.entries(settings).filter(([, { value }]) => value !== null);
  const values = Object.fromEntries(given.map(([name, { value }]) => [name, value]));
  const { source } = settings.url;
  const isOfProfile = source?.startsWith("profile ") === true;
  return { ...values, urlSource: isOfProfile ? `the url of ${source}` : source };
}

/**
 * Whether a command that exists on both sides is meant for the service: an API key is configured, and
 * no flag names a database.
 */
export function isServiceMeant(flags: DatabaseFlags, connection: Partial<Connection>): boolean {
  if (flags.databaseUrl !== undefined || flags.dataDir !== undefined) return false;
  return connection.apiKey !== undefined;
}

/** Whether flags or the environment name a database: for administration it comes before any service. */
export function isDatabaseNamed(flags: DatabaseFlags, environment: Environment): boolean {
  const isByFlag = flags.databaseUrl !== undefined || flags.dataDir !== undefined;
  return isByFlag || environment.databaseUrl !== null || environment.isDataDirNamed;
}

/** Fails, saying what is missing, unless there is a key with its secret. */
export function requireCredentials(connection: Partial<Connection>): Connection {
  const { url, urlSource = null, apiKey, apiSecret, ledger } = connection;
  if (apiKey === undefined) {
    throw usageFailure(
      "no API key: set LEDGERCTL_API_KEY and LEDGERCTL_API_SECRET, or use a profile",
    );
  }
  if (apiSecret === undefined) {
    throw usageFailure(`no secret for ${apiKey}: set LEDGERCTL_API_SECRET, or use its profile`);
  }
  return { url: url ?? defaultUrl, urlSource, apiKey, apiSecret, ledger: ledger ?? null };
}

async function selectProfile(
  flags: ServiceFlags,
  environment: Environment,
  output: Output,
): Promise<{ name: string | null; profile: Profile }> {
  const config = await readConfigFile(environment.configFile, output.warn);
  const asked: string | null = flags.profile ?? environment.profile;
  const name = asked ?? config.currentProfile;
  if (name === undefined) return { name: null, profile: {} };
  const file = environment.configFile;
  if (asked === null && !Object.hasOwn(config.profiles, name)) {
    throw notFoundFailure(
      `${file} has no profile "${name}", which its currentProfile names; mend the file, or choose with --profile`,
    );
  }
  return { name, profile: requireProfile(config, name, file) };
}

/** A URL of a service, or a usage failure that names where it comes from: a flag, a variable or a profile. */
export function requireHttpUrl(text: string, source: string | null = null): string {
  if (!isHttpUrl(text)) {
    throw usageFailure(`${source ?? "--url"} must be an http:// or https:// URL, not ${text}`);
  }
  return text;
}

/** Whether a text can be the URL of a service. */
export function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === "http:" || url?.protocol === "https:";
}
