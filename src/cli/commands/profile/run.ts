// Listing, showing and choosing profiles. No secret is printed.
import type { Environment } from "../../../config.ts";
import { notFoundFailure, usageFailure } from "../../failure.ts";
import type { OutputFlags } from "../../options.ts";
import { members, Output } from "../../terminal/output.ts";
import {
  masked,
  readConfigFile,
  writeConfigFile,
  type ConfigFile,
} from "../../connection/profiles.ts";
import { suggestion } from "../../input/suggestion.ts";

interface ProfileDocument {
  readonly name: string;
  readonly current: boolean;
  readonly url: string | null;
  readonly apiKey: string | null;
  /** Masked; null where there is none. */
  readonly apiSecret: string | null;
  readonly ledger: string | null;
}

export async function listProfiles(flags: OutputFlags, environment: Environment): Promise<void> {
  const { output, config } = await open(flags, environment);
  const names = Object.keys(config.profiles);
  output.list(
    names.map((name) => document(config, name)),
    [
      { title: "", value: ({ current }) => (current ? "*" : "") },
      { title: "PROFILE", value: ({ name }) => name },
      { title: "URL", value: ({ url }) => url ?? "" },
      { title: "API KEY", value: ({ apiKey }) => apiKey ?? "" },
      { title: "API SECRET", value: ({ apiSecret }) => apiSecret ?? "" },
      { title: "LEDGER", value: ({ ledger }) => ledger ?? "" },
    ],
    ({ name }) => name,
  );
}

export async function showProfile(
  asked: string | undefined,
  flags: OutputFlags,
  environment: Environment,
): Promise<void> {
  const { output, config } = await open(flags, environment);
  const name = asked ?? environment.profile ?? config.currentProfile;
  if (name === undefined) {
    throw usageFailure("no profile is in use; name one, or choose with `ledgerctl profile use`");
  }
  requireProfile(config, name, environment);
  output.result(document(config, name), members);
}

export async function switchProfile(
  name: string,
  flags: OutputFlags,
  environment: Environment,
): Promise<void> {
  const { output, config } = await open(flags, environment);
  requireProfile(config, name, environment);
  const changed = { ...config, currentProfile: name };
  await writeConfigFile(environment.configFile, changed);
  output.result(document(changed, name), () =>
    output.isQuiet ? name : `profile ${name} is in use from now on`,
  );
  if (environment.profile !== null && environment.profile !== name) {
    output.note(`LEDGERCTL_PROFILE is set to ${environment.profile}, and goes first`);
  }
}

async function open(
  flags: OutputFlags,
  environment: Environment,
): Promise<{ output: Output; config: ConfigFile }> {
  const output = new Output(flags, environment.isColorRefused);
  const warn = (message: string) => {
    output.warn(message);
  };
  return { output, config: await readConfigFile(environment.configFile, warn) };
}

function requireProfile(config: ConfigFile, name: string, { configFile }: Environment): void {
  if (Object.hasOwn(config.profiles, name)) return;
  const known = Object.keys(config.profiles);
  throw notFoundFailure(`there is no profile "${name}" in ${configFile}${suggestion(name, known)}`);
}

function document(config: ConfigFile, name: string): ProfileDocument {
  const { url, apiKey, apiSecret, ledger } = config.profiles[name] ?? {};
  return {
    name,
    current: name === config.currentProfile,
    url: url ?? null,
    apiKey: apiKey ?? null,
    apiSecret: apiSecret === undefined ? null : masked(apiSecret),
    ledger: ledger ?? null,
  };
}
