// `balance-sheet` and `income-statement`: a table with a column for each step, groups of accounts with their totals.
import type { Environment } from "../../../config.ts";
import type { LedgerClient, Statement, StatementQuery } from "../../../client/ledger-client.ts";
import { requireOneOf } from "../../input/arguments.ts";
import { requireBookRange, type BookRangeFlags } from "../../input/book-range.ts";
import { exitCodes, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import type { Column, Output } from "../../terminal/output.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { csvText } from "../../terminal/csv-text.ts";
import { columnTitle, shortColumnTitle } from "./column-title.ts";

export interface StatementFlags extends ServiceFlags, BookRangeFlags {
  by?: string;
  csv?: boolean;
}

type Kind = "balance sheet" | "income statement";

type StatementColumn = Statement["columns"][number];

type Read = (client: LedgerClient, ledgerId: string, query: StatementQuery) => Promise<Statement>;

/** Resolves with 3 where the books do not balance. */
export function showBalanceSheet(
  flags: StatementFlags,
  environment: Environment,
): Promise<ExitCode> {
  return show("balance sheet", flags, environment, (client, ledgerId, query) =>
    client.getBalanceSheet(ledgerId, query),
  );
}

/** Resolves with 3 where the books do not balance. */
export function showIncomeStatement(
  flags: StatementFlags,
  environment: Environment,
): Promise<ExitCode> {
  return show("income statement", flags, environment, (client, ledgerId, query) =>
    client.getIncomeStatement(ledgerId, query),
  );
}

async function show(
  kind: Kind,
  flags: StatementFlags,
  environment: Environment,
  read: Read,
): Promise<ExitCode> {
  const { by } = flags;
  const query: StatementQuery = {
    ...requireBookRange(flags),
    ...(by === undefined ? {} : { by: requireOneOf("--by", by, ["month", "quarter", "year"]) }),
  };
  return withService(
    flags,
    environment,
    async ({ client, ledgerId, output }) => {
      const id = ledgerId();
      const statement = await read(client, id, query);
      if (output.isCsv) output.verbatim(csvOf(kind, statement));
      else {
        const { functionalCurrency } = await client.getLedger(id);
        const exponentOf = await exponentsShown({ client, output }, id, [functionalCurrency]);
        const amount = (text: string) =>
          displayAmount(text, functionalCurrency, exponentOf(functionalCurrency));
        const isToNow = [flags.to, flags.period, flags.asOf].every((end) => end === undefined);
        const shortTitleOf = ({ from, to }: StatementColumn) =>
          shortColumnTitle(kind === "balance sheet" ? null : from, to, {
            step: query.by ?? null,
            isToDate: isToNow && to === statement.columns.at(-1)?.to,
          });
        output.result(statement, () => tableOf(output, kind, statement, amount, shortTitleOf));
      }
      return judge(output, statement);
    },
    { timeoutMs: sumTimeoutMs },
  );
}

/** What accounts without a type hold is missing on one side: nothing is wrong with the books then. */
function judge(output: Output, { balances, groups }: Statement): ExitCode {
  if (balances) return exitCodes.done;
  const untyped = groups.find(({ type }) => type === "untyped")?.accounts ?? [];
  if (untyped.length === 0) {
    output.warn(
      output.styled(
        "THE BOOKS DO NOT BALANCE: assets, liabilities, equity and the result must come to zero",
        "bad",
      ),
    );
    return exitCodes.verificationFailed;
  }
  const codes = untyped.map(({ glAccountCode }) => glAccountCode).join(", ");
  output.note(
    `ATTENTION: accounts without a type are apart, and without them it does not balance: ${codes}`,
  );
  return exitCodes.done;
}

interface Row {
  readonly code: string;
  readonly name: string;
  /** One for each column of the statement; null in the row that names a group. */
  readonly amounts: readonly string[] | null;
}

const titles: Readonly<Record<Statement["groups"][number]["type"], string>> = {
  asset: "ASSETS",
  liability: "LIABILITIES",
  equity: "EQUITY",
  income: "INCOME",
  expense: "EXPENSES",
  untyped: "WITHOUT A TYPE",
};

function rowsOf({ groups, result }: Statement): Row[] {
  const rows = groups
    .filter(({ accounts }) => accounts.length > 0)
    .flatMap(({ type, accounts, totals }): Row[] => [
      { code: titles[type], name: "", amounts: null },
      ...accounts.map(({ glAccountCode, name, amounts }) => ({
        code: `  ${glAccountCode}`,
        name,
        amounts,
      })),
      { code: "  total", name: "", amounts: totals },
    ]);
  return [...rows, { code: "RESULT", name: "", amounts: result }];
}

function tableOf(
  output: Output,
  kind: Kind,
  statement: Statement,
  amount: (text: string) => string,
  shortTitleOf: (column: StatementColumn) => string,
): string {
  const columns: Column<Row>[] = [
    { title: "ACCOUNT", cutTo: 12, isCutInMiddle: true, value: ({ code }) => code, style },
    { title: "NAME", cutTo: 12, leaveOut: 1, value: ({ name }) => name },
    ...statement.columns.map((column, index): Column<Row> => ({
      title: titleOf(kind, column),
      shortTitle: shortTitleOf(column),
      align: "right",
      isAmount: true,
      // The latest are left out last, and the last never.
      ...(index === statement.columns.length - 1 ? {} : { leaveOut: index + 2 }),
      value: ({ amounts }) => (amounts === null ? "" : amount(amounts[index] ?? "0")),
    })),
  ];
  return output.table(rowsOf(statement), columns);
}

/** What stands above a group of accounts, and what comes out of all of them. */
const style = ({ code }: Row) => (code.startsWith(" ") ? null : "heading");

/** A balance sheet is of an end, an income statement of a time. */
function titleOf(kind: Kind, { from, to }: StatementColumn): string {
  return columnTitle(kind === "balance sheet" ? null : from, to);
}

/** A row for each account, total and result; amounts in smallest units, a column each. */
function csvOf(kind: Kind, { columns, groups, result }: Statement): string {
  const header = [
    "type",
    "glAccountCode",
    "name",
    ...columns.map((column) => titleOf(kind, column)),
  ];
  const rows = groups.flatMap(({ type, accounts }) =>
    accounts.map(({ glAccountCode, name, amounts }) => [type, glAccountCode, name, ...amounts]),
  );
  return csvText(header, [...rows, ["result", "", "", ...result]]);
}
