// A batch of wallet writes while it is decided: what its snapshot had and what was accepted so far. An atomic bulk can be
// taken back. Pure.
import { defaultAssetRule, type AssetRule } from "./asset.ts";
import type { LedgerIdentity, LedgerStatus } from "./ledger.ts";
import type { Timestamp } from "./time.ts";
import { chainEntry, chainStart, type AcceptedWith } from "./wallet-chain.ts";
import { withExpiriesLogged } from "./wallet-log.ts";
import { PendingSums, type NewPendingPosting } from "./wallet-pending.ts";
import type {
  ChainHash,
  Hold,
  Wallet,
  WalletChange,
  WalletLogEntry,
  WalletState,
} from "./wallet.ts";

/** What the first write with an externalId made. */
export interface FirstUse {
  /** Of a reservation. */
  readonly holdId: string | null;
  /** Of a transfer. */
  readonly transferId: string | null;
}

/** What a decision may depend on, read after the locks of the ledger's state and of the wallets. */
export interface WalletSnapshot {
  readonly ledger: LedgerIdentity;
  readonly status: LedgerStatus;
  readonly now: Timestamp;
  /** By callerKey, of the wallets that exist; `debited` is known of those that are debited under a limit for the day. */
  readonly wallets: ReadonlyMap<string, WalletState>;
  /** By asset, of the assets that the batch names or its wallets have, the newest rule where there is one. */
  readonly rules: ReadonlyMap<string, AssetRule>;
  /** By `keyOf`, of the externalIds in use as far as they were looked up. */
  readonly idempotencyKeys: ReadonlyMap<string, FirstUse>;
  /** By id, of the holds that the batch names. */
  readonly namedHolds: ReadonlyMap<string, Hold>;
}

/** What is to be recorded of a batch. */
export interface WalletBatchRecord {
  /** Wallets that changed, as they are now, their logs chained, and before; null for those to be made. By callerKey. */
  readonly wallets: readonly { readonly wallet: Wallet; readonly before: Wallet | null }[];
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

export class WalletBatchState {
  readonly #snapshot: WalletSnapshot;
  readonly #newId: () => string;
  readonly #states: Map<string, WalletState>;
  readonly #idempotencyKeys: Map<string, FirstUse>;
  readonly #holds: Map<string, Hold>;
  readonly #changedHolds = new Map<string, Hold>();
  readonly #changed = new Set<string>();
  readonly #entries: WalletLogEntry[] = [];
  readonly #rules: Map<string, AssetRule>;
  readonly #newRules: AssetRule[] = [];
  readonly #pending: PendingSums;
  /** What takes back what an atomic bulk has done so far, the first last; null outside of one. */
  #undo: (() => void)[] | null = null;

  constructor(snapshot: WalletSnapshot, newId: () => string) {
    this.#snapshot = snapshot;
    this.#newId = newId;
    this.#states = new Map(snapshot.wallets);
    this.#idempotencyKeys = new Map(snapshot.idempotencyKeys);
    this.#holds = new Map(snapshot.namedHolds);
    this.#rules = new Map(snapshot.rules);
    this.#pending = new PendingSums(newId);
  }

  /** Null for a wallet that was never written, nor in this batch. */
  find(callerKey: string): WalletState | null {
    return this.#states.get(callerKey) ?? null;
  }

  findHold(holdId: string | null): Hold | undefined {
    return holdId === null ? undefined : this.#holds.get(holdId);
  }

  findFirstUse(callerKey: string, externalId: string | null): FirstUse | null {
    if (externalId === null) return null;
    return this.#idempotencyKeys.get(keyOf(callerKey, externalId)) ?? null;
  }

  useKey(callerKey: string, externalId: string | null, use: FirstUse): void {
    if (externalId === null) return;
    const key = keyOf(callerKey, externalId);
    this.#idempotencyKeys.set(key, use);
    this.#undo?.push(() => this.#idempotencyKeys.delete(key));
  }

  ruleOf(assetCode: string): AssetRule {
    const { functionalCurrency } = this.#snapshot.ledger;
    return this.#rules.get(assetCode) ?? defaultAssetRule(assetCode, functionalCurrency);
  }

  /** A wallet belongs to the asset of its first write. It is kept only if that is accepted. */
  newWallet(callerKey: string, assetCode: string): WalletState {
    const { now } = this.#snapshot;
    const hasDayLimit = this.ruleOf(assetCode).dailyDebitMax !== null;
    const wallet: Wallet = {
      walletId: this.#newId(),
      callerKey,
      assetCode,
      balance: 0n,
      held: 0n,
      lastSeq: 0,
      lastAt: now,
      logHash: null,
      frozenAt: null,
      debitedOn: hasDayLimit ? now.slice(0, 10) : null,
      debited: hasDayLimit ? 0n : null,
    };
    return { wallet, activeHolds: new Map() };
  }

  /** Logs the expiries of a wallet whose write was refused because a hold had expired, as far as they are not logged. */
  logExpiries(callerKey: string): void {
    const state = this.#states.get(callerKey);
    if (state === undefined) return;
    const expiries = withExpiriesLogged(state, this.#snapshot.now);
    if (expiries.entries.length === 0) return;
    this.apply(callerKey, expiries, this.ruleOf(state.wallet.assetCode));
  }

  /** Begins an atomic bulk. */
  begin(): void {
    this.#undo = [];
  }

  /** Ends it, with all that it did. */
  keep(): void {
    this.#undo = null;
  }

  /** Ends it as if it had not been begun. */
  takeBack(): void {
    for (const undo of this.#undo?.toReversed() ?? []) undo();
    this.#undo = null;
  }

  /** Takes in what a write does to a wallet. */
  apply(callerKey: string, { state, entries, holds }: WalletChange, rule: AssetRule): void {
    if (this.#undo !== null) this.#rememberBefore(this.#undo, callerKey, holds);
    this.#states.set(callerKey, state);
    this.#changed.add(callerKey);
    for (const hold of holds) {
      this.#holds.set(hold.holdId, hold);
      this.#changedHolds.set(hold.holdId, hold);
    }
    if (!this.#rules.has(rule.assetCode)) {
      this.#rules.set(rule.assetCode, rule);
      this.#newRules.push(rule);
      this.#undo?.push(() => {
        this.#rules.delete(rule.assetCode);
        this.#newRules.pop();
      });
    }
    const { wallet } = state;
    wallet.logHash ??= this.#chainStart(wallet, entries.length);
    for (const entry of entries) {
      this.#entries.push(entry);
      entry.pendingPostingId = this.#pending.add(entry, rule);
      wallet.logHash = chainEntry(wallet.logHash, entry, acceptedWith(entry, holds, rule));
    }
  }

  /** Pending sums need no undoing: transfers and expiries add nothing to them. */
  #rememberBefore(undo: (() => void)[], callerKey: string, holds: readonly Hold[]): void {
    const putBack = remember(this.#states, callerKey);
    const wasChanged = this.#changed.has(callerKey);
    const entryCount = this.#entries.length;
    const putHoldsBack = holds.flatMap(({ holdId }) => [
      remember(this.#holds, holdId),
      remember(this.#changedHolds, holdId),
    ]);
    undo.push(() => {
      putBack();
      if (!wasChanged) this.#changed.delete(callerKey);
      this.#entries.length = entryCount;
      for (const putHoldBack of putHoldsBack.toReversed()) putHoldBack();
    });
  }

  /** The beginning of the chain of a wallet's log, before what a change has just appended. */
  #chainStart({ walletId, callerKey, assetCode, lastSeq }: Wallet, appended: number): ChainHash {
    const { ledgerId } = this.#snapshot.ledger;
    const chainedAfter = lastSeq - appended;
    return chainStart({ ledgerId, walletId, callerKey, assetCode, chainedAfter });
  }

  result(): WalletBatchRecord {
    const changed = [...this.#changed].sort();
    const wallets = changed.flatMap((callerKey) => {
      const wallet = this.#states.get(callerKey)?.wallet;
      return wallet === undefined
        ? []
        : [{ wallet, before: this.#snapshot.wallets.get(callerKey)?.wallet ?? null }];
    });
    return {
      wallets,
      pendingPostings: this.#pending.list(),
      writes: this.#entries,
      holds: [...this.#changedHolds.values()],
      // In one order in all batches: two of them that make the same rules then never wait for each other.
      newRules: this.#newRules.toSorted((one, other) => (one.assetCode < other.assetCode ? -1 : 1)),
    };
  }
}

/** A function that gives a member of a map back the value that it has now, or none. */
function remember<Value>(map: Map<string, Value>, key: string): () => void {
  const before = map.get(key);
  return () => {
    if (before === undefined) map.delete(key);
    else map.set(key, before);
  };
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
