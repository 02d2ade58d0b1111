// What a close hashes and sums, read piece by piece: most of it before the ledger's lock is taken, the rest under it.
import { setImmediate as immediate } from "node:timers/promises";
import { CloseTree, TrialBalance, type BalanceRow } from "../core/close.ts";
import { assert } from "../core/errors.ts";
import type { Period } from "../core/period.ts";
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import { countEntries, everyEntry } from "../store/entry-lists.ts";
import {
  divideSpan,
  readLeaves,
  sumAllMovements,
  sumAmounts,
  sumMovements,
  sumTrialBalance,
  type CountedSpan,
  type LeafSpan,
} from "../store/journal-spans.ts";
import { sumOpenings, type Openings } from "./close-openings.ts";

/** Entries that are read at once at most: for nobody else to wait long. */
const entriesPerPart = 4_096;
/** How far apart the first and the last of them may be: what lies between them is read over. */
const sequencesPerPart = 16 * entriesPerPart;
/** Hashed in one tick of the event loop: a millisecond or two, so that nobody else's write waits for longer. */
const leavesPerTick = 1_024;

/** What a close covers, as far as it has been read. */
export interface PreparedClose {
  readonly period: Period;
  readonly tree: CloseTree;
  readonly balances: TrialBalance;
  /** The sequence up to which the journal has been read. */
  upTo: number;
  /** Whether an earlier close was left aside, because somebody has changed what is stored of it. */
  leavesCloseAside: boolean;
}

/** A close of a period, of which nothing has been read. */
export function beginClose(period: Period): PreparedClose {
  return {
    period,
    tree: new CloseTree(),
    balances: new TrialBalance(),
    upTo: 0,
    leavesCloseAside: false,
  };
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
  const [openings, parts] = await Promise.all([
    readOpenings(connection, ledgerId, span),
    divide(connection, ledgerId, span),
  ]);
  for (const amounts of openings.amounts) balances.addOpening(amounts);
  prepared.leavesCloseAside ||= openings.leavesCloseAside;
  let next = readPart(connection, ledgerId, parts[0]);
  for (const index of parts.keys()) {
    const current = next;
    // PostgreSQL reads it while the one before is hashed.
    next = readPart(connection, ledgerId, parts[index + 1]);
    // Where both fail, the first is thrown.
    next.catch(() => undefined);
    const { leaves, rows } = await current;
    balances.addRows(rows);
    for (const [place, { sequence, leaf }] of leaves.entries()) {
      if (place % leavesPerTick === 0) await immediate();
      tree.append(sequence, leaf);
    }
  }
  prepared.upTo = upToSequence;
}

/** What the entries of a range that are dated before the period have brought to accounts. */
async function readOpenings(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
): Promise<Openings> {
  const { startsAt, afterSequence, upToSequence } = span;
  if (startsAt === null) return { amounts: [], leavesCloseAside: false };
  if (afterSequence === 0) return sumOpenings(connection, ledgerId, startsAt, upToSequence);
  const before = { ...span, startsAt: null, endsAt: startsAt };
  return { amounts: [await sumAmounts(connection, ledgerId, before)], leavesCloseAside: false };
}

/** The parts that a span is read in, by sequence. Counts come from entries themselves: none may be missing. */
async function divide(
  connection: Connection,
  ledgerId: string,
  span: LeafSpan,
): Promise<CountedSpan[]> {
  const parts: CountedSpan[] = [];
  for (const piece of await divideSpan(connection, ledgerId, span, entriesPerPart)) {
    const last = parts.at(-1);
    const joined = last && {
      ...piece,
      afterSequence: last.afterSequence,
      entryCount: last.entryCount + piece.entryCount,
    };
    if (joined !== undefined && isOnePart(joined)) parts[parts.length - 1] = joined;
    else parts.push(piece);
  }
  return parts;
}

function isOnePart({ afterSequence, upToSequence, entryCount }: CountedSpan): boolean {
  return entryCount <= entriesPerPart && upToSequence - afterSequence <= sequencesPerPart;
}

/** The leaves and the movements of a part; nothing for none. */
async function readPart(connection: Connection, ledgerId: string, part: CountedSpan | undefined) {
  if (part === undefined) return { leaves: [], rows: [] };
  const [leaves, rows] = await Promise.all([
    readLeaves(connection, ledgerId, part),
    sumPart(connection, ledgerId, part),
  ]);
  assert(leaves.length === part.entryCount, "a part has the leaves that were counted");
  return { leaves, rows };
}

/** In the way that takes least time for as many entries as the range has of the period. */
function sumPart(
  connection: Connection,
  ledgerId: string,
  part: CountedSpan,
): Promise<BalanceRow[]> {
  const { startsAt, afterSequence, upToSequence, entryCount } = part;
  const sequenceCount = upToSequence - afterSequence;
  if (entryCount === sequenceCount) return sumAllMovements(connection, ledgerId, part);
  if (2 * entryCount >= sequenceCount) return sumMovements(connection, ledgerId, part);
  const openingFrom = startsAt === null ? {} : { openingFrom: startsAt };
  return sumTrialBalance(connection, ledgerId, { ...part, ...openingFrom });
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
  const current = isSame ? { ...prepared, period } : beginClose(period);
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
  const between = { ...everyEntry, from: prepared.period.endsAt, to: endsAt };
  const range = { afterSequence: 0, upToSequence: prepared.upTo };
  return (await countEntries(connection, ledgerId, between, range)) === 0;
}
