// `ledgerctl bundle`: the file that an auditor gets, and what is in it.
import { Option, type Command } from "commander";
import {
  minorOption,
  outputOptions,
  pagerOption,
  serviceOptions,
} from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const bundleHelp = `
LABEL is the period's, or the closeId: that of a period which is called show or export.

Example:
  $ ledgerctl bundle 2026-03 --out 2026-03.ndjson --with-proof
  $ ledgerctl merkle verify --bundle 2026-03.ndjson`;

const showHelp = `
Offline. An entry is a row for each of its lines. What is shown is recomputed, and not compared with anything from
elsewhere: \`ledgerctl merkle verify\` does that. Exit code 3 when the file does not match itself.

Example:
  $ ledgerctl bundle show 2026-03.ndjson`;

const exportHelp = `
Offline. The formats are those of \`ledgerctl export\`. A bundle has no names and types of accounts and no decimals of
assets: accounts are without a type, and only codes of ISO 4217 have decimals. Nothing is left of a file that does not
match itself, and the exit code is 3; what went to stdout by then is not to be used.

Examples:
  $ ledgerctl bundle export 2026-03.ndjson --format hledger --out march.journal
  $ ledgerctl bundle export 2026-03.ndjson --format csv > march.csv`;

export function defineBundle(program: Command): void {
  const bundle = serviceOptions(program.command("bundle <label>").enablePositionalOptions());
  const out = new Option("--out <file>", "the file, or - for stdout").makeOptionMandatory();
  bundle
    .description("write a close with all its entries to a file, for an auditor")
    .addOption(out)
    .option("--with-proof", "write FILE.tlog-proof, too: the close's proof in the log of closes")
    .addHelpText("after", bundleHelp)
    // What is mandatory would be so for commands below, too.
    .hook("preSubcommand", () => {
      out.makeOptionMandatory(false);
    })
    .action(loadAndRun(async () => (await import("./bundle.ts")).writeBundle));
  minorOption(pagerOption(outputOptions(bundle.command("show <file>"))))
    .description("show what is in a bundle, offline")
    .option("--limit <n>", "so many of its entries (default: 100)")
    .addHelpText("after", showHelp)
    .action(loadAndRun(async () => (await import("./show.ts")).showBundle));
  outputOptions(bundle.command("export <file>"))
    .description("write the entries of a bundle for other programs, offline")
    .requiredOption("--format <format>", "hledger, beancount, csv or ndjson")
    .option("--out <file>", "the file; stdout where it is left out, or -")
    .addHelpText("after", exportHelp)
    .action(loadAndRun(async () => (await import("./export.ts")).exportBundle));
}
