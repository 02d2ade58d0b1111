// Balance sheets and income statements of the live books.
import {
  columnsMax,
  columnsOf,
  makeStatement,
  stepStart,
  type Statement,
  type StatementColumn,
  type StatementKind,
  type StatementStep,
} from "../core/statement.ts";
import { validationRefusal } from "../core/errors.ts";
import type { Timestamp } from "../core/time.ts";
import { listAccounts } from "../store/accounts.ts";
import type { Connection } from "../store/database/connection.ts";
import { readClock } from "../store/journal-heads.ts";
import { findFirstDate } from "../store/statement-sums.ts";
import { momentAfter } from "./closes.ts";
import { SummedJournal } from "./summed-journal.ts";

export interface StatementRequest {
  readonly kind: StatementKind;
  /** Inclusive; null is from the first entry on. */
  readonly from: Timestamp | null;
  /** Exclusive; null is up to now, all that was persisted by now included. */
  readonly to: Timestamp | null;
  /** null is one column. */
  readonly by: StatementStep | null;
}

export interface StatementReading extends Statement {
  readonly columns: readonly StatementColumn[];
}

/** Throws `validation` where the interval is empty or has too many columns. `snapshot` is one. */
export async function readStatement(
  snapshot: Connection,
  ledgerId: string,
  request: StatementRequest,
): Promise<StatementReading> {
  const [journal, now, firstDate, chart] = await Promise.all([
    SummedJournal.read(snapshot, ledgerId),
    readClock(snapshot),
    findFirstDate(snapshot, ledgerId),
    listAccounts(snapshot, ledgerId, false),
  ]);
  const { kind, from, by } = request;
  const to = request.to ?? momentAfter(now, journal.lastPersistedAt);
  if (from !== null && from >= to) {
    throw validationRefusal([
      { parameter: "from", detail: "must be in the past, unless to is given" },
    ]);
  }
  const columns =
    by === null ? [{ from, to }] : columnsBetween(startOf(from, firstDate, by), to, by);
  const sums = await journal.sumColumns(columns, to);
  return { columns, ...makeStatement(kind, chart, columns.length, sums) };
}

/** Where columns begin: without a bound, with the month, quarter or year of the first entry. */
function startOf(
  from: Timestamp | null,
  firstDate: Timestamp | null,
  by: StatementStep,
): Timestamp | null {
  return from ?? (firstDate === null ? null : stepStart(firstDate, by));
}

/** `from`: the moment whose column is the first; null where there is no entry. */
function columnsBetween(
  from: Timestamp | null,
  to: Timestamp,
  by: StatementStep,
): readonly StatementColumn[] {
  // Of books that begin later there is one column, with nothing in it.
  if (from === null || from >= to) return [{ from: null, to }];
  const columns = columnsOf(from, to, by);
  if (columns !== null) return columns;
  const detail = `would make more than ${columnsMax} columns; take a longer step, or fewer years by from and to`;
  throw validationRefusal([{ parameter: "by", detail }]);
}
