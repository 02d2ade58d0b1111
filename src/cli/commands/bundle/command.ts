// `ledgerctl bundle`: the file that an auditor gets.
import type { Command } from "commander";
import { serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineBundle(program: Command): void {
  serviceOptions(program.command("bundle <label>"))
    .description("write a close with all its entries to a file, for an auditor")
    .requiredOption("--out <file>", "the file, or - for stdout")
    .option("--with-proof", "write FILE.tlog-proof, too: the close's proof in the log of closes")
    .addHelpText(
      "after",
      "\nExample:\n  $ ledgerctl bundle 2026-03 --out 2026-03.ndjson --with-proof" +
        "\n  $ ledgerctl merkle verify --bundle 2026-03.ndjson",
    )
    .action(loadAndRun(async () => (await import("./bundle.ts")).writeBundle));
}
