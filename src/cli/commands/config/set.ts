// `config set`: changes a setting of a profile. A secret comes from stdin or a prompt, and is never printed.
import { text } from "node:stream/consumers";
import type { Environment } from "../../../config.ts";
import { isApiKey, isApiSecret } from "../../../core/signing.ts";
import { requireLabel } from "../../input/arguments.ts";
import { isHttpUrl } from "../../connection/settings.ts";
import { usageFailure } from "../../failure.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import {
  masked,
  readConfigFile,
  settingMembers,
  writeConfigFile,
  type ProfileMember,
} from "../../connection/profiles.ts";
import { ask } from "../../terminal/prompt.ts";
import { suggestion } from "../../input/suggestion.ts";

export interface SetFlags extends OutputFlags {
  profile?: string;
}

/** The profile that is made where none was named and there is none. */
const firstProfile = "default";

export async function setSetting(
  key: string,
  given: string | undefined,
  flags: SetFlags,
  environment: Environment,
): Promise<void> {
  const member = requireMember(key);
  if (member === "apiSecret" && given !== undefined) {
    throw usageFailure(
      "a secret is never an argument: process lists and shell histories show it. Leave it out, and it is asked " +
        "for, or give it on stdin. Better revoke the key that it belongs to, and make another.",
    );
  }
  const output = new Output(flags, environment.isColorRefused);
  const config = await readConfigFile(environment.configFile, output.warn);
  const name = flags.profile ?? environment.profile ?? config.currentProfile ?? firstProfile;
  const value = requireValue(member, given ?? (await readValue(key, member)));
  const isNew = !Object.hasOwn(config.profiles, name);
  const before = isNew ? {} : config.profiles[name];
  await writeConfigFile(environment.configFile, {
    ...config,
    currentProfile: config.currentProfile ?? name,
    profiles: { ...config.profiles, [name]: { ...before, [member]: value } },
  });
  const shown = member === "apiSecret" ? masked(value) : value;
  output.result(
    { profile: name, key, value: shown },
    () => `${key} of profile ${name} is ${shown}`,
  );
  if (isNew) output.note(`profile ${name} was made in ${environment.configFile}`);
}

/** The setting of that name. Throws a usage failure. */
export function requireMember(key: string): ProfileMember {
  const found = Object.entries(settingMembers).find(([name]) => name === key);
  if (found !== undefined) return found[1];
  const keys = Object.keys(settingMembers);
  throw usageFailure(`KEY must be one of ${keys.join(", ")}, not "${key}"${suggestion(key, keys)}`);
}

/** From the terminal, where a secret is not shown, or all of stdin. */
async function readValue(key: string, member: ProfileMember): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  return ask(`${key}: `, {
    input: process.stdin,
    output: process.stderr,
    isHidden: member === "apiSecret",
    outcome: "nothing was changed",
  });
}

/** What is wrong is said without the value, which may be a secret in the wrong place. */
function requireValue(member: ProfileMember, value: string): string {
  switch (member) {
    case "url":
      if (!isHttpUrl(value)) throw usageFailure("url must be an http:// or https:// URL");
      return value;
    case "apiKey":
      if (!isApiKey(value)) {
        throw usageFailure("api-key must be lk_ and 22 letters, digits, - or _");
      }
      return value;
    case "apiSecret":
      if (!isApiSecret(value)) {
        throw usageFailure("api-secret must be ls_ and 43 letters, digits, - or _");
      }
      return value;
    case "ledger":
      if (value.startsWith("ls_")) {
        throw usageFailure("ledger must be the id or the name of a ledger, and no secret");
      }
      return requireLabel("ledger", value);
  }
}
