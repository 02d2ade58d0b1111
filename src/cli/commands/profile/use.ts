// `profile use`: the profile that is in use from now on.
import type { Environment } from "../../../config.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { requireProfile, writeConfigFile } from "../../connection/profiles.ts";
import { document, open } from "./profile-document.ts";

export async function switchProfile(
  name: string,
  flags: OutputFlags,
  environment: Environment,
): Promise<void> {
  const { output, config } = await open(flags, environment);
  requireProfile(config, name, environment.configFile);
  const changed = { ...config, currentProfile: name };
  await writeConfigFile(environment.configFile, changed);
  output.result(document(changed, name), () =>
    output.isQuiet ? name : `profile ${name} is in use from now on`,
  );
  if (environment.profile !== null && environment.profile !== name) {
    output.note(`LEDGERCTL_PROFILE is set to ${environment.profile}, and goes first`);
  }
}
