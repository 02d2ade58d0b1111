// `entry list`: entries by sequence, page by page, however many there are.
import type { Environment } from "../../../config.ts";
import type { EntryListQuery, Entry, LedgerClient } from "../../../client/ledger-client.ts";
import { suggestingAccounts } from "../../input/account-suggestion.ts";
import { requireMoment, requirePeriodLabel } from "../../input/arguments.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { outputDrained, type Column, type Output } from "../../terminal/output.ts";
import { noteMore, pages, readRange, type RangeFlags } from "../../connection/pages.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { printable } from "../../terminal/printable.ts";

export interface ListFlags extends ServiceFlags, RangeFlags {
  period?: string;
  account?: string;
  from?: string;
  to?: string;
  externalId?: string;
}

export async function listEntries(flags: ListFlags, environment: Environment): Promise<void> {
  const range = readRange(flags);
  const filter = readFilter(flags);
  const { account } = flags;
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const rows = new RowPrinter(output);
    let isMore = false;
    const id = ledgerId();
    const listed = pages(
      (part) => client.listEntries(id, { ...filter, ...part }),
      ({ entries }) => entries.map(({ sequence }) => sequence),
      range,
    );
    for await (const page of listed) {
      rows.print(page.entries);
      await outputDrained();
      isMore = page.hasMore;
    }
    if (rows.lastSequence === null) {
      if (account !== undefined) await requireAccount(client, id, account);
      output.note("none");
    } else if (isMore) noteMore(output, rows.lastSequence);
  });
}

/** Where no entry is found, the account may be mistyped: fails as `balance` does. */
async function requireAccount(
  client: LedgerClient,
  ledgerId: string,
  account: string,
): Promise<void> {
  await suggestingAccounts({ client, ledgerId, codes: [account] }, () =>
    client.getBalance(ledgerId, { account }),
  );
}

function readFilter(flags: ListFlags): EntryListQuery {
  const { period, account, from, to, externalId } = flags;
  return {
    ...(period === undefined ? {} : { periodId: requirePeriodLabel("--period", period) }),
    ...(account === undefined ? {} : { glAccountCode: account }),
    ...(from === undefined ? {} : { from: requireMoment("--from", from) }),
    ...(to === undefined ? {} : { to: requireMoment("--to", to) }),
    ...(externalId === undefined ? {} : { externalId }),
  };
}

const columns: readonly (Column<Entry> & { readonly widthMin: number })[] = [
  { title: "SEQ", align: "right", widthMin: 5, value: ({ sequence }) => String(sequence) },
  { title: "DATE", widthMin: 10, value: ({ transactionDate }) => shortDate(transactionDate) },
  { title: "AMOUNT", align: "right", widthMin: 14, value: debits },
  { title: "ID", widthMin: 36, value: ({ journalId }) => journalId },
  { title: "STATE", widthMin: 8, value: state },
  { title: "DESCRIPTION", widthMin: 0, value: ({ description }) => printable(description ?? "") },
];

/** NDJSON for scripts; for people a table whose columns get wider where a later page needs it. */
class RowPrinter {
  readonly #output: Output;
  #widths: number[] | null = null;
  lastSequence: number | null = null;

  constructor(output: Output) {
    this.#output = output;
  }

  print(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    this.lastSequence = entries.at(-1)?.sequence ?? this.lastSequence;
    if (this.#output.isJson || this.#output.isQuiet) {
      this.#output.list(entries, columns, ({ journalId }) => journalId);
      return;
    }
    const rows = entries.map((entry) => columns.map(({ value }) => value(entry)));
    const before = this.#widths ?? columns.map(({ widthMin }) => widthMin);
    const widths = before.map((width, index) =>
      Math.max(width, ...rows.map((row) => row[index]?.length ?? 0)),
    );
    const titles = columns.map(({ title }) => title);
    if (this.#widths === null) rows.unshift(titles);
    for (const row of rows) this.#printRow(row, widths);
    this.#widths = widths;
  }

  #printRow(cells: readonly string[], widths: readonly number[]): void {
    const padded = columns.map(({ align }, index) => {
      const [cell = "", width = 0] = [cells[index], widths[index]];
      return align === "right" ? cell.padStart(width) : cell.padEnd(width);
    });
    this.#output.line(padded.join("  ").trimEnd());
  }
}

/** The sum of an entry's debits, which is that of its credits. */
function debits({ lines }: Entry): string {
  const amounts = lines.map(({ functionalAmount }) => BigInt(functionalAmount));
  const sum = amounts.reduce((total, amount) => (amount > 0n ? total + amount : total), 0n);
  return displayAmount(sum, lines[0]?.functionalCurrency ?? "");
}

function shortDate(timestamp: string): string {
  return timestamp.replace(/T00:00:00\.000Z$/, "").replace(/\.000Z$/, "Z");
}

function state({ entryType, reversedByJournalId }: Entry): string {
  if (reversedByJournalId !== null) return "reversed";
  return entryType === "STANDARD" ? "" : entryType.toLowerCase();
}
