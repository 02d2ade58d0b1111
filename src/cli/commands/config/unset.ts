// `config unset`: takes a setting out of a profile.
import type { Environment } from "../../../config.ts";
import { readConfigFile, requireProfile, writeConfigFile } from "../../connection/profiles.ts";
import { usageFailure } from "../../failure.ts";
import { Output } from "../../terminal/output.ts";
import { requireMember, type SetFlags } from "./set.ts";

export async function unsetSetting(
  key: string,
  flags: SetFlags,
  environment: Environment,
): Promise<void> {
  const member = requireMember(key);
  const output = new Output(flags, environment.isColorRefused);
  const config = await readConfigFile(environment.configFile, output.warn);
  const name = flags.profile ?? environment.profile ?? config.currentProfile;
  if (name === undefined) throw usageFailure("no profile is in use; name one with --profile");
  const { [member]: before, ...rest } = requireProfile(config, name, environment.configFile);
  if (before !== undefined) {
    const profiles = { ...config.profiles, [name]: rest };
    await writeConfigFile(environment.configFile, { ...config, profiles });
  }
  const said = before === undefined ? "was not set" : "is not set any more";
  output.result({ profile: name, key, value: null }, () => `${key} of profile ${name} ${said}`);
}
