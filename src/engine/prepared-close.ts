// What a close hashes and sums, read piece by piece: most of it before the ledger's lock is taken, the rest under it.
import { setImmediate as nextTick } from "node:timers/promises";
import { CloseTree, TrialBalance } from "../core/close.ts";
import type { Period } from "../core/period.ts";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import { measureSpan, readLeaves, sumTrialBalance } from "../store/journal-spans.ts";

const leavesPerRead = 4_096;
/** Hashed in one tick of the event loop: a millisecond or two, so that nobody else's write waits for longer. */
const leavesPerTick = 1_024;

/** What a close covers, as far as it has been read. */
export interface PreparedClose {
  readonly period: Period;
  readonly tree: CloseTree;
  readonly balances: TrialBalance;
  /** The sequence up to which the journal has been read. */
  upTo: number;
}

/** Reads on from where a prepared close stands. */
export async function extend(
  connection: Connection,
  ledgerId: string,
  prepared: PreparedClose,
  upToSequence: number,
): Promise<void> {
  const { period, tree, balances, upTo } = prepared;
  if (upToSequence === upTo) return;
  const span = { ...period, afterSequence: upTo, upToSequence };
  const [{ firstSequence, lastSequence }, rows] = await Promise.all([
    measureSpan(connection, ledgerId, span),
    sumTrialBalance(connection, ledgerId, span),
  ]);
  balances.addRows(rows);
  // Narrowed to where the period's entries are: sequences are walked in order.
  for (let afterSequence = firstSequence - 1; afterSequence < lastSequence;) {
    const part = { ...period, afterSequence, upToSequence: lastSequence };
    const leaves = await readLeaves(connection, ledgerId, part, leavesPerRead);
    for (const [index, { sequence, leaf }] of leaves.entries()) {
      if (index % leavesPerTick === 0) await nextTick();
      tree.append(sequence, leaf);
    }
    afterSequence = leaves.at(-1)?.sequence ?? lastSequence;
  }
  prepared.upTo = upToSequence;
}

/** What was prepared, with all that came since; made anew where the bounds turned out to be others. */
export async function bringUpTo(
  transaction: Connection,
  ledgerId: string,
  prepared: PreparedClose | null,
  period: Period,
  upToSequence: number,
): Promise<PreparedClose> {
  const isSame =
    prepared !== null &&
    prepared.period.startsAt === period.startsAt &&
    (prepared.period.endsAt === period.endsAt ||
      (await isEmptyBetween(transaction, ledgerId, prepared, period.endsAt)));
  const current = isSame
    ? { ...prepared, period }
    : { period, tree: new CloseTree(), balances: new TrialBalance(), upTo: 0 };
  await extend(transaction, ledgerId, current, upToSequence);
  return current;
}

/** Whether no entry that was read is dated between the end that was prepared for and a later one. */
async function isEmptyBetween(
  connection: Connection,
  ledgerId: string,
  prepared: PreparedClose,
  endsAt: Timestamp,
): Promise<boolean> {
  if (endsAt < prepared.period.endsAt) return false;
  const { count } = await measureSpan(connection, ledgerId, {
    startsAt: prepared.period.endsAt,
    endsAt,
    afterSequence: 0,
    upToSequence: prepared.upTo,
  });
  return count === 0;
}
