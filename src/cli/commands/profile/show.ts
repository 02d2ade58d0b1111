// `profile show`: one profile, its secret masked.
import type { Environment } from "../../../config.ts";
import { usageFailure } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { requireProfile } from "../../connection/profiles.ts";
import { members } from "../../terminal/output.ts";
import { document, open } from "./profile-document.ts";

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
  requireProfile(config, name, environment.configFile);
  output.result(document(config, name), members);
}
