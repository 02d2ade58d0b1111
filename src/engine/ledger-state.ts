// Suspending, activating and closing ledgers. What wallets have pending is posted in the same
// transaction, so that nothing accepted is left behind and nothing can be accepted after it.
import type { LedgerStatus } from "../core/ledger.ts";
import {
  deleteStateRequest,
  lockLedgerState,
  stateRequestMsMax,
  updateLedgerState,
  upsertStateRequest,
} from "../store/ledger-states.ts";
import { listAssetsWithoutRate } from "../store/pending-postings.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { postPending } from "./posting.ts";

export type StateChange =
  | { readonly outcome: "done" }
  | { readonly outcome: "ledgerNotFound" }
  /** A closed ledger stays closed. */
  | { readonly outcome: "closed" }
  /** Closing would leave writes for ever unposted: these currencies have no rate yet. */
  | { readonly outcome: "waitingForRates"; readonly assetCodes: readonly string[] };

/** Waits for writers under way, then changes the state. */
export async function changeLedgerStatus(
  pool: Pool,
  ledgerId: string,
  status: LedgerStatus,
): Promise<StateChange> {
  return withLedgerStateLocked(pool, ledgerId, async (transaction, current) => {
    if (current === null) return { outcome: "ledgerNotFound" };
    if (current === status) return { outcome: "done" };
    if (current === "closed") return { outcome: "closed" };
    return changeLocked(transaction, ledgerId, status);
  });
}

/**
 * Runs a transaction that holds a ledger's state alone. Writers are asked to step aside first: they hold
 * it shared, one after the other, and would be let past a waiting lock for ever.
 */
export async function withLedgerStateLocked<Result>(
  pool: Pool,
  ledgerId: string,
  work: (transaction: Connection, status: LedgerStatus | null) => Promise<Result>,
): Promise<Result> {
  await upsertStateRequest(pool, ledgerId, stateRequestMsMax);
  try {
    return await pool.transaction(async (transaction) =>
      work(transaction, await lockLedgerState(transaction, ledgerId)),
    );
  } finally {
    await deleteStateRequest(pool, ledgerId);
  }
}

async function changeLocked(
  transaction: Connection,
  ledgerId: string,
  status: LedgerStatus,
): Promise<StateChange> {
  if (status === "closed") {
    const assetCodes = await listAssetsWithoutRate(transaction, ledgerId);
    if (assetCodes.length > 0) return { outcome: "waitingForRates", assetCodes };
  }
  if (status !== "active") await postPending(transaction, ledgerId);
  await updateLedgerState(transaction, ledgerId, status);
  return { outcome: "done" };
}
