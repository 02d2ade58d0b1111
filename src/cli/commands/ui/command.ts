// `ledgerctl ui`: its options.
import type { Command } from "commander";
import { serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineUi(program: Command): void {
  serviceOptions(program.command("ui"))
    .description("look through the books on a screen: accounts, registers, entries, periods")
    .addHelpText(
      "after",
      "\nIt needs a terminal, and shows new entries as they come; `?` lists its keys.\n\nExamples:\n  $ ledgerctl ui",
    )
    .action(loadAndRun(async () => (await import("./ui.ts")).ui));
}
