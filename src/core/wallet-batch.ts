// Decides a batch of wallet writes against the wallets as they stand under their locks, and sums what
// it accepts into what has to be posted. Pure, as journal-batch.ts is.
import { defaultAssetRule, type AssetRule } from "./asset.ts";
import { refuseState } from "./journal-batch.ts";
import type { Refusal } from "./errors.ts";
import type { LedgerIdentity, LedgerStatus } from "./ledger.ts";
import { timestampFromEpochMs, type Timestamp } from "./time.ts";
import {
  decideWalletWrite,
  duplicateReply,
  type Hold,
  type Wallet,
  type WalletLogRow,
  type WalletReply,
  type WalletState,
  type WalletWrite,
} from "./wallet.ts";

/** What a decision may depend on, read after the locks of the ledger's state and of the wallets. */
export interface WalletBooks {
  readonly ledger: LedgerIdentity;
  readonly status: LedgerStatus;
  readonly now: Timestamp;
  /** By callerKey, of the wallets that exist. */
  readonly wallets: ReadonlyMap<string, WalletState>;
  /** By asset, of the assets that the batch names or its wallets have, the newest rule where there is one. */
  readonly rules: ReadonlyMap<string, AssetRule>;
  /** By `keyOf`, of the externalIds in use as far as they were looked up: the hold that the write made. */
  readonly known: ReadonlyMap<string, { readonly holdId: string | null }>;
  /** By id, of the holds that the batch resolves. */
  readonly namedHolds: ReadonlyMap<string, Hold>;
}

/** One side of what a batch has to have posted. */
export interface BatchSide {
  readonly batchId: string;
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

export interface LoggedWrite extends WalletLogRow {
  readonly callerKey: string;
  readonly batchId: string | null;
}

export type WalletOutcome = { readonly reply: WalletReply } | { readonly refusal: Refusal };

export interface WalletBatch {
  readonly outcomes: readonly WalletOutcome[];
  /** Wallets that changed, as they are now; `isNew` for those to be made. Sorted by callerKey. */
  readonly wallets: readonly { readonly wallet: Wallet; readonly isNew: boolean }[];
  readonly writes: readonly LoggedWrite[];
  readonly holds: readonly Hold[];
  /** Rules that had to be made for assets used for the first time. */
  readonly newRules: readonly AssetRule[];
  readonly sides: readonly BatchSide[];
}

/** Apart by NUL, which no key can hold. */
export function keyOf(callerKey: string, externalId: string): string {
  return `${callerKey}\0${externalId}`;
}

export function decideWalletBatch(
  books: WalletBooks,
  items: readonly WalletWrite[],
  newId: () => string,
): WalletBatch {
  const batch = new BatchInProgress(books, newId);
  const outcomes = items.map((item) => batch.decide(item));
  return { outcomes, ...batch.result() };
}

class BatchInProgress {
  readonly #books: WalletBooks;
  readonly #newId: () => string;
  readonly #states: Map<string, WalletState>;
  readonly #known: Map<string, { holdId: string | null }>;
  readonly #holds: Map<string, Hold>;
  readonly #changedHolds = new Map<string, Hold>();
  readonly #changed = new Set<string>();
  readonly #rows: { callerKey: string; row: WalletLogRow }[] = [];
  readonly #rules: Map<string, AssetRule>;
  readonly #newRules: AssetRule[] = [];

  constructor(books: WalletBooks, newId: () => string) {
    this.#books = books;
    this.#newId = newId;
    this.#states = new Map(books.wallets);
    this.#known = new Map(books.known);
    this.#holds = new Map(books.namedHolds);
    this.#rules = new Map(books.rules);
  }

  decide(item: WalletWrite): WalletOutcome {
    const { now, status, ledger } = this.#books;
    const existing = this.#states.get(item.callerKey);
    const duplicate = existing === undefined ? null : this.#duplicate(existing, item);
    if (duplicate !== null) return { reply: duplicate };
    const refusal = refuseState(status);
    if (refusal !== null) return { refusal };
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
      addSeconds,
    });
    if ("refusal" in decision) return decision;
    this.#accept(item, decision.state, decision.rows, decision.holds, rule);
    if ("externalId" in item && item.externalId !== null) {
      const { holdId } = decision.reply;
      this.#known.set(keyOf(item.callerKey, item.externalId), { holdId });
    }
    return { reply: decision.reply };
  }

  result(): Omit<WalletBatch, "outcomes"> {
    const changed = [...this.#changed].sort();
    const wallets = changed.flatMap((callerKey) => {
      const state = this.#states.get(callerKey);
      const isNew = !this.#books.wallets.has(callerKey);
      return state === undefined ? [] : [{ wallet: state.wallet, isNew }];
    });
    const { writes, sides } = this.#gatherSides();
    const holds = [...this.#changedHolds.values()];
    return { wallets, writes, holds, newRules: this.#newRules, sides };
  }

  #duplicate(state: WalletState, item: WalletWrite): WalletReply | null {
    const { now } = this.#books;
    if ("externalId" in item) {
      if (item.externalId === null) return null;
      const first = this.#known.get(keyOf(item.callerKey, item.externalId));
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
      lastAt: this.#books.now,
    };
    return { wallet, activeHolds: new Map() };
  }

  #accept(
    item: WalletWrite,
    state: WalletState,
    rows: readonly WalletLogRow[],
    holds: readonly Hold[],
    rule: AssetRule,
  ): void {
    this.#states.set(item.callerKey, state);
    this.#changed.add(item.callerKey);
    for (const row of rows) this.#rows.push({ callerKey: item.callerKey, row });
    for (const hold of holds) {
      this.#holds.set(hold.holdId, hold);
      this.#changedHolds.set(hold.holdId, hold);
    }
    if (!this.#rules.has(rule.assetCode)) {
      this.#rules.set(rule.assetCode, rule);
      this.#newRules.push(rule);
    }
  }

  /** Sums the rows that move balances by asset, side and UTC day, and names for each row its batch side. */
  #gatherSides(): { writes: LoggedWrite[]; sides: BatchSide[] } {
    const sides = new Map<string, SideInProgress>();
    const writes = this.#rows.map(({ callerKey, row }): LoggedWrite => {
      const side = sideOf(row);
      const wallet = this.#states.get(callerKey)?.wallet;
      if (side === null || wallet === undefined) return loggedWrite(row, callerKey, null);
      const key = `${wallet.assetCode} ${side} ${row.at.slice(0, 10)}`;
      let gathered = sides.get(key);
      if (gathered === undefined) {
        const ruleVersion = this.#rules.get(wallet.assetCode)?.version ?? 1;
        gathered = new SideInProgress(this.#newId(), wallet.assetCode, ruleVersion, side, row.at);
        sides.set(key, gathered);
      }
      gathered.add(row);
      return loggedWrite(row, callerKey, gathered.batchId);
    });
    return { writes, sides: [...sides.values()].map((side) => side.result()) };
  }
}

/** Member by member, as in wallet.ts. */
function loggedWrite(row: WalletLogRow, callerKey: string, batchId: string | null): LoggedWrite {
  return {
    callerKey,
    batchId,
    walletId: row.walletId,
    seq: row.seq,
    type: row.type,
    amount: row.amount,
    balance: row.balance,
    held: row.held,
    externalId: row.externalId,
    holdId: row.holdId,
    metadata: row.metadata,
    at: row.at,
  };
}

class SideInProgress {
  readonly batchId: string;
  readonly #assetCode: string;
  readonly #ruleVersion: number;
  readonly #side: "credit" | "debit";
  readonly #spans = new Map<string, { walletId: string; firstSeq: number; lastSeq: number }>();
  #amount = 0n;
  #writeCount = 0;
  #acceptedFrom: Timestamp;
  #acceptedTo: Timestamp;

  constructor(
    batchId: string,
    assetCode: string,
    ruleVersion: number,
    side: "credit" | "debit",
    at: Timestamp,
  ) {
    this.batchId = batchId;
    this.#assetCode = assetCode;
    this.#ruleVersion = ruleVersion;
    this.#side = side;
    this.#acceptedFrom = at;
    this.#acceptedTo = at;
  }

  add(row: WalletLogRow): void {
    this.#amount += row.amount;
    this.#writeCount += 1;
    if (row.at < this.#acceptedFrom) this.#acceptedFrom = row.at;
    if (row.at > this.#acceptedTo) this.#acceptedTo = row.at;
    const span = this.#spans.get(row.walletId);
    if (span === undefined) {
      this.#spans.set(row.walletId, {
        walletId: row.walletId,
        firstSeq: row.seq,
        lastSeq: row.seq,
      });
    } else {
      span.lastSeq = row.seq;
    }
  }

  result(): BatchSide {
    return {
      batchId: this.batchId,
      assetCode: this.#assetCode,
      ruleVersion: this.#ruleVersion,
      side: this.#side,
      amount: this.#amount,
      writeCount: this.#writeCount,
      acceptedFrom: this.#acceptedFrom,
      acceptedTo: this.#acceptedTo,
      spans: [...this.#spans.values()],
    };
  }
}

/** Which side of the books a row is on; reserving, releasing and expiring move no money. */
function sideOf(row: WalletLogRow): "credit" | "debit" | null {
  if (row.type === "credit") return "credit";
  return row.type === "debit" || row.type === "commit" ? "debit" : null;
}

function addSeconds(at: Timestamp, seconds: number): Timestamp {
  const later = timestampFromEpochMs(Date.parse(at) + seconds * 1000);
  if (later === null) throw new Error("a hold ends within the years that we keep");
  return later;
}
