// `ledgerctl period`: closing periods, and what has been closed.
import type { Command } from "commander";
import { listOptions, minorOption, pagerOption, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const labelHelp = `
LABEL is 2026, 2026-03, Mar 2026, 2026-03-31, 2026-Q1, 2026-H1 or 2026-W09, or --starts-at and --ends-at say
the bounds. Any other label closes the books up to this moment, from where closed books end, and needs --to-date.`;

const diffHelp = `
A and B are labels of closed periods, or bundles: a file that is there, one that ends with .ndjson, or - for stdin. With
two bundles it is offline. Exit code 3 when a bundle does not match itself.

Examples:
  $ ledgerctl period diff 2026-03 2026-P4
  $ ledgerctl period diff 2026-01.ndjson 2026-02.ndjson`;

export function definePeriod(program: Command): void {
  const period = program.command("period").description("periods of the books");
  minorOption(pagerOption(boundOptions(period.command("preview <label>"))))
    .description("what a close would do, and what to look at before it")
    .addHelpText("after", `${labelHelp}\n\nExample:\n  $ ledgerctl period preview 2026-03`)
    .action(loadAndRun(async () => (await import("./preview.ts")).previewPeriod));
  boundOptions(period.command("close <label>"))
    .description("close a period: for good")
    .option("--reason <text>", "kept with the close")
    .option("--yes", "do not ask")
    .option("--allow-open-earlier", "also where earlier months have entries and are not closed")
    .option("--to-date", "with a label that is no date: close everything up to this moment")
    .addHelpText(
      "after",
      `${labelHelp}\n\nExamples:\n  $ ledgerctl period close 2026-01\n  $ ledgerctl period close 2026-03` +
        "\n  $ ledgerctl period close 2026-P4 --starts-at 2026-04-01 --ends-at 2026-04-29 --yes",
    )
    .action(loadAndRun(async () => (await import("./close.ts")).closePeriod));
  listOptions(serviceOptions(period.command("list")))
    .description("closes, oldest first")
    .addHelpText("after", "\nExample:\n  $ ledgerctl period list --json | jq -r .closeHash")
    .action(loadAndRun(async () => (await import("./list.ts")).listPeriods));
  minorOption(pagerOption(serviceOptions(period.command("show <label>"))))
    .description("a close with its trial balance")
    .addHelpText("after", "\nExample:\n  $ ledgerctl period show 2026-03")
    .action(loadAndRun(async () => (await import("./show.ts")).showPeriod));
  minorOption(pagerOption(serviceOptions(period.command("diff <a> <b>"))))
    .description("compare two closes, or two bundles: the accounts that differ")
    .addHelpText("after", diffHelp)
    .action(loadAndRun(async () => (await import("./diff.ts")).diffPeriods));
}

function boundOptions(command: Command): Command {
  return serviceOptions(command)
    .option("--starts-at <time>", "in place of the label's own start")
    .option("--ends-at <time>", "in place of the label's own end, exclusive");
}
