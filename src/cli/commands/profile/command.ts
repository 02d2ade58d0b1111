// `ledgerctl profile`: the profiles of the configuration file.
import type { Command } from "commander";
import { listOptions, outputOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineProfile(program: Command): void {
  const profile = program
    .command("profile")
    .description("named services with their credentials, in the configuration file");
  listOptions(outputOptions(profile.command("list")))
    .description("list profiles, secrets masked")
    .addHelpText("after", "\nExample:\n  $ ledgerctl profile list")
    .action(loadAndRun(async () => (await import("./list.ts")).listProfiles));
  outputOptions(profile.command("show [name]"))
    .description("show a profile, its secret masked; without a name the one in use")
    .addHelpText("after", "\nExample:\n  $ ledgerctl profile show local")
    .action(loadAndRun(async () => (await import("./show.ts")).showProfile));
  outputOptions(profile.command("use <name>"))
    .description("use a profile from now on, where --profile and LEDGERCTL_PROFILE name none")
    .addHelpText("after", "\nExample:\n  $ ledgerctl profile use local")
    .action(loadAndRun(async () => (await import("./use.ts")).switchProfile));
  outputOptions(profile.command("remove <name>"))
    .description("take a profile out of the file; its API key stays valid until it is revoked")
    .addHelpText(
      "after",
      "\nExample:\n  $ ledgerctl config set url http://127.0.0.1:8420 --profile trial" +
        "\n  $ ledgerctl profile remove trial",
    )
    .action(loadAndRun(async () => (await import("./remove.ts")).removeProfile));
}
