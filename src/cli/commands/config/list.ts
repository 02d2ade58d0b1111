// `config list`: the settings in use, and where each comes from.
import type { Environment } from "../../../config.ts";
import { resolveSettings } from "../../connection/settings.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { masked, settingMembers } from "../../connection/profiles.ts";

export async function listSettings(flags: ServiceFlags, environment: Environment): Promise<void> {
  const output = new Output(flags, environment.isColorRefused);
  const settings = await resolveSettings(flags, environment, output);
  const rows = Object.entries(settingMembers).map(([key, member]) => {
    const { value, source } = settings[member];
    const isShown = value !== null && member === "apiSecret";
    return { key, value: isShown ? masked(value) : value, source };
  });
  output.list(
    rows,
    [
      { title: "KEY", value: ({ key }) => key },
      { title: "VALUE", cutTo: 16, isCutInMiddle: true, value: ({ value }) => value ?? "" },
      { title: "FROM", leaveOut: 1, value: ({ source }) => source ?? "not set" },
    ],
    null,
    ["key", "value", "source"],
  );
}
