// `ledgerctl bundle`: the file that an auditor gets.
import type { Command } from "commander";
import { serviceOptions } from "../../options.ts";
import { runCommand } from "../../run-command.ts";
import type { BundleFlags } from "./run.ts";

export function defineBundle(program: Command): void {
  serviceOptions(program.command("bundle <label>"))
    .description("write a close with all its entries to a file, for an auditor")
    .requiredOption("--out <file>", "the file, or - for stdout")
    .addHelpText(
      "after",
      "\nExample:\n  $ ledgerctl bundle 2026-03 --out 2026-03.ndjson" +
        "\n  $ ledgerctl merkle verify --bundle 2026-03.ndjson",
    )
    .action((label: string, flags: BundleFlags) =>
      runCommand(async (environment) =>
        (await import("./run.ts")).writeBundle(label, flags, environment),
      ),
    );
}
