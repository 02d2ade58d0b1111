// The writes of chaos rounds: what a client sends, and what it knows of each.
import { pick } from "../support/wallet-traffic.ts";

export type WriteKind =
  | ("entry" | "bulk" | "reversal" | "close")
  | ("credit" | "debit" | "reserve" | "commit" | "release" | "transfers");

/** One write. It is sent again, word for word, until it is answered. */
export interface Write {
  readonly kind: WriteKind;
  readonly target: string;
  readonly body: string;
  /** The externalId, or those of a bulk or of atomic transfers; of a commit or a release the hold's id; of a close the period. */
  readonly ids: readonly string[];
  readonly amount: string;
  /** Of transfers the wallet that pays; null of what writes to the journal. */
  readonly callerKey: string | null;
  /** null while nobody knows. */
  answer: { readonly status: number; readonly body: Answer } | null;
  /** Whether an attempt may have been carried out although nobody said so. */
  isAmbiguous: boolean;
}

/** The members of replies that the verdict looks at. */
export interface Answer {
  readonly journalId?: string;
  readonly results?: readonly { readonly journalId?: string; readonly status?: string }[];
  readonly code?: string;
  readonly status?: string | number;
  readonly holdId?: string | null;
  readonly closeHash?: string;
}

export const callerKeys = ["hot", "warm", "cold", "rare"];

/** Draws one write after the other. Reversals, commits and releases need what was answered to those before. */
export class WriteMaker {
  readonly #ledgerId: string;
  readonly #next: (below: number) => number;
  readonly #reversible: string[] = [];
  readonly #holds: { callerKey: string; holdId: string }[] = [];
  #idCount = 0;
  #closeCount = 0;

  constructor(ledgerId: string, next: (below: number) => number) {
    this.#ledgerId = ledgerId;
    this.#next = next;
  }

  /** Takes in what was answered to a write that succeeded. */
  learn({ kind, callerKey }: Write, { journalId, holdId }: Answer): void {
    if (kind === "entry" && journalId !== undefined) this.#reversible.push(journalId);
    if (kind === "reserve" && callerKey !== null && holdId) this.#holds.push({ callerKey, holdId });
  }

  make(): Write {
    const draw = this.#next(46);
    if (draw === 0) return this.#makeClose();
    if (draw < 4) return this.#makeReversal() ?? this.#makeEntries("bulk", 5);
    if (draw < 7) return this.#makeEntries("bulk", 5);
    if (draw < 18) return this.#makeEntries("entry", 1);
    if (draw < 24) return this.#makeResolution() ?? this.#makeMovement("reserve");
    if (draw >= 40) return this.#makeTransfers(draw < 44 ? 1 : 3);
    return this.#makeMovement(draw < 32 ? "credit" : draw < 36 ? "debit" : "reserve");
  }

  #makeEntries(kind: "entry" | "bulk", count: number): Write {
    const amount = String(1 + this.#next(1_000));
    const ids = Array.from({ length: count }, (_, index) => `${this.#newId()}-${index}`);
    const entries = ids.map((externalId) => ({
      externalId,
      lines: [
        { glAccountCode: "1000", functionalAmount: amount },
        { glAccountCode: "4000", functionalAmount: `-${amount}` },
      ],
    }));
    const target = `/v1/ledgers/${this.#ledgerId}/journal-entries${kind === "bulk" ? "/bulk" : ""}`;
    return made(kind, target, kind === "bulk" ? { entries, atomic: true } : entries[0], {
      ids,
      amount,
    });
  }

  #makeReversal(): Write | null {
    const journalId = this.#reversible.shift();
    if (journalId === undefined) return null;
    const externalId = this.#newId();
    const target = `/v1/ledgers/${this.#ledgerId}/journal-entries/${journalId}/reversal`;
    return made("reversal", target, { externalId }, { ids: [externalId] });
  }

  /** A month of long ago: nothing is refused for it. */
  #makeClose(): Write {
    this.#closeCount += 1;
    const year = 1000 + Math.floor(this.#closeCount / 12);
    const periodId = `${year}-${String(1 + (this.#closeCount % 12)).padStart(2, "0")}`;
    const target = `/v1/ledgers/${this.#ledgerId}/period-closes`;
    return made("close", target, { periodId }, { ids: [periodId] });
  }

  #makeMovement(kind: "credit" | "debit" | "reserve"): Write {
    const callerKey = pick(callerKeys, this.#next);
    const amount = String(1 + this.#next(100));
    const externalId = this.#newId();
    const body = { amount, assetCode: "USD", externalId };
    return made(kind, `${this.#walletPath(callerKey)}/${kind}`, body, {
      ids: [externalId],
      amount,
      callerKey,
    });
  }

  /** From one wallet to others, all of them or none. */
  #makeTransfers(count: number): Write {
    const from = pick(callerKeys, this.#next);
    const amount = String(1 + this.#next(50));
    const ids = Array.from({ length: count }, (_, index) => `${this.#newId()}-${index}`);
    const transfers = ids.map((externalId) => {
      const to = pick(
        callerKeys.filter((callerKey) => callerKey !== from),
        this.#next,
      );
      return { from, to, amount, assetCode: "USD", externalId };
    });
    const target = `/v1/ledgers/${this.#ledgerId}/wallet-transfers`;
    const body = { transfers, atomic: true };
    return made("transfers", target, body, { ids, amount, callerKey: from });
  }

  #makeResolution(): Write | null {
    const hold = this.#holds.shift();
    if (hold === undefined) return null;
    const kind = this.#next(2) === 0 ? "commit" : "release";
    const target = `${this.#walletPath(hold.callerKey)}/holds/${hold.holdId}/${kind}`;
    return made(kind, target, {}, { ids: [hold.holdId], callerKey: hold.callerKey });
  }

  #walletPath(callerKey: string): string {
    return `/v1/wallets/${encodeURIComponent(`${this.#ledgerId}:${callerKey}`)}`;
  }

  #newId(): string {
    this.#idCount += 1;
    return `chaos-${this.#idCount}`;
  }
}

function made(
  kind: WriteKind,
  target: string,
  body: unknown,
  rest: { ids: readonly string[]; amount?: string; callerKey?: string },
): Write {
  return {
    amount: "",
    callerKey: null,
    ...rest,
    kind,
    target,
    body: JSON.stringify(body),
    answer: null,
    isAmbiguous: false,
  };
}
