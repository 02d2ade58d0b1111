// `entry list`: entries by sequence or by date, page by page, however many there are.
import type { Environment } from "../../../config.ts";
import type { Entry, EntryPage, LedgerClient } from "../../../client/ledger-client.ts";
import { suggestingAccounts } from "../../input/account-suggestion.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import type { Column, Output } from "../../terminal/output.ts";
import { noteMore, readRange, type RangeFlags } from "../../connection/pages.ts";
import { exponentsShown, type ExponentOf } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { columnGap, type FittedColumn } from "../../terminal/fit-columns.ts";
import { listedPages, readAmounts, readFilter, type FilterFlags } from "./entry-filter.ts";
import { stateOf, withReversed } from "./entry-state.ts";
import { shortDate } from "../../terminal/short-date.ts";

export type ListFlags = ServiceFlags & RangeFlags & FilterFlags;

export async function listEntries(flags: ListFlags, environment: Environment): Promise<void> {
  const range = readRange(flags);
  const filter = readFilter(flags);
  const { account = null } = flags;
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    let rows: RowPrinter | null = null;
    let isMore = false;
    const id = ledgerId();
    const query = { ...filter, ...(await readAmounts(client, id, flags)) };
    const listed = listedPages(
      (part) => client.listEntries(id, { ...query, ...part }),
      query,
      range,
    );
    for await (const page of listed) {
      // All entries of a ledger have its functional currency.
      rows ??= new RowPrinter(
        output,
        await exponentsShown({ client, output }, id, currencies(page)),
        account,
      );
      rows.print(page.entries);
      await output.drained();
      isMore = page.hasMore;
    }
    const lastSequence = rows?.lastSequence ?? null;
    if (lastSequence === null) {
      if (account !== null) await requireAccount(client, id, account);
      output.note("none");
    } else if (isMore && query.order === "date") {
      output.note("there are more: --limit 0 lists everything");
    } else if (isMore) noteMore(output, lastSequence);
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

function currencies({ entries: [first] }: EntryPage): string[] {
  return first === undefined ? [] : [functionalCurrencyOf(first)];
}

/** `account`: the one whose amount is shown; null for the entry's. */
const columnsOf = (
  exponentOf: ExponentOf,
  account: string | null,
): readonly (Column<Entry> & { readonly widthMin: number })[] => [
  { title: "SEQ", align: "right", widthMin: 5, value: ({ sequence }) => String(sequence) },
  {
    title: "DATE",
    widthMin: 10,
    value: ({ transactionDate }) => shortDate(transactionDate),
    shortValue: ({ transactionDate }) => transactionDate.slice(0, 10),
  },
  {
    title: "AMOUNT",
    align: "right",
    isAmount: true,
    widthMin: 14,
    value: (entry) => amountOf(entry, exponentOf, account),
  },
  { title: "ID", widthMin: 36, value: ({ journalId }) => journalId },
  // Where there is no room, it stands in front of the description.
  { title: "STATE", widthMin: 8, leaveOut: 1, value: stateOf, shortValue: () => "" },
  {
    title: "DESCRIPTION",
    widthMin: 0,
    cutTo: 12,
    leaveOut: 2,
    value: withReversed,
    shortValue: (entry) =>
      [...(stateOf(entry) === "" ? [] : [`[${stateOf(entry)}]`]), withReversed(entry)].join(" "),
  },
];

const csvNames = [
  ...["journalId", "ledgerId", "sequence", "externalId", "originSystem", "originAccount"],
  ...["eventType", "description", "transactionDate", "entryType", "postingStatus", "metadata"],
  ...["persistedAt", "reversesJournalId", "reversedByJournalId", "lines"],
] as (keyof Entry)[];

type EntryColumn = FittedColumn<Entry, Column<Entry>>;

/** NDJSON or CSV for scripts; for people a table whose columns get wider where a later page needs it. */
class RowPrinter {
  readonly #output: Output;
  readonly #columns: ReturnType<typeof columnsOf>;
  #widths: readonly number[];
  #titles = "";
  #leftOut: readonly string[] = [];
  lastSequence: number | null = null;

  constructor(output: Output, exponentOf: ExponentOf, account: string | null) {
    this.#output = output;
    this.#columns = columnsOf(exponentOf, account);
    this.#widths = this.#columns.map(({ widthMin }) => widthMin);
  }

  print(entries: readonly Entry[]): void {
    if (entries.length === 0 && !this.#output.isCsv) return;
    this.lastSequence = entries.at(-1)?.sequence ?? this.lastSequence;
    if (this.#output.isForPrograms || this.#output.isQuiet) {
      this.#output.list(entries, this.#columns, ({ journalId }) => journalId, csvNames);
      return;
    }
    const { columns, leftOut } = this.#output.fitted(entries, this.#columns);
    const untold = leftOut.filter((title) => !this.#leftOut.includes(title));
    this.#output.noteLeftOut(untold);
    this.#leftOut = [...this.#leftOut, ...untold];
    this.#printColumns(entries, this.#widened(columns));
  }

  /** As wide as on the pages before, unless that is too wide for the terminal. */
  #widened(columns: readonly EntryColumn[]): readonly EntryColumn[] {
    if (columns.length !== this.#columns.length) return columns;
    const widths = columns.map(({ width }, index) => Math.max(width, this.#widths[index] ?? 0));
    const total = widths.reduce((sum, width) => sum + width, columnGap * (widths.length - 1));
    if (total > (this.#output.terminalWidth ?? Infinity)) return columns;
    this.#widths = widths;
    return columns.map((column, index) => ({ ...column, width: widths[index] ?? column.width }));
  }

  /** With titles, where they are not the same as those above. */
  #printColumns(entries: readonly Entry[], columns: readonly EntryColumn[]): void {
    const output = this.#output;
    const titles = columns.map(({ title }) => title).join();
    if (titles !== this.#titles) output.line(output.titleLine(columns));
    this.#titles = titles;
    for (const [index, entry] of entries.entries()) {
      output.line(output.rowLine(columns, entry, index));
    }
  }
}

/** The sum of an entry's debits, which is that of its credits; of an account, that of its lines, credits negative. */
function amountOf(entry: Entry, exponentOf: ExponentOf, account: string | null): string {
  const currency = functionalCurrencyOf(entry);
  const shown = entry.lines.filter(({ glAccountCode, functionalAmount }) =>
    account === null ? !functionalAmount.startsWith("-") : glAccountCode === account,
  );
  const sum = shown.reduce((total, { functionalAmount }) => total + BigInt(functionalAmount), 0n);
  return displayAmount(sum, currency, exponentOf(currency));
}

function functionalCurrencyOf({ lines }: Entry): string {
  return lines[0]?.functionalCurrency ?? "";
}
