// Profiles as they are read and printed. No secret is printed.
import type { Environment } from "../../../config.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { masked, readConfigFile, type ConfigFile } from "../../connection/profiles.ts";

export async function open(flags: OutputFlags, environment: Environment) {
  const output = new Output(flags, environment.isColorRefused);
  return { output, config: await readConfigFile(environment.configFile, output.warn) };
}

export function document(config: ConfigFile, name: string) {
  const { url, apiKey, apiSecret, ledger } = config.profiles[name] ?? {};
  return {
    name,
    current: name === config.currentProfile,
    url: url ?? null,
    apiKey: apiKey ?? null,
    /** Masked; null where there is none. */
    apiSecret: apiSecret === undefined ? null : masked(apiSecret),
    ledger: ledger ?? null,
  };
}
