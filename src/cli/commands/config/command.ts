// `ledgerctl config`: the settings of a profile.
import { Option, type Command } from "commander";
import { listOptions, outputOptions, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const setHelp = `
KEY is url, api-key, api-secret or ledger. Without VALUE it is asked for on a terminal, and read from stdin elsewhere.
api-secret takes no VALUE, since process lists and shell histories show it; what is typed at the prompt is not shown.
A profile that is not there yet is made; the first one is in use from then on.

Examples:
  $ ledgerctl config set url http://127.0.0.1:8420
  $ ledgerctl config set api-key lk_AAECAwQFBgcICQoLDA0ODw --profile auditor
  $ ledgerctl config set api-secret --profile auditor < secret.txt`;

export function defineConfig(program: Command): void {
  const config = program.command("config").description("the settings of a profile");
  outputOptions(config.command("set <key> [value]"))
    .description("change a setting of the profile in use, or of --profile")
    .addOption(
      new Option("--profile <name>", "the profile to change (LEDGERCTL_PROFILE)").helpGroup(
        "Options:",
      ),
    )
    .addHelpText("after", setHelp)
    .action(loadAndRun(async () => (await import("./set.ts")).setSetting));
  outputOptions(config.command("unset <key>"))
    .description("take a setting out of the profile in use, or of --profile")
    .addOption(
      new Option("--profile <name>", "the profile to change (LEDGERCTL_PROFILE)").helpGroup(
        "Options:",
      ),
    )
    .addHelpText("after", "\nExample:\n  $ ledgerctl config unset ledger --profile auditor")
    .action(loadAndRun(async () => (await import("./unset.ts")).unsetSetting));
  listOptions(serviceOptions(config.command("list")))
    .description("the settings that commands would use, and where each comes from; secrets masked")
    .addHelpText("after", "\nExample:\n  $ ledgerctl config list")
    .action(loadAndRun(async () => (await import("./list.ts")).listSettings));
}
