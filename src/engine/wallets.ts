// Writing to wallets, transfers between them too: the wallets' lane work for group commit, and what callers use.
import { assert } from "../core/errors.ts";
import { walletAccounts, type LedgerIdentity } from "../core/ledger.ts";
import {
  decideWalletBatch,
  type TransfersReply,
  type WalletBatch,
  type WalletItem,
} from "../core/wallet-batch.ts";
import type { TransferReply, WalletTransfer } from "../core/wallet-transfer.ts";
import type { Wallet, WalletLogEntry, WalletReply, WalletWrite } from "../core/wallet.ts";
import { insertMissingAccounts } from "../store/accounts.ts";
import { insertAssetRules } from "../store/asset-rules.ts";
import {
  lockLedgerState,
  isLedgerStateLockedByOthers,
  writeBarrier,
} from "../store/ledger-states.ts";
import { insertOrderedWrites } from "../store/ordered-wallet-writes.ts";
import { insertPendingPostings } from "../store/pending-postings.ts";
import { upsertHolds } from "../store/wallet-holds.ts";
import { hasWalletWrites, insertWalletWrites } from "../store/wallet-writes.ts";
import {
  insertWallets,
  lockWallets,
  updateControlledWallets,
  updateWallets,
} from "../store/wallets.ts";
import type { Connection } from "../store/database/connection.ts";
import type { Pool } from "../store/database/pool.ts";
import { GroupCommit } from "./group-commit.ts";
import type { GroupCommitOptions, LaneWork, Outcome, Plan } from "./lane-work.ts";
import { newId } from "./new-id.ts";
import { readIdempotencyKeys, readWalletSnapshot } from "./wallet-snapshot.ts";
import { WriteCounts } from "./write-counts.ts";

interface LaneItem {
  readonly ledger: LedgerIdentity;
  readonly write: WalletItem;
}

type Reply = WalletReply | TransfersReply;

/** What each of many transfers weighs at least, so that a transaction holds no more than a few thousand. */
const transferBytes = 1024;

/** What is written to the wallets of all ledgers. */
export class Wallets {
  /** One for each ledger. */
  readonly lanes: GroupCommit<LaneItem, Reply>;
  readonly counts = new WriteCounts<WalletItem["type"], LaneItem, Reply>(
    [
      ...(["credit", "debit", "reserve", "commit", "release"] as const),
      ...(["transfer", "atomic-transfers", "freeze", "unfreeze"] as const),
    ],
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
  async write(ledger: LedgerIdentity, write: WalletWrite, bytes: number): Promise<WalletReply> {
    const reply = await this.lanes.submit(ledger.ledgerId, { ledger, write }, bytes);
    assert("balance" in reply, "a write of one wallet has its figures");
    return reply;
  }

  /** Moves an amount from one wallet to another. Rejects with a Refusal. */
  async transferFunds(
    ledger: LedgerIdentity,
    transfer: WalletTransfer,
    bytes: number,
  ): Promise<TransferReply> {
    const [reply] = await this.#submitTransfers({ ledger, write: transfer }, bytes);
    assert(reply !== undefined, "one transfer has one reply");
    return reply;
  }

  /**
   * Makes transfers atomically: all of them, in order, or none. No two from one wallet may have one externalId. Rejects with
   * the Refusal of the first that fails, with its place (`transfers/3`) in each fault. If all were made before, they are
   * duplicates; if only some were, `partlyDuplicate` is the refusal.
   */
  transferAtomically(
    ledger: LedgerIdentity,
    transfers: readonly WalletTransfer[],
    bytes: number,
  ): Promise<readonly TransferReply[]> {
    return this.#submitTransfers(
      { ledger, write: { type: "atomic-transfers", transfers } },
      Math.max(bytes, transfers.length * transferBytes),
    );
  }

  async #submitTransfers(item: LaneItem, bytes: number): Promise<readonly TransferReply[]> {
    const reply = await this.lanes.submit(item.ledger.ledgerId, item, bytes);
    assert("transfers" in reply, "transfers are answered one by one");
    return reply.transfers;
  }
}

function walletWork(
  onCommitted: (ledgerId: string, writes: readonly WalletLogEntry[]) => void,
): LaneWork<LaneItem, Reply> {
  return {
    isLockedByOthers: isLedgerStateLockedByOthers,
    async plan(transaction, _laneKey, items, looksUpKeys) {
      const ledger = items[0]?.ledger;
      if (ledger === undefined) throw new Error("a batch has an item");
      const writes = items.map(({ write }) => write);
      const snapshot = await readWalletSnapshot(transaction, ledger, writes, looksUpKeys);
      let batch = decideWalletBatch(snapshot, writes, newId);
      // A retry of something that was recorded is answered "duplicate", never with the refusal it would meet today.
      const refused = looksUpKeys ? [] : writes.filter((_, index) => isRefused(batch, index));
      const idempotencyKeys = await readIdempotencyKeys(transaction, ledger.ledgerId, refused);
      if (idempotencyKeys.size > 0) {
        batch = decideWalletBatch({ ...snapshot, idempotencyKeys }, writes, newId);
      }
      return planOf(ledger.ledgerId, batch, snapshot, onCommitted);
    },
  };
}

function isRefused(batch: WalletBatch, index: number): boolean {
  const outcome = batch.outcomes[index];
  return outcome !== undefined && "refusal" in outcome;
}

type BatchSnapshot = Awaited<ReturnType<typeof readWalletSnapshot>>;

function planOf(
  ledgerId: string,
  batch: WalletBatch,
  snapshot: BatchSnapshot,
  onCommitted: (ledgerId: string, writes: readonly WalletLogEntry[]) => void,
): Plan<Reply> {
  return {
    outcomes: batch.outcomes satisfies readonly Outcome<Reply>[],
    recording:
      batch.writes.length === 0
        ? null
        : {
            send: (transaction) => record(transaction, ledgerId, batch, snapshot),
            lock: (transaction) => lockBehind(transaction, ledgerId, batch),
            isCommitted: (transaction) =>
              hasWalletWrites(transaction, ledgerId, marksOf(batch.writes)),
            writeBarrier: (transaction) => writeBarrier(transaction, ledgerId),
          },
    // A new rule comes with the first wallet of its asset.
    locksAllItChanges: batch.wallets.every(({ before }) => before !== null),
    onCommitted: () => {
      onCommitted(ledgerId, batch.writes);
    },
  };
}

/**
 * Takes a lock that the batch's transaction holds, and so waits for that: of a wallet that was there. Where it makes all of
 * its wallets, none can be locked; then it is the ledger's state, which that transaction has together with others: they
 * may keep whoever wants it alone waiting.
 */
async function lockBehind(
  transaction: Connection,
  ledgerId: string,
  { wallets }: WalletBatch,
): Promise<void> {
  const there = wallets.find(({ before }) => before !== null);
  if (there === undefined) await lockLedgerState(transaction, ledgerId);
  else await lockWallets(transaction, ledgerId, [there.wallet.callerKey]);
}

/**
 * The writes of a batch that show that it was recorded, and not what another server wrote at the same place:
 * one that bears an id made for this batch. Releases, expiries and freezes have none: where there is nothing else, all of them
 * have to be there, at the time of this batch.
 */
function marksOf(writes: readonly WalletLogEntry[]): readonly WalletLogEntry[] {
  const marked = writes.find(
    ({ pendingPostingId, transferId, type }) =>
      pendingPostingId !== null || transferId !== null || type === "reserve",
  );
  return marked === undefined ? writes : [marked];
}

function record(
  transaction: Connection,
  ledgerId: string,
  batch: WalletBatch,
  { now, ordersWalletWrites }: BatchSnapshot,
): Promise<unknown>[] {
  const added: Wallet[] = [];
  const moved: Wallet[] = [];
  const controlled: Wallet[] = [];
  for (const { wallet, before } of batch.wallets) {
    if (before === null) {
      added.push(wallet);
      // It is made without controls: whoever froze it in the same batch does so after that.
      if (wallet.frozenAt !== null) controlled.push(wallet);
    } else if (areControlsAsBefore(wallet, before)) moved.push(wallet);
    else controlled.push(wallet);
  }
  const accounts = batch.newRules.flatMap(({ assetCode }) =>
    Object.values(walletAccounts(assetCode)),
  );
  return [
    insertWallets(transaction, ledgerId, added),
    updateWallets(transaction, ledgerId, moved),
    updateControlledWallets(transaction, ledgerId, controlled),
    insertWalletWrites(transaction, ledgerId, batch.writes),
    upsertHolds(transaction, ledgerId, batch.holds),
    insertPendingPostings(transaction, ledgerId, batch.pendingPostings),
    ...(batch.newRules.length === 0
      ? []
      : [
          insertAssetRules(transaction, ledgerId, batch.newRules, now),
          insertMissingAccounts(transaction, ledgerId, accounts, now),
        ]),
    // Last: batches of other servers wait here for this one's COMMIT.
    ...(ordersWalletWrites ? [insertOrderedWrites(transaction, ledgerId, batch.writes)] : []),
  ];
}

function areControlsAsBefore(wallet: Wallet, before: Wallet): boolean {
  return (
    wallet.frozenAt === before.frozenAt &&
    wallet.debitedOn === before.debitedOn &&
    wallet.debited === before.debited
  );
}
