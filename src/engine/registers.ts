// Registers: the lines of an account with its running balance, and its balance at a moment. All of an answer is read in one
// snapshot: sums by day, the days that are in registers, and the lines since.
import type { Timestamp } from "../core/time.ts";
import type { Connection } from "../store/database/connection.ts";
import { readSummedSequence } from "../store/day-sums.ts";
import { readJournalHead } from "../store/journal-heads.ts";
import type { SequenceRange } from "../store/journal-spans.ts";
import { findRegisteredSequence } from "../store/register-days.ts";
import {
  countRegisteredEntries,
  listRegisterLines,
  placeBefore,
  sumDaysBefore,
  sumLinesBefore,
  sumLinesOfDay,
  type AccountSum,
  type RegisterPlace,
  type RegisterReach,
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
  const { from, to, limit, bytesMax } = request;
  const reader = await AccountReader.read(snapshot, ledgerId, request, request.upToSequence);
  if (reader === null) return null;
  const start = from === null ? null : placeBefore(from);
  const after = request.after ?? start;
  const [opening, closing, before, page] = await Promise.all([
    start === null ? 0n : reader.sumUpTo(start),
    to === null ? reader.sumAll() : reader.sumUpTo(placeBefore(to)),
    request.after === null ? null : reader.sumUpTo(request.after),
    listRegisterLines(
      snapshot,
      ledgerId,
      request,
      reader.reach,
      { after, to },
      { limit, bytesMax },
    ),
  ]);
  let balance = before ?? opening;
  const lines = page.lines.map((line) => {
    balance += line.amount;
    return { ...line, balance };
  });
  const { upToSequence } = reader.reach;
  return { upToSequence, opening, closing, lines, hasMore: page.hasMore };
}

/** The balance of an account over what is dated before a moment, and in how many entries it is. `snapshot` is one. */
export async function readBalanceAsOf(
  snapshot: Connection,
  ledgerId: string,
  subject: RegisterSubject,
  asOf: Timestamp,
): Promise<AccountSum> {
  const reader = await AccountReader.read(snapshot, ledgerId, subject, null);
  if (reader === null) throw new Error("the journal goes as far as it does");
  const place = placeBefore(asOf);
  const [amount, entryCount] = await Promise.all([
    reader.sumUpTo(place),
    reader.countEntriesBefore(place),
  ]);
  return { amount, entryCount };
}

/** Reads an account up to a sequence of the journal, which the sums by day may not have reached, or have passed. */
class AccountReader {
  readonly #snapshot: Connection;
  readonly #ledgerId: string;
  readonly #subject: RegisterSubject;
  readonly #summedSequence: number;
  readonly reach: RegisterReach;

  private constructor(
    snapshot: Connection,
    ledgerId: string,
    subject: RegisterSubject,
    { summedSequence, ...reach }: RegisterReach & { readonly summedSequence: number },
  ) {
    this.#snapshot = snapshot;
    this.#ledgerId = ledgerId;
    this.#subject = subject;
    this.#summedSequence = summedSequence;
    this.reach = reach;
  }

  /** `upToSequence`: null is all of the journal. null where the journal does not go so far. */
  static async read(
    snapshot: Connection,
    ledgerId: string,
    subject: RegisterSubject,
    upToSequence: number | null,
  ): Promise<AccountReader | null> {
    const [{ lastSequence }, summedSequence] = await Promise.all([
      readJournalHead(snapshot, ledgerId),
      readSummedSequence(snapshot, ledgerId),
    ]);
    const upTo = upToSequence ?? lastSequence;
    if (upTo > lastSequence) return null;
    return new AccountReader(snapshot, ledgerId, subject, {
      // Sums that go further than the journal are somebody's mistake.
      summedSequence: summedSequence <= lastSequence ? summedSequence : 0,
      registeredSequence: await findRegisteredSequence(snapshot, ledgerId, upTo),
      upToSequence: upTo,
    });
  }

  /** The balance after all lines up to a place. */
  async sumUpTo(place: RegisterPlace): Promise<bigint> {
    const [before, within] = await Promise.all([
      this.#sumBefore(startOfDay(place)),
      this.#sumWithinDay(place),
    ]);
    return before + within.amount;
  }

  /** The balance after all lines. */
  sumAll(): Promise<bigint> {
    return this.#sumBefore(null);
  }

  /** In how many entries dated before a place the account has lines, in the currency that was asked for. */
  async countEntriesBefore(place: RegisterPlace): Promise<number> {
    const midnight = startOfDay(place);
    const day = midnight.slice(0, 10);
    const { registeredSequence, upToSequence } = this.reach;
    const hasCurrency = this.#subject.currency !== null;
    const counted = hasCurrency ? registeredSequence : this.#summedSequence;
    const [days, since, within] = await Promise.all([
      hasCurrency
        ? countRegisteredEntries(this.#snapshot, this.#ledgerId, this.#subject, day, this.reach)
        : this.#sumDays(day).then(({ entryCount }) => entryCount),
      this.#sumLines(midnight, { afterSequence: counted, upToSequence }),
      this.#sumWithinDay(place),
    ]);
    return days + since.entryCount + within.entryCount;
  }

  /** What is dated before a midnight: as summed, with the entries since, or without those that came later. */
  async #sumBefore(midnight: Timestamp | null): Promise<bigint> {
    const { upToSequence } = this.reach;
    const isAhead = this.#summedSequence > upToSequence;
    const range = isAhead
      ? { afterSequence: upToSequence, upToSequence: this.#summedSequence }
      : { afterSequence: this.#summedSequence, upToSequence };
    const [days, lines] = await Promise.all([
      this.#sumDays(midnight?.slice(0, 10) ?? "infinity"),
      this.#sumLines(midnight, range),
    ]);
    return days.amount + (isAhead ? -lines.amount : lines.amount);
  }

  async #sumDays(day: string): Promise<AccountSum> {
    if (this.#summedSequence === 0) return nothing;
    return sumDaysBefore(this.#snapshot, this.#ledgerId, this.#subject, day);
  }

  async #sumLines(before: Timestamp | null, range: SequenceRange): Promise<AccountSum> {
    if (range.afterSequence >= range.upToSequence) return nothing;
    return sumLinesBefore(this.#snapshot, this.#ledgerId, this.#subject, before, range);
  }

  async #sumWithinDay(place: RegisterPlace): Promise<AccountSum> {
    if (place.sequence === 0 && place.transactionDate === startOfDay(place)) return nothing;
    return sumLinesOfDay(this.#snapshot, this.#ledgerId, this.#subject, place, this.reach);
  }
}

const nothing: AccountSum = { amount: 0n, entryCount: 0 };

function startOfDay({ transactionDate }: RegisterPlace): Timestamp {
  return `${transactionDate.slice(0, 10)}T00:00:00.000Z` as Timestamp;
}
