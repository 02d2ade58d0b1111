// Decides a batch of wallet writes against a snapshot that was read under the wallets' locks, and sums what it
// accepts into pending postings. Pure, as journal-batch.ts is.
import { defaultAssetRule, type AssetRule } from "./asset.ts";
import { refuseState } from "./journal-batch.ts";
import type { Refusal } from "./errors.ts";
import type { LedgerIdentity, LedgerStatus } from "./ledger.ts";
import type { Timestamp } from "./time.ts";
import { chainEntry, chainStart, type AcceptedWith } from "./wallet-chain.ts";
import {
  decideWalletWrite,
  duplicateReply,
  type ChainHash,
  type Hold,
  type Wallet,
  type WalletChange,
  type WalletLogEntry,
  type WalletReply,
  type WalletState,
  type WalletWrite,
} from "./wallet.ts";

/** What a decision may depend on, read after the locks of the ledger's state and of the wallets. */
export interface WalletSnapshot {
  readonly ledger: LedgerIdentity;
  readonly status: LedgerStatus;
  readonly now: Timestamp;
  /** By callerKey, of the wallets that exist. */
  readonly wallets: ReadonlyMap<string, WalletState>;
  /** By asset, of the assets that the batch names or its wallets have, the newest rule where there is one. */
  readonly rules: ReadonlyMap<string, AssetRule>;
  /** By `keyOf`, of the externalIds in use as far as they were looked up: the hold that the write made. */
  readonly idempotencyKeys: ReadonlyMap<string, { readonly holdId: string | null }>;
  /** By id, of the holds that the batch resolves. */
  readonly namedHolds: ReadonlyMap<string, Hold>;
}

/** What a batch leaves to be posted of one asset, one side and one UTC day. */
export interface NewPendingPosting {
  readonly pendingPostingId: string;
  readonly assetCode: string;
  readonly ruleVersion: number;
  readonly side: "credit" | "debit";
  readonly amount: bigint;
  readonly writeCount: number;
  readonly acceptedFrom: Timestamp;
  readonly acceptedTo: Timestamp;
  /** Which writes: by wallet, its first and last seq in the batch. */
  readonly spans: readonly {
    readonly walletId: string;
    readonly firstSeq: number;
    readonly lastSeq: number;
  }[];
}

export type WalletOutcome = { readonly reply: WalletReply } | { readonly refusal: Refusal };

export interface WalletBatch {
  readonly outcomes: readonly WalletOutcome[];
  /** Wallets that changed, as they are now, their logs chained; `isNew` for those to be made. Sorted by callerKey. */
  readonly wallets: readonly { readonly wallet: Wallet; readonly isNew: boolean }[];
  readonly writes: readonly WalletLogEntry[];
  readonly holds: readonly Hold[];
  /** Rules that had to be made for assets used for the first time. */
  readonly newRules: readonly AssetRule[];
  readonly pendingPostings: readonly NewPendingPosting[];
}

/** Apart by NUL, which no key can hold. */
export function keyOf(callerKey: string, externalId: string): string {
  return `${callerKey}\0${externalId}`;
}

export function decideWalletBatch(
  snapshot: WalletSnapshot,
  items: readonly WalletWrite[],
  newId: () => string,
): WalletBatch {
  const batch = new BatchInProgress(snapshot, newId);
  const outcomes = items.map((item) => batch.decide(item));
  return { outcomes, ...batch.result() };
}

class BatchInProgress {
  readonly #snapshot: WalletSnapshot;
  readonly #newId: () => string;
  readonly #states: Map<string, WalletState>;
  readonly #idempotencyKeys: Map<string, { holdId: string | null }>;
  readonly #holds: Map<string, Hold>;
  readonly #changedHolds = new Map<string, Hold>();
  readonly #changed = new Set<string>();
  readonly #entries: WalletLogEntry[] = [];
  readonly #rules: Map<string, AssetRule>;
  readonly #newRules: AssetRule[] = [];
  readonly #pendingSums = new Map<string, PendingSum>();

  constructor(snapshot: WalletSnapshot, newId: () => string) {
    this.#snapshot = snapshot;
    this.#newId = newId;
    this.#states = new Map(snapshot.wallets);
    this.#idempotencyKeys = new Map(snapshot.idempotencyKeys);
    this.#holds = new Map(snapshot.namedHolds);
    this.#rules = new Map(snapshot.rules);
  }

  decide(item: WalletWrite): WalletOutcome {
    const { now, status, ledger } = this.#snapshot;
    const existing = this.#states.get(item.callerKey);
    const key =
      "externalId" in item && item.externalId !== null
        ? keyOf(item.callerKey, item.externalId)
        : null;
    const duplicate = existing === undefined ? null : this.#duplicate(existing, item, key);
    if (duplicate !== null) return { reply: duplicate };
    const stateRefusal = refuseState(status);
    if (stateRefusal !== null) return { refusal: stateRefusal };
    const state = existing ?? this.#newWallet(item);
    const { assetCode } = state.wallet;
    const rule =
      this.#rules.get(assetCode) ?? defaultAssetRule(assetCode, ledger.functionalCurrency);
    const decision = decideWalletWrite(state, item, {
      now,
      overdraftLimit: rule.overdraftLimit,
      namedHold:
        "holdId" in item && item.holdId !== null ? this.#holds.get(item.holdId) : undefined,
      newHoldId: this.#newId,
    });
    if ("refusal" in decision) {
      const { refusal, expiries } = decision;
      if (expiries !== null) this.#apply(item, expiries, rule);
      return { refusal };
    }
    this.#apply(item, decision, rule);
    if (key !== null) this.#idempotencyKeys.set(key, { holdId: decision.reply.holdId });
    return { reply: decision.reply };
  }

  result(): Omit<WalletBatch, "outcomes"> {
    const changed = [...this.#changed].sort();
    const wallets = changed.flatMap((callerKey) => {
      const wallet = this.#states.get(callerKey)?.wallet;
      return wallet === undefined
        ? []
        : [{ wallet, isNew: !this.#snapshot.wallets.has(callerKey) }];
    });
    return {
      wallets,
      pendingPostings: [...this.#pendingSums.values()].map((sum) => ({
        ...sum,
        spans: [...sum.spans.values()],
      })),
      writes: this.#entries,
      holds: [...this.#changedHolds.values()],
      newRules: this.#newRules,
    };
  }

  /** The reply to a write that was recorded before; `key`: of its externalId, null for one without. */
  #duplicate(state: WalletState, item: WalletWrite, key: string | null): WalletReply | null {
    const { now } = this.#snapshot;
    if ("externalId" in item) {
      const first = key === null ? undefined : this.#idempotencyKeys.get(key);
      return first === undefined ? null : duplicateReply(state, now, first.holdId);
    }
    const hold = item.holdId === null ? undefined : this.#holds.get(item.holdId);
    const isSameResolve =
      hold?.walletId === state.wallet.walletId &&
      hold.status === (item.type === "commit" ? "committed" : "released");
    return isSameResolve ? duplicateReply(state, now, null) : null;
  }

  /** A wallet belongs to the asset of its first write. It is kept only if that is accepted. */
  #newWallet(item: WalletWrite): WalletState {
    const wallet: Wallet = {
      walletId: this.#newId(),
      callerKey: item.callerKey,
      assetCode: "assetCode" in item ? item.assetCode : "",
      balance: 0n,
      held: 0n,
      lastSeq: 0,
      lastAt: this.#snapshot.now,
      logHash: null,
    };
    return { wallet, activeHolds: new Map() };
  }

  #apply(item: WalletWrite, { state, entries, holds }: WalletChange, rule: AssetRule): void {
    this.#states.set(item.callerKey, state);
    this.#changed.add(item.callerKey);
    for (const hold of holds) {
      this.#holds.set(hold.holdId, hold);
      this.#changedHolds.set(hold.holdId, hold);
    }
    if (!this.#rules.has(rule.assetCode)) {
      this.#rules.set(rule.assetCode, rule);
      this.#newRules.push(rule);
    }
    const { wallet } = state;
    wallet.logHash ??= this.#chainStart(wallet, entries.length);
    for (const entry of entries) {
      this.#entries.push(entry);
      entry.pendingPostingId = this.#addToPendingPosting(entry, rule);
      wallet.logHash = chainEntry(wallet.logHash, entry, acceptedWith(entry, holds, rule));
    }
  }

  /** The beginning of the chain of a wallet's log, before what a change has just appended. */
  #chainStart({ walletId, callerKey, assetCode, lastSeq }: Wallet, appended: number): ChainHash {
    const { ledgerId } = this.#snapshot.ledger;
    const chainedAfter = lastSeq - appended;
    return chainStart({ ledgerId, walletId, callerKey, assetCode, chainedAfter });
  }

  /** Adds an entry to the sum of its asset, side and UTC day, and names that; null for one that moves no money. */
  #addToPendingPosting(entry: WalletLogEntry, rule: AssetRule): string | null {
    const side = sideOf(entry);
    if (side === null) return null;
    const { assetCode, version } = rule;
    const key = `${assetCode} ${side} ${entry.at.slice(0, 10)}`;
    let sum = this.#pendingSums.get(key);
    if (sum === undefined) {
      sum = {
        pendingPostingId: this.#newId(),
        assetCode,
        ruleVersion: version,
        side,
        amount: 0n,
        writeCount: 0,
        acceptedFrom: entry.at,
        acceptedTo: entry.at,
        spans: new Map(),
      };
      this.#pendingSums.set(key, sum);
    }
    addTo(sum, entry);
    return sum.pendingPostingId;
  }
}

/** What an entry's row does not say and its chain covers. */
function acceptedWith(
  { type, holdId, pendingPostingId }: WalletLogEntry,
  holds: readonly Hold[],
  rule: AssetRule,
): AcceptedWith {
  const made = type === "reserve" ? holds.find((hold) => hold.holdId === holdId) : undefined;
  return {
    expiresAt: made?.expiresAt ?? null,
    ruleVersion: pendingPostingId === null ? null : rule.version,
  };
}

/** A pending posting while its batch is decided. */
type PendingSum = {
  -readonly [Name in keyof Omit<NewPendingPosting, "spans">]: NewPendingPosting[Name];
} & { readonly spans: Map<string, { walletId: string; firstSeq: number; lastSeq: number }> };

function addTo(sum: PendingSum, { walletId, seq, amount, at }: WalletLogEntry): void {
  sum.amount += amount;
  sum.writeCount += 1;
  if (at < sum.acceptedFrom) sum.acceptedFrom = at;
  if (at > sum.acceptedTo) sum.acceptedTo = at;
  const span = sum.spans.get(walletId);
  if (span === undefined) sum.spans.set(walletId, { walletId, firstSeq: seq, lastSeq: seq });
  else span.lastSeq = seq;
}

/** Which side of the ledger an entry is on; reserving, releasing and expiring move no money. */
function sideOf(entry: WalletLogEntry): "credit" | "debit" | null {
  if (entry.type === "credit") return "credit";
  return entry.type === "debit" || entry.type === "commit" ? "debit" : null;
}
