// `ledgerctl sign`: the headers of a signed request, made offline.
import type { Command } from "commander";
import { serviceOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { SignFlags } from "./run.ts";

export function defineSign(program: Command): void {
  serviceOptions(program.command("sign <method> <target>"))
    .description("sign a request, without sending anything")
    .option("--body <file>", "the file whose bytes are the body; - is stdin")
    .option("--timestamp <seconds>", "Unix seconds (default: now)")
    .option("--format <format>", "headers, curl or json", "headers")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl sign GET /v1/ledgers\n  $ ledgerctl sign GET /v1/ledgers --format curl | sh",
    )
    .action((method: string, target: string, flags: SignFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).sign(method, target, flags, environment),
      ),
    );
}
