// `register`: the lines of an account with its running balance, from the balance before them to that at the end.
import type { Environment } from "../../../config.ts";
import type {
  LedgerClient,
  Register,
  RegisterLine,
  RegisterQuery,
} from "../../../client/ledger-client.ts";
import { suggestingAccounts } from "../../input/account-suggestion.ts";
import { requireBookRange, type BookRangeFlags } from "../../input/book-range.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { toJson, type Column, type Output } from "../../terminal/output.ts";
import { pageLimit, readRange } from "../../connection/pages.ts";
import { exponentsShown, type ExponentOf } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { stateOf, withReversed } from "../entry/entry-state.ts";
import { noteNoLines } from "../../input/no-lines-note.ts";

export interface RegisterFlags extends ServiceFlags, Omit<BookRangeFlags, "asOf"> {
  currency?: string;
  limit?: string;
  csv?: boolean;
}

export async function showRegister(
  account: string,
  flags: RegisterFlags,
  environment: Environment,
): Promise<void> {
  const { currency } = flags;
  const { limit } = readRange(flags);
  const range = requireBookRange(flags);
  const query = { ...range, ...(currency === undefined ? {} : { currency }) };
  await withService(
    flags,
    environment,
    async ({ client, ledgerId, output }) => {
      const id = ledgerId();
      const pages = registerPages(client, id, account, query, limit);
      const first = await suggestingAccounts({ client, ledgerId: id, codes: [account] }, () =>
        pages.next(),
      );
      if (first.done === true) return;
      const rest = joined(first.value, pages);
      if (output.isForPrograms) await printForPrograms(output, first.value, rest);
      else {
        const shown = currency ?? (await client.getLedger(id)).functionalCurrency;
        await printTable({ client, output, ledgerId: id }, first.value, rest, shown);
        if (currency !== undefined && first.value.lines.length === 0) {
          const part = Object.keys(range).length === 0 ? null : "in this range";
          noteNoLines(output, account, currency, part);
        }
      }
    },
    { timeoutMs: sumTimeoutMs },
  );
}

/** The pages of a register, of one state of the journal: at most so many lines. */
async function* registerPages(
  client: LedgerClient,
  ledgerId: string,
  account: string,
  query: RegisterQuery,
  limit: number,
): AsyncGenerator<Register> {
  let cursor: string | null = null;
  for (let left = limit; left > 0;) {
    const page: Register = await client.getRegister(ledgerId, account, {
      ...query,
      limit: Math.min(left, pageLimit),
      ...(cursor === null ? {} : { cursor }),
    });
    yield page;
    left -= page.lines.length;
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
}

async function* joined(first: Register, more: AsyncIterable<Register>): AsyncGenerator<Register> {
  yield first;
  yield* more;
}

const csvNames = [
  ...(["journalId", "sequence", "transactionDate", "entryType", "description", "amount"] as const),
  ...(["balance", "currency", "transactionAmount", "transactionCurrency"] as const),
  ...(["counterAccounts", "externalId", "reversesJournalId", "reversedByJournalId"] as const),
];

/** Line by line; with `--json` between the balance before the range and that at its end. */
async function printForPrograms(
  output: Output,
  { opening, closing }: Register,
  pages: AsyncIterable<Register>,
): Promise<void> {
  if (output.isJson) output.line(toJson({ opening }));
  for await (const { lines } of pages) {
    output.list(lines, [], null, csvNames);
    await output.drained();
  }
  if (output.isJson) output.line(toJson({ closing }));
}

interface RegisterContext {
  readonly client: LedgerClient;
  readonly output: Output;
  readonly ledgerId: string;
}

/** A row of the table: a line, or the balance before or at the end of the range. */
type Row = RegisterLine | { readonly title: string; readonly balance: string };

async function printTable(
  context: RegisterContext,
  { account, opening, closing }: Register,
  pages: AsyncIterable<Register>,
  currency: string,
): Promise<void> {
  const { output, ledgerId } = context;
  const lines: RegisterLine[] = [];
  let isMore = false;
  for await (const page of pages) {
    lines.push(...page.lines);
    isMore = page.nextCursor !== null;
  }
  if (output.isQuiet) {
    for (const { journalId } of lines) output.line(journalId);
    return;
  }
  const codes = new Set([currency, ...lines.map((line) => line.transactionCurrency)]);
  const exponentOf = await exponentsShown(context, ledgerId, [...codes]);
  const rows: Row[] = [
    { title: "opening", balance: opening },
    ...lines,
    ...(isMore ? [] : [{ title: "closing", balance: closing }]),
  ];
  const { glAccountCode, name, type } = account;
  const title = `${glAccountCode}  ${name}${type === null ? "" : `, ${type}`}`;
  output.line(`${output.styled(title, "heading")}\n`);
  output.line(output.table(rows, columnsOf(currency, lines, exponentOf)));
  if (isMore) {
    output.note(
      `there are more: --limit 0 lists everything, up to ${displayAmount(closing, currency, exponentOf(currency))}`,
    );
  }
}

function columnsOf(
  currency: string,
  lines: readonly RegisterLine[],
  exponentOf: ExponentOf,
): Column<Row>[] {
  const of = (value: (line: RegisterLine) => string) => (row: Row) =>
    "title" in row ? "" : value(row);
  const amount = (text: string, code: string) => displayAmount(text, code, exponentOf(code));
  const foreign = of(({ transactionAmount, transactionCurrency }) =>
    transactionCurrency === currency ? "" : amount(transactionAmount, transactionCurrency),
  );
  const columns: Column<Row>[] = [
    {
      title: "DATE",
      value: of(({ transactionDate }) => transactionDate.slice(0, 10)),
      // The description may have to go.
      shortValue: (row) => ("title" in row ? row.title : row.transactionDate.slice(0, 10)),
    },
    {
      title: "SEQ",
      align: "right",
      leaveOut: 3,
      value: of(({ sequence }) => String(sequence)),
    },
    {
      title: "DESCRIPTION",
      cutTo: 12,
      value: (row) => ("title" in row ? row.title : describe(row)),
      shortValue: of(describe),
    },
    {
      title: "AGAINST",
      cutTo: 8,
      leaveOut: 4,
      value: of(({ counterAccounts }) => counterAccounts.join(", ")),
    },
    { title: "TRANSACTION", align: "right", isAmount: true, leaveOut: 2, value: foreign },
    {
      title: "AMOUNT",
      align: "right",
      isAmount: true,
      value: of((line) => amount(line.amount, currency)),
    },
    {
      title: "BALANCE",
      align: "right",
      isAmount: true,
      value: ({ balance }) => amount(balance, currency),
    },
    { title: "ID", leaveOut: 1, value: of(({ journalId }) => journalId) },
  ];
  return columns.filter(
    ({ title }) => title !== "TRANSACTION" || lines.some((line) => foreign(line) !== ""),
  );
}

function describe(line: RegisterLine): string {
  const state = stateOf(line);
  const description = withReversed(line);
  return state === "" ? description : `[${state}] ${description}`.trimEnd();
}
