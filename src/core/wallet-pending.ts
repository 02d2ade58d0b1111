// What a batch of wallet writes leaves to be posted: sums by asset, side and UTC day. Pure.
import type { AssetRule } from "./asset.ts";
import type { Timestamp } from "./time.ts";
import type { WalletLogEntry } from "./wallet.ts";

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

/** Sums what the entries of a batch move. Transfers move nothing between wallets and the rest of the ledger. */
export class PendingSums {
  readonly #newId: () => string;
  readonly #sums = new Map<string, PendingSum>();

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Adds an entry to the sum of its asset, side and UTC day, and names that; null for one that moves no money. */
  add(entry: WalletLogEntry, rule: AssetRule): string | null {
    const side = sideOf(entry);
    if (side === null) return null;
    const { assetCode, version } = rule;
    const key = `${assetCode} ${side} ${entry.at.slice(0, 10)}`;
    let sum = this.#sums.get(key);
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
      this.#sums.set(key, sum);
    }
    addTo(sum, entry);
    return sum.pendingPostingId;
  }

  list(): NewPendingPosting[] {
    return [...this.#sums.values()].map((sum) => ({ ...sum, spans: [...sum.spans.values()] }));
  }
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

/** Which side of the ledger an entry is on; what else there is moves no money in or out. */
function sideOf(entry: WalletLogEntry): "credit" | "debit" | null {
  if (entry.type === "credit") return "credit";
  return entry.type === "debit" || entry.type === "commit" ? "debit" : null;
}
