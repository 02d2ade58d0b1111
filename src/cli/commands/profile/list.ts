// `profile list`.
import type { Environment } from "../../../config.ts";
import type { OutputFlags } from "../../definition/options.ts";
import { document, open } from "./profile-document.ts";

export async function listProfiles(flags: OutputFlags, environment: Environment): Promise<void> {
  const { output, config } = await open(flags, environment);
  const names = Object.keys(config.profiles);
  output.list(
    names.map((name) => document(config, name)),
    [
      { title: "", value: ({ current }) => (current ? "*" : "") },
      { title: "PROFILE", value: ({ name }) => name },
      { title: "URL", cutTo: 16, leaveOut: 3, value: ({ url }) => url ?? "" },
      { title: "API KEY", value: ({ apiKey }) => apiKey ?? "" },
      { title: "API SECRET", leaveOut: 1, value: ({ apiSecret }) => apiSecret ?? "" },
      { title: "LEDGER", leaveOut: 2, value: ({ ledger }) => ledger ?? "" },
    ],
    ({ name }) => name,
    ["name", "current", "url", "apiKey", "apiSecret", "ledger"],
  );
}
