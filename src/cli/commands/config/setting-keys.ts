// What the settings are called on the command line, each with its member of a profile.
import { type ProfileMember } from "../../connection/profiles.ts";

export const settingMembers: Readonly<Record<string, ProfileMember>> = {
  url: "url",
  "api-key": "apiKey",
  "api-secret": "apiSecret",
  ledger: "ledger",
};
