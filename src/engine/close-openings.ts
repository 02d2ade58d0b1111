// What had come to the accounts before a period, for its close: what an earlier close says, and what came since. Closes
// are never changed, and what they say was summed from entries and lines; sums by day are not asked (docs/decisions/0018).
import { balancesRootOf, closeHashOf, type BalanceRow, type CloseRecord } from "../core/close.ts";
import type { Line } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import { UnreadableRow } from "../store/database/errors.ts";
import { sumAmounts } from "../store/journal-spans.ts";
import { findCloseBefore, listCloseBalances } from "../store/period-closes.ts";

export type Amounts = readonly Pick<Line, "glAccountCode" | "functionalAmount">[];

export interface Openings {
  /** In parts, to be added. */
  readonly amounts: readonly Amounts[];
  /** Whether an earlier close was left aside, because somebody has changed what is stored of it. */
  readonly leavesCloseAside: boolean;
}

/** The lines, summed by account, of all entries up to a sequence that are dated before a moment. */
export async function sumOpenings(
  connection: Connection,
  ledgerId: string,
  startsAt: Timestamp,
  upToSequence: number,
): Promise<Openings> {
  const sum = (from: Timestamp | null, endsAt: Timestamp, afterSequence: number) =>
    sumAmounts(connection, ledgerId, { startsAt: from, endsAt, afterSequence, upToSequence });
  const earlier = await readCloseBefore(connection, ledgerId, startsAt, upToSequence);
  if (earlier === null || earlier === "changed") {
    const amounts = [await sum(null, startsAt, 0)];
    return { amounts, leavesCloseAside: earlier === "changed" };
  }
  const { close, rows } = earlier;
  const closings = rows.map(({ glAccountCode, closing }) => ({
    glAccountCode,
    functionalAmount: closing,
  }));
  const since = await Promise.all([
    sum(null, close.endsAt, close.lastSequence),
    sum(close.endsAt, startsAt, 0),
  ]);
  return { amounts: [closings, ...since], leavesCloseAside: false };
}

/** The close that the opening comes from, if there is one, with its trial balance. */
async function readCloseBefore(
  connection: Connection,
  ledgerId: string,
  startsAt: Timestamp,
  upToSequence: number,
): Promise<{ close: CloseRecord; rows: readonly BalanceRow[] } | "changed" | null> {
  try {
    const close = await findCloseBefore(connection, ledgerId, startsAt, upToSequence);
    if (close === null) return null;
    const rows = await listCloseBalances(connection, close);
    return isAsClosed(close, rows) ? { close, rows } : "changed";
  } catch (error) {
    if (error instanceof UnreadableRow) return "changed";
    throw error;
  }
}

/** Whether what is stored of a close is what its hash was made of: else somebody changed it, and it says nothing. */
function isAsClosed(close: CloseRecord, rows: readonly BalanceRow[]): boolean {
  return (
    closeHashOf(close).toString("hex") === close.closeHash &&
    balancesRootOf(rows).toString("hex") === close.balancesRoot
  );
}
