// Adds entries to the sums by day and to the registers of accounts: in the background, span by span, one server at a time for a ledger;
// and makes sums by month of those by day.
import { readJournalHead } from "../store/journal-heads.ts";
import {
  addSpan,
  insertSummedJournal,
  listUnsummedLedgers,
  tryLockSums,
} from "../store/day-sums.ts";
import {
  listLedgersWithNewDays,
  listMonths,
  updateMonthSequence,
  upsertMonths,
} from "../store/month-sums.ts";
import { addRegisterSpan } from "../store/register-days.ts";
import type { Pool } from "../store/database/pool.ts";
import { daysOf } from "../store/whole-days.ts";
import { forEachLedger } from "./each-ledger.ts";
import { repeat } from "./repeat.ts";

/**
 * Entries of a span. Up to so many are left for those who read sums to add, and a page of a list reads a few spans
 * at most. In books without any order of dates a span has a row for most days, so that shorter ones would be many.
 */
export const entriesPerSpan = 8_192;

export interface DaySumsOptions {
  readonly intervalMs: number;
  /** `entriesPerSpan` unless given. */
  readonly spanEntries?: number;
  /**
   * How long months stay as they were summed; unless given, a minute. In books without any order of dates a span changes
   * every month, and to sum them all anew after each would take longer than the span.
   */
  readonly monthsIntervalMs?: number;
  /** Whether COMMITs wait for a standby without end, so that none may be added; unless given, never. */
  readonly areCommitsHalted?: () => boolean;
  readonly onFailure: (error: unknown) => void;
  /** A round in which nothing failed. */
  readonly onSuccess?: () => void;
}

export class DaySums {
  readonly #pool: Pool;
  readonly #options: DaySumsOptions;
  readonly #spanEntries: number;
  readonly #monthsIntervalMs: number;
  #end: () => Promise<void> = async () => undefined;
  #isStopped = false;
  #monthsDueMs = 0;

  /** `pool` must let a statement take seconds. */
  constructor(pool: Pool, options: DaySumsOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#spanEntries = options.spanEntries ?? entriesPerSpan;
    this.#monthsIntervalMs = options.monthsIntervalMs ?? 60_000;
  }

  /** Begins to look every interval for entries to sum. */
  start(): void {
    if (!this.#isStopped) this.#end = repeat(this.#options.intervalMs, () => this.sumAll());
  }

  /** Waits for the span under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
  }

  /**
   * Sums whole spans in all ledgers, a span of each in turn, and then their months, unless that was a short while ago.
   * Failures are reported and tried again the next time.
   */
  async sumAll(): Promise<void> {
    if (this.#options.areCommitsHalted?.() === true) return;
    const failures: unknown[] = [];
    try {
      let ledgerIds = await listUnsummedLedgers(this.#pool, this.#spanEntries);
      while (ledgerIds.length > 0) {
        ledgerIds = await this.#sumEach(ledgerIds, failures, (id) => this.#sumSpan(id));
      }
      if (!this.#isStopped && performance.now() >= this.#monthsDueMs) {
        this.#monthsDueMs = performance.now() + this.#monthsIntervalMs;
        const changed = await listLedgersWithNewDays(this.#pool);
        await this.#sumEach(changed, failures, (id) => this.#sumMonths(id));
      }
    } catch (error) {
      failures.push(error);
    }
    if (this.#isStopped) return;
    for (const failure of failures) this.#options.onFailure(failure);
    if (failures.length === 0) this.#options.onSuccess?.();
  }

  /** The ledgers in which `sum` did something; none once this is stopped. */
  async #sumEach(
    ledgerIds: readonly string[],
    failures: unknown[],
    sum: (ledgerId: string) => Promise<boolean>,
  ): Promise<string[]> {
    const summed: string[] = [];
    await forEachLedger(
      ledgerIds,
      async (ledgerId) => {
        if (!this.#isStopped && (await sum(ledgerId))) summed.push(ledgerId);
      },
      (error) => failures.push(error),
    );
    return this.#isStopped ? [] : summed;
  }

  /** Adds a ledger's next span, unless another server does or it is not whole yet; true where it did. */
  async #sumSpan(ledgerId: string): Promise<boolean> {
    // By itself: nobody waits for the row of somebody else's transaction.
    await insertSummedJournal(this.#pool, ledgerId);
    return this.#pool.transaction(async (transaction) => {
      const locked = await tryLockSums(transaction, ledgerId);
      if (locked === null) return false;
      const { lastSequence } = await readJournalHead(transaction, ledgerId);
      // Both go by the same spans, unless a server of an older version has added to the sums alone.
      const added = [
        { add: addSpan, afterSequence: locked.lastSequence },
        { add: addRegisterSpan, afterSequence: locked.registeredSequence },
      ].flatMap(({ add, afterSequence }) => {
        const upToSequence = afterSequence + this.#spanEntries;
        if (lastSequence < upToSequence) return [];
        return [add(transaction, ledgerId, { afterSequence, upToSequence })];
      });
      await Promise.all(added);
      return added.length > 0;
    });
  }

  /** Sums a ledger's months anew, from the first to the last that has got entries, unless another server adds to its sums. */
  #sumMonths(ledgerId: string): Promise<boolean> {
    return this.#pool.transaction(async (transaction) => {
      if ((await tryLockSums(transaction, ledgerId)) === null) return false;
      const changed = (await listMonths(transaction, ledgerId)).filter(({ isSummed }) => !isSummed);
      const [first] = changed;
      const last = changed.at(-1);
      await Promise.all([
        first === undefined || last === undefined
          ? undefined
          : upsertMonths(transaction, ledgerId, daysOf(first, last)),
        updateMonthSequence(transaction, ledgerId),
      ]);
      return true;
    });
  }
}
