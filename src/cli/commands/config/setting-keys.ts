// What the settings are called on the command line.
import { type ProfileMember } from "../../connection/profiles.ts";

export const memberOf: Readonly<Record<string, ProfileMember>> = {
  url: "url",
  "api-key": "apiKey",
  "api-secret": "apiSecret",
  ledger: "ledger",
};
