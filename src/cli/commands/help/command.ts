// `ledgerctl help`: what a command's own help has no room for.
import type { Command } from "commander";
import { runCommand } from "../../definition/run-command.ts";

export function defineHelp(program: Command): void {
  program
    .command("help [words...]")
    .description("a topic, or the help of a command")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl help\n  $ ledgerctl help exit-codes\n  $ ledgerctl help entry post",
    )
    .action((words: string[]) =>
      runCommand({}, async () => {
        (await import("./help.ts")).showHelp(words, program);
      }),
    );
}
