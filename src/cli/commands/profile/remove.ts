// `profile remove`: takes a profile out of the configuration file.
import type { Environment } from "../../../config.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { requireProfile, writeConfigFile } from "../../connection/profiles.ts";
import { document, open } from "./profile-document.ts";

export async function removeProfile(
  name: string,
  flags: OutputFlags,
  environment: Environment,
): Promise<void> {
  const { output, config } = await open(flags, environment);
  requireProfile(config, name, environment.configFile);
  const { currentProfile, ...others } = config;
  const profiles = Object.fromEntries(
    Object.entries(config.profiles).filter(([other]) => other !== name),
  );
  const isInUse = currentProfile === name;
  const current = currentProfile === undefined || isInUse ? {} : { currentProfile };
  await writeConfigFile(environment.configFile, { ...others, ...current, profiles });
  output.result(document(config, name), () =>
    output.isQuiet ? name : `profile ${name} was removed; its key, if it has one, is still valid`,
  );
  if (isInUse) output.note("no profile is in use now: `ledgerctl profile use` chooses one");
}
