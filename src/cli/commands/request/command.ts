// `ledgerctl request`: any signed request.
import type { Command } from "commander";
import { serviceOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { RequestFlags } from "./run.ts";

export function defineRequest(program: Command): void {
  serviceOptions(program.command("request <method> <target>"))
    .description("send a signed request and print the reply")
    .option("--body <file>", "the file whose bytes are the body; - is stdin")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl request GET /v1/ledgers\n  $ echo '{\"lines\":[]}' | ledgerctl request POST /v1/ledgers/ID/journal-entries --body -",
    )
    .action((method: string, target: string, flags: RequestFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).request(method, target, flags, environment),
      ),
    );
}
