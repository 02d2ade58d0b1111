// Profiles as they are read and printed. No secret is printed.
import type { Environment } from "../../../config.ts";
import { notFoundFailure } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { masked, readConfigFile, type ConfigFile } from "../../connection/profiles.ts";
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

export async function open(
  flags: OutputFlags,
  environment: Environment,
): Promise<{ output: Output; config: ConfigFile }> {
  const output = new Output(flags, environment.isColorRefused);
  return { output, config: await readConfigFile(environment.configFile, output.warn) };
}

export function requireProfile(
  config: ConfigFile,
  name: string,
  { configFile }: Environment,
): void {
  if (Object.hasOwn(config.profiles, name)) return;
  const known = Object.keys(config.profiles);
  throw notFoundFailure(`there is no profile "${name}" in ${configFile}${suggestion(name, known)}`);
}

export function document(config: ConfigFile, name: string): ProfileDocument {
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
