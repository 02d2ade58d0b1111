// `entry tail`: follows a journal until it is interrupted; on a terminal as a live screen, else a line an entry.
import type { Environment } from "../../../config.ts";
import type { Entry, EntryStreamOptions } from "../../../client/ledger-client.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { connectionTeller } from "../../connection/stream-notice.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { exitOnInterrupt } from "../../terminal/interrupts.ts";
import { isScreenWanted, toJson } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import { tailRow, type ShowAmount } from "./tail-state.ts";
import { displayAmount } from "../../terminal/amounts.ts";

export interface TailFlags extends ServiceFlags {
  since?: string;
}

export async function tailEntries(
  flags: TailFlags,
  environment: Environment,
): Promise<number | undefined> {
  exitOnInterrupt();
  const since: EntryStreamOptions =
    flags.since === undefined ? {} : { since: requireWholeNumber("--since", flags.since, 0) };
  return withService(flags, environment, async (context) => {
    const { client, output } = context;
    const id = context.ledgerId();
    // A stream goes on trying where nobody answers. What is wrong from the start ends the command.
    const { name, functionalCurrency } = await client.getLedger(id);
    const exponentOf = await exponentsShown(context, id, [functionalCurrency]);
    const show: ShowAmount = (amount) =>
      displayAmount(amount, functionalCurrency, exponentOf(functionalCurrency));
    if (isScreenWanted(output, environment)) {
      const { tailOnScreen } = await import("./tail-screen.tsx");
      const options = { since, show, name, isColored: output.isColored };
      return tailOnScreen(client, id, options);
    }
    const onConnection = connectionTeller(output, name);
    for await (const entry of client.followEntries(id, { ...since, onConnection })) {
      if (output.isJson) output.line(toJson(entry));
      else output.line(output.isQuiet ? entry.journalId : lineOf(entry, show));
      await output.drained();
    }
    return undefined;
  });
}

const widths = { sequence: 8, date: 24, amount: 16 };

/** Sequence, transactionDate, the sum of the debits, id, and what the entry says of itself. */
function lineOf(entry: Entry, show: ShowAmount): string {
  const { sequence, date, amount, journalId, text } = tailRow(entry, show);
  const cells = [
    String(sequence).padStart(widths.sequence),
    date.padEnd(widths.date),
    amount.padStart(widths.amount),
    journalId,
    printable(text),
  ];
  return cells.join("  ").trimEnd();
}
