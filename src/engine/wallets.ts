// Crediting, debiting and reserving: the wallets' lane work for group commit, and what callers use.
import { walletAccounts, type LedgerIdentity } from "../core/ledger.ts";
import {
  decideWalletBatch,
  keyOf,
  type WalletBatch,
  type WalletSnapshot,
} from "../core/wallet-batch.ts";
import type {
  Hold,
  Wallet,
  WalletLogEntry,
  WalletReply,
  WalletState,
  WalletWrite,
} from "../core/wallet.ts";
import { insertMissingAccounts } from "../store/accounts.ts";
import { insertAssetRules, listAssetRules } from "../store/asset-rules.ts";
import { readClock } from "../store/journal-heads.ts";
import { lockLedgerState, lockLedgerStateShared, writeBarrier } from "../store/ledger-states.ts";
import { insertPendingPostings } from "../store/pending-postings.ts";
import { listActiveHolds, listHolds, upsertHolds } from "../store/wallet-holds.ts";
import {
  hasWalletWrites,
  insertWalletWrites,
  listWritesByExternalId,
} from "../store/wallet-writes.ts";
import { insertWallets, lockWallets, updateWallets } from "../store/wallets.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { GroupCommit } from "./group-commit.ts";
import type { GroupCommitOptions, LaneWork, Outcome, Plan } from "./lane-work.ts";
import { newId } from "./new-id.ts";
import { WriteCounts } from "./write-counts.ts";

interface WalletItem {
  readonly ledger: LedgerIdentity;
  readonly write: WalletWrite;
}

/** What is written to the wallets of all ledgers. */
export class Wallets {
  /** One for each ledger. */
  readonly lanes: GroupCommit<WalletItem, WalletReply>;
  readonly counts = new WriteCounts<WalletWrite["type"], WalletItem, WalletReply>(
    ["credit", "debit", "reserve", "commit", "release"],
    ({ write }) => write.type,
    ({ status }) => status === "duplicate",
  );

  /** `onCommitted` is called with every row that a batch of this process appended, in order, once it is on disk. */
  constructor(
    pool: Pool,
    options: GroupCommitOptions,
    onCommitted: (ledgerId: string, writes: readonly WalletLogEntry[]) => void,
  ) {
    this.lanes = new GroupCommit(pool, walletWork(onCommitted), options, this.counts);
  }

  /** Makes one write. Rejects with a Refusal. Writes of one wallet are decided in the order of their arrival. */
  write(ledger: LedgerIdentity, write: WalletWrite, bytes: number): Promise<WalletReply> {
    return this.lanes.submit(ledger.ledgerId, { ledger, write }, bytes);
  }
}

function walletWork(
  onCommitted: (ledgerId: string, writes: readonly WalletLogEntry[]) => void,
): LaneWork<WalletItem, WalletReply> {
  return {
    async plan(transaction, _laneKey, items, looksUpKeys) {
      const ledger = items[0]?.ledger;
      if (ledger === undefined) throw new Error("a batch has an item");
      const writes = items.map(({ write }) => write);
      const snapshot = await readSnapshot(transaction, ledger, writes, looksUpKeys);
      let batch = decideWalletBatch(snapshot, writes, newId);
      // A retry of something that was recorded is answered "duplicate", never with the refusal it would meet today.
      const refused = looksUpKeys ? [] : writes.filter((_, index) => isRefused(batch, index));
      const idempotencyKeys = await readIdempotencyKeys(transaction, ledger.ledgerId, refused);
      if (idempotencyKeys.size > 0) {
        batch = decideWalletBatch({ ...snapshot, idempotencyKeys }, writes, newId);
      }
      return planOf(ledger.ledgerId, batch, snapshot.now, onCommitted);
    },
  };
}

function isRefused(batch: WalletBatch, index: number): boolean {
  const outcome = batch.outcomes[index];
  return outcome !== undefined && "refusal" in outcome;
}

/** One round trip; a second one only where wallets have holds or assets that no item named. */
async function readSnapshot(
  transaction: Connection,
  ledger: LedgerIdentity,
  writes: readonly WalletWrite[],
  looksUpKeys: boolean,
): Promise<WalletSnapshot> {
  const { ledgerId } = ledger;
  const callerKeys = [...new Set(writes.map(({ callerKey }) => callerKey))].sort();
  const assetCodes = [
    ...new Set(writes.flatMap((write) => ("assetCode" in write ? write.assetCode : []))),
  ];
  const holdIds = writes.flatMap((write) => ("holdId" in write ? (write.holdId ?? []) : []));
  const [status, wallets, now, rules, holds, idempotencyKeys] = await Promise.all([
    lockLedgerStateShared(transaction, ledgerId),
    lockWallets(transaction, ledgerId, callerKeys),
    readClock(transaction),
    listAssetRules(transaction, ledgerId, assetCodes),
    listHolds(transaction, ledgerId, [...new Set(holdIds)]),
    readIdempotencyKeys(transaction, ledgerId, looksUpKeys ? writes : []),
  ]);
  const holders = wallets.filter(({ held }) => held > 0n).map(({ walletId }) => walletId);
  const otherAssets = wallets
    .map(({ assetCode }) => assetCode)
    .filter((assetCode) => !assetCodes.includes(assetCode));
  const [activeHolds, otherRules] = await Promise.all([
    listActiveHolds(transaction, ledgerId, holders),
    listAssetRules(transaction, ledgerId, [...new Set(otherAssets)]),
  ]);
  return {
    ledger,
    status,
    now,
    wallets: statesOf(wallets, activeHolds),
    rules: new Map([...rules, ...otherRules].map((rule) => [rule.assetCode, rule])),
    idempotencyKeys,
    namedHolds: new Map(holds.map((hold) => [hold.holdId, hold])),
  };
}

async function readIdempotencyKeys(
  transaction: Connection,
  ledgerId: string,
  writes: readonly WalletWrite[],
): Promise<Map<string, { holdId: string | null }>> {
  const keys = writes.flatMap((write) =>
    "externalId" in write && write.externalId !== null
      ? [{ callerKey: write.callerKey, externalId: write.externalId }]
      : [],
  );
  const rows = await listWritesByExternalId(transaction, ledgerId, keys);
  return new Map(
    rows.map(({ callerKey, externalId, holdId }) => [keyOf(callerKey, externalId), { holdId }]),
  );
}

function statesOf(wallets: readonly Wallet[], holds: readonly Hold[]): Map<string, WalletState> {
  const holdsByWallet = new Map<string, Map<string, Hold>>();
  for (const hold of holds) {
    const held = holdsByWallet.get(hold.walletId) ?? new Map<string, Hold>();
    holdsByWallet.set(hold.walletId, held.set(hold.holdId, hold));
  }
  const none = new Map<string, Hold>();
  return new Map(
    wallets.map((wallet) => [
      wallet.callerKey,
      { wallet, activeHolds: holdsByWallet.get(wallet.walletId) ?? none },
    ]),
  );
}

function planOf(
  ledgerId: string,
  batch: WalletBatch,
  now: WalletSnapshot["now"],
  onCommitted: (ledgerId: string, writes: readonly WalletLogEntry[]) => void,
): Plan<WalletReply> {
  return {
    outcomes: batch.outcomes satisfies readonly Outcome<WalletReply>[],
    recording:
      batch.writes.length === 0
        ? null
        : {
            send: (transaction) => record(transaction, ledgerId, batch, now),
            // The batch's transaction holds it shared: whoever has it alone has waited for that. The wallets'
            // own rows would not do: one that was about to be made can't be locked.
            lock: (transaction) => lockLedgerState(transaction, ledgerId),
            isCommitted: (transaction) =>
              hasWalletWrites(transaction, ledgerId, marksOf(batch.writes)),
            writeBarrier: (transaction) => writeBarrier(transaction, ledgerId),
          },
    onCommitted: () => {
      onCommitted(ledgerId, batch.writes);
    },
  };
}

/**
 * The writes of a batch that show that it was recorded, and not what another server wrote at the same place:
 * one that bears an id made for this batch. Releases and expiries have none: where there is nothing else, all of them
 * have to be there, at the time of this batch.
 */
function marksOf(writes: readonly WalletLogEntry[]): readonly WalletLogEntry[] {
  const marked = writes.find(
    ({ pendingPostingId, type }) => pendingPostingId !== null || type === "reserve",
  );
  return marked === undefined ? writes : [marked];
}

function record(
  transaction: Connection,
  ledgerId: string,
  batch: WalletBatch,
  now: WalletSnapshot["now"],
): Promise<unknown>[] {
  const added = batch.wallets.flatMap(({ wallet, isNew }) => (isNew ? [wallet] : []));
  const moved = batch.wallets.flatMap(({ wallet, isNew }) => (isNew ? [] : [wallet]));
  const accounts = batch.newRules.flatMap(({ assetCode }) =>
    Object.values(walletAccounts(assetCode)),
  );
  return [
    insertWallets(transaction, ledgerId, added),
    updateWallets(transaction, ledgerId, moved),
    insertWalletWrites(transaction, ledgerId, batch.writes),
    upsertHolds(transaction, ledgerId, batch.holds),
    insertPendingPostings(transaction, ledgerId, batch.pendingPostings),
    ...(batch.newRules.length === 0
      ? []
      : [
          insertAssetRules(transaction, ledgerId, batch.newRules, now),
          insertMissingAccounts(transaction, ledgerId, accounts, now),
        ]),
  ];
}
