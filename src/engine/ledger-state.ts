// Suspending, activating and closing ledgers. What wallets have pending is posted in the same
// transaction, so that nothing accepted is left behind and nothing can be accepted after it.
import type { LedgerStatus } from "../core/ledger.ts";
import {
  askForLedgerState,
  lockLedgerState,
  updateLedgerState,
  withdrawStateRequest,
} from "../store/ledger-state-changes.ts";
import { listAssetsWithoutRate } from "../store/wallet-postings.ts";
import type { WriteConnections, WriteTransaction } from "../store/write-connections.ts";
import { postPending } from "./posting.ts";

export type StateChange =
  | { readonly outcome: "done" }
  | { readonly outcome: "ledgerNotFound" }
  /** A closed ledger stays closed. */
  | { readonly outcome: "closed" }
  /** Closing would leave writes for ever unposted: these currencies have no rate yet. */
  | { readonly outcome: "waitingForRates"; readonly assetCodes: readonly string[] };

/** How long writers step aside; a change that was given up, or killed, holds them no longer. */
const requestMs = 10_000;

/** Waits for writers under way, then changes the state. */
export async function changeLedgerStatus(
  connections: WriteConnections,
  ledgerId: string,
  status: LedgerStatus,
): Promise<StateChange> {
  return withLedgerStateLocked(connections, ledgerId, async (transaction, current) => {
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
  connections: WriteConnections,
  ledgerId: string,
  work: (transaction: WriteTransaction, status: LedgerStatus | null) => Promise<Result>,
): Promise<Result> {
  await connections.transaction((transaction) =>
    transaction.commit([askForLedgerState(transaction, ledgerId, requestMs)]),
  );
  try {
    return await connections.transaction(async (transaction) =>
      work(transaction, await lockLedgerState(transaction, ledgerId)),
    );
  } finally {
    await connections.transaction((transaction) =>
      transaction.commit([withdrawStateRequest(transaction, ledgerId)]),
    );
  }
}

async function changeLocked(
  transaction: WriteTransaction,
  ledgerId: string,
  status: LedgerStatus,
): Promise<StateChange> {
  if (status !== "active") await postPending(transaction, ledgerId);
  if (status === "closed") {
    const assetCodes = await listAssetsWithoutRate(transaction, ledgerId);
    if (assetCodes.length > 0) return { outcome: "waitingForRates", assetCodes };
  }
  await transaction.commit([updateLedgerState(transaction, ledgerId, status)]);
  return { outcome: "done" };
}
