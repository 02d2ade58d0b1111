// Registers: the lines of an account with its running balance, and its balance at a moment. All of an answer is read in one
// snapshot.
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import { readJournalHead } from "../store/journal-heads.ts";
import {
  listRegisterLines,
  placeBefore,
  sumLinesUpTo,
  type AccountSum,
  type RegisterPlace,
  type RegisterRow,
  type RegisterSubject,
} from "../store/registers.ts";

export interface RegisterRequest extends RegisterSubject {
  /** Inclusive; null is from the first line on. */
  readonly from: Timestamp | null;
  /** Exclusive; null is without end. */
  readonly to: Timestamp | null;
  /** Only lines after it; null is from `from` on. */
  readonly after: RegisterPlace | null;
  /** Of the journal as the first page had it; null for the first page. */
  readonly upToSequence: number | null;
  readonly limit: number;
  readonly bytesMax: number;
}

export interface RegisterPage {
  readonly upToSequence: number;
  readonly opening: bigint;
  readonly closing: bigint;
  readonly lines: readonly (RegisterRow & { readonly balance: bigint })[];
  /** Whether lines follow the page. */
  readonly hasMore: boolean;
}

/** A page of a register; null where `upToSequence` is later than the journal is. `snapshot` is one. */
export async function readRegister(
  snapshot: Connection,
  ledgerId: string,
  request: RegisterRequest,
): Promise<RegisterPage | null> {
  const { lastSequence } = await readJournalHead(snapshot, ledgerId);
  const upToSequence = request.upToSequence ?? lastSequence;
  if (upToSequence > lastSequence) return null;
  const { from, to, limit, bytesMax } = request;
  const start = from === null ? null : placeBefore(from);
  const after = request.after ?? start;
  const sumUpTo = async (place: RegisterPlace | null) => {
    const sum = await sumLinesUpTo(snapshot, ledgerId, request, place, {
      afterSequence: 0,
      upToSequence,
    });
    return sum.amount;
  };
  const [opening, closing, before, page] = await Promise.all([
    start === null ? 0n : sumUpTo(start),
    sumUpTo(to === null ? null : placeBefore(to)),
    request.after === null ? null : sumUpTo(request.after),
    listRegisterLines(
      snapshot,
      ledgerId,
      request,
      { after, to },
      { limit, bytesMax, upToSequence },
    ),
  ]);
  let balance = before ?? opening;
  const lines = page.lines.map((line) => {
    balance += line.amount;
    return { ...line, balance };
  });
  return { upToSequence, opening, closing, lines, hasMore: page.hasMore };
}

/** The balance of an account over what is dated before a moment, and in how many entries it is. `snapshot` is one. */
export async function readBalanceAsOf(
  snapshot: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  asOf: Timestamp,
): Promise<AccountSum> {
  const { lastSequence } = await readJournalHead(snapshot, ledgerId);
  return sumLinesUpTo(snapshot, ledgerId, subject, placeBefore(asOf), {
    afterSequence: 0,
    upToSequence: lastSequence,
  });
}
