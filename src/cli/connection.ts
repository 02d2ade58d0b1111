// From flags, environment and profile to where the service is and who asks. Light: signing offline
// needs no client.
import type { Environment } from "../config.ts";
import { usageFailure } from "./failure.ts";
import type { DatabaseFlags, ServiceFlags } from "./options.ts";
import type { Output } from "./output.ts";
import { readConfigFile, type Profile } from "./profiles.ts";

const defaultUrl = "http://127.0.0.1:8420";

export interface Connection {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly ledger: string | null;
}

/** Flags win over the environment, the environment over the profile. */
export async function resolveConnection(
  flags: ServiceFlags,
  environment: Environment,
  output: Output,
): Promise<Partial<Connection>> {
  const profile = await selectProfile(flags, environment, output);
  const apiKey = flags.apiKey ?? environment.apiKey ?? profile.apiKey;
  // A key given by itself must not be paired with the secret of the profile's other key.
  const profileSecret = apiKey === profile.apiKey ? profile.apiSecret : undefined;
  const apiSecret = environment.apiSecret ?? profileSecret;
  return {
    // A base never ends in a slash: targets begin with one.
    url: (flags.url ?? environment.url ?? profile.url ?? defaultUrl).replace(/\/+$/, ""),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(apiSecret === undefined ? {} : { apiSecret }),
    ledger: flags.ledger ?? environment.ledger ?? profile.ledger ?? null,
  };
}

/**
 * Whether a command that exists on both sides is meant for the service: an API key is configured, and
 * no flag names a database.
 */
export function isServiceMeant(flags: DatabaseFlags, connection: Partial<Connection>): boolean {
  if (flags.databaseUrl !== undefined || flags.dataDir !== undefined) return false;
  return connection.apiKey !== undefined;
}

/** Fails, saying what is missing, unless there is a key with its secret. */
export function requireCredentials(connection: Partial<Connection>): Connection {
  const { url, apiKey, apiSecret, ledger } = connection;
  if (apiKey === undefined) {
    throw usageFailure(
      "no API key: set LEDGERCTL_API_KEY and LEDGERCTL_API_SECRET, or use a profile",
    );
  }
  if (apiSecret === undefined) {
    throw usageFailure(`no secret for ${apiKey}: set LEDGERCTL_API_SECRET, or use its profile`);
  }
  return { url: url ?? defaultUrl, apiKey, apiSecret, ledger: ledger ?? null };
}

async function selectProfile(
  flags: ServiceFlags,
  environment: Environment,
  output: Output,
): Promise<Profile> {
  const config = await readConfigFile(environment.configFile, (message) => {
    output.warn(message);
  });
  const asked: string | null = flags.profile ?? environment.profile;
  const name = asked ?? config.currentProfile;
  if (name === undefined) return {};
  const profile = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  if (profile === undefined) {
    const file = environment.configFile;
    throw usageFailure(
      asked === null
        ? `${file} has no profile "${name}", which its currentProfile names; mend the file, or choose with --profile`
        : `there is no profile "${name}" in ${file}`,
    );
  }
  return profile;
}

/** A URL of a service, or a usage failure. */
export function requireHttpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw usageFailure(`--url must be an http:// or https:// URL, not ${text}`);
  }
  return text;
}
