// `ledgerctl sign`: the headers of a signed request, made offline.
import type { Command } from "commander";
import { collect, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineSign(program: Command): void {
  serviceOptions(program.command("sign <method> <target>"))
    .description("sign a request, without sending anything")
    .option("--body <file>", "the file whose bytes are the body, - is stdin; or JSON itself")
    .option("-d, --data <key=text>", "a member of a JSON body; KEY:=JSON if it is no text", collect)
    .option("--timestamp <seconds>", "Unix seconds (default: now)")
    .option("--format <format>", "headers, curl or json", "headers")
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl sign GET /v1/ledgers\n  $ ledgerctl sign GET /v1/ledgers --format curl | sh",
    )
    .action(loadAndRun(async () => (await import("./sign.ts")).sign));
}
