// The books as people read them: registers of accounts, balance sheets and income statements.
import type { StatementKind } from "../../core/statement.ts";
import type { Timestamp } from "../../core/time.ts";
import type { RegisterLine } from "../../contract/types.ts";
import { readRegister, type RegisterPage } from "../../engine/registers.ts";
import { readStatement } from "../../engine/statements.ts";
import type { Connection } from "../../store/database/connection.ts";
import { requireAccount, resolvePeriod } from "./named-records.ts";
import { cursorRefusal, readCursor, writeCursor } from "./register-cursor.ts";
import {
  pageBytesMax,
  searchInSnapshot,
  type RouteHandler,
  type RouteRequest,
} from "./route-handler.ts";

export const getRegister: RouteHandler<"getRegister"> = async (services, request) => {
  const { ledger, glAccountCode, query } = request;
  const { ledgerId, functionalCurrency } = ledger;
  const { currency, limit } = query;
  const question = [ledgerId, glAccountCode, query.from, query.to, query.periodId, currency];
  const cursor = query.cursor === null ? null : readCursor(query.cursor, question);
  return searchInSnapshot(services, request, async (snapshot) => {
    const account = await requireAccount(snapshot, ledger, glAccountCode);
    const { from, to } = cursor ?? (await rangeOf(snapshot, ledgerId, query));
    const page = await readRegister(snapshot, ledgerId, {
      ...{ glAccountCode, currency, from, to, limit, bytesMax: pageBytesMax },
      after: cursor?.after ?? null,
      upToSequence: cursor?.upToSequence ?? null,
    });
    if (page === null) throw cursorRefusal();
    const last = page.hasMore ? page.lines.at(-1) : undefined;
    return {
      account,
      opening: page.opening.toString(),
      lines: page.lines.map((line) => wireLine(line, currency ?? functionalCurrency)),
      closing: page.closing.toString(),
      nextCursor:
        last === undefined
          ? null
          : writeCursor({ from, to, upToSequence: page.upToSequence, after: last }, question),
    };
  });
};

export const getBalanceSheet: RouteHandler<"getBalanceSheet"> = (services, request) =>
  readSnapshot(services, request, "balance-sheet");

export const getIncomeStatement: RouteHandler<"getIncomeStatement"> = (services, request) =>
  readSnapshot(services, request, "income-statement");

async function readSnapshot(
  services: Parameters<typeof getBalanceSheet>[0],
  request: RouteRequest<"getBalanceSheet">,
  kind: StatementKind,
): ReturnType<typeof getBalanceSheet> {
  const { ledger, query } = request;
  const { by } = query;
  return searchInSnapshot(services, request, async (snapshot) => {
    const { from, to } = await rangeOf(snapshot, ledger.ledgerId, query);
    const statement = await readStatement(snapshot, ledger.ledgerId, { kind, from, to, by });
    const { columns, groups, result, balances } = statement;
    return {
      columns: [...columns],
      groups: groups.map(({ type, accounts, totals }) => ({
        type,
        accounts: accounts.map((account) => ({ ...account, amounts: texts(account.amounts) })),
        totals: texts(totals),
      })),
      result: texts(result),
      balances,
    };
  });
}

interface AskedRange {
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  readonly asOf?: Timestamp | null;
  readonly periodId: string | null;
}

/** The interval that a query names, by its bounds, by its end alone or by the label of a period. */
async function rangeOf(
  connection: Connection,
  ledgerId: string,
  { from, to, asOf = null, periodId }: AskedRange,
): Promise<{ from: Timestamp | null; to: Timestamp | null }> {
  if (periodId === null) return { from, to: to ?? asOf };
  const { startsAt, endsAt } = await resolvePeriod(connection, ledgerId, periodId);
  return { from: startsAt, to: endsAt };
}

function wireLine(line: RegisterPage["lines"][number], currency: string): RegisterLine {
  const { journalId, sequence, transactionDate, entryType, description } = line;
  const { transactionCurrency, counterAccounts, externalId } = line;
  const { reversesJournalId, reversedByJournalId } = line;
  return {
    ...{ journalId, sequence, transactionDate, entryType, description },
    amount: line.amount.toString(),
    balance: line.balance.toString(),
    currency,
    transactionAmount: line.transactionAmount.toString(),
    ...{ transactionCurrency, counterAccounts, externalId, reversesJournalId, reversedByJournalId },
  };
}

function texts(amounts: readonly bigint[]): string[] {
  return amounts.map(String);
}
