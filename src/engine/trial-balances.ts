// Trial balances of the live books. What a close stored is only compared with, never shown instead.
import {
  movedBalances,
  type BalanceRow,
  type CloseRecord,
  type MovedBalance,
} from "../core/close.ts";
import { unknownCurrencies } from "../core/currencies.ts";
import type { Period } from "../core/period.ts";
import { listCurrencies } from "../store/account-balances.ts";
import { readClock } from "../store/journal-heads.ts";
import { listCloseBalances } from "../store/period-closes.ts";
import type { Connection } from "../store/database/connection.ts";
import type { ReadPool } from "../store/database/pool.ts";
import { momentAfter } from "./closes.ts";
import { SummedJournal } from "./summed-journal.ts";

export interface TrialBalanceReading {
  readonly period: Period;
  /** The sequence up to which entries are in it. */
  readonly lastSequence: number;
  readonly rows: readonly BalanceRow[];
  /** Against the close of the period; empty where it has none. */
  readonly moved: readonly MovedBalance[];
  /** Codes of three letters in the ledger's entries that are no ISO 4217 currency. */
  readonly unknownCurrencies: readonly string[];
}

/**
 * Sums the books over a period (null: from the beginning up to now, all that was persisted by now included)
 * and compares with its close. `longReads` must let a statement take minutes; `signal` aborts when nobody waits for it
 * any more.
 */
export async function readTrialBalance(
  longReads: ReadPool,
  ledgerId: string,
  asked: (Period & { readonly close: CloseRecord | null }) | null,
  signal: AbortSignal | null = null,
): Promise<TrialBalanceReading> {
  const close = asked?.close ?? null;
  const read = async (snapshot: Connection) => {
    const [journal, now] = await Promise.all([
      SummedJournal.read(snapshot, ledgerId),
      readClock(snapshot),
    ]);
    const { lastSequence, lastPersistedAt } = journal;
    const toNow = { startsAt: null, endsAt: momentAfter(now, lastPersistedAt) };
    const { startsAt, endsAt } = asked ?? toNow;
    const rows = await journal.sumTrialBalance({ startsAt, endsAt });
    const currencies = await listCurrencies(snapshot, ledgerId);
    const moved =
      close === null ? [] : movedBalances(await listCloseBalances(snapshot, close), rows);
    return {
      period: { startsAt, endsAt },
      ...{ lastSequence, rows, moved },
      unknownCurrencies: unknownCurrencies(currencies),
    };
  };
  return longReads.snapshot(read, { signal });
}
