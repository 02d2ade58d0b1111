// What had come to the accounts before a period, for its close: what an earlier close says, and what came since. Closes
// are never changed, and what they say was summed from entries and lines; sums by day are not asked (docs/decisions/0018).
import { balancesRootOf, closeHashOf, type BalanceRow, type CloseRecord } from "../core/close.ts";
import type { Line } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import { sumAmounts } from "../store/journal-spans.ts";
import { findCloseBefore, listCloseBalances } from "../store/period-closes.ts";

export type Amounts = readonly Pick<Line, "glAccountCode" | "functionalAmount">[];

/** The lines, summed by account, of all entries up to a sequence that are dated before a moment. In parts, to be added. */
export async function sumOpenings(
  connection: Connection,
  ledgerId: string,
  startsAt: Timestamp,
  upToSequence: number,
): Promise<readonly Amounts[]> {
  const sum = (from: Timestamp | null, endsAt: Timestamp, afterSequence: number) =>
    sumAmounts(connection, ledgerId, { startsAt: from, endsAt, afterSequence, upToSequence });
  const close = await findCloseBefore(connection, ledgerId, startsAt, upToSequence);
  const rows = close === null ? [] : await listCloseBalances(connection, close);
  if (close === null || !isAsClosed(close, rows)) return [await sum(null, startsAt, 0)];
  const closings = rows.map(({ glAccountCode, closing }) => ({
    glAccountCode,
    functionalAmount: closing,
  }));
  return [
    closings,
    ...(await Promise.all([
      sum(null, close.endsAt, close.lastSequence),
      sum(close.endsAt, startsAt, 0),
    ])),
  ];
}

/** Whether what is stored of a close is what its hash was made of: else somebody changed it, and it says nothing. */
function isAsClosed(close: CloseRecord, rows: readonly BalanceRow[]): boolean {
  return (
    closeHashOf(close).toString("hex") === close.closeHash &&
    balancesRootOf(rows).toString("hex") === close.balancesRoot
  );
}
