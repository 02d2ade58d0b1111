// The states of wallets that an attempt may have met: those after what was answered before it was asked for, and before
// what was asked for after it was answered.
import type { WalletReply } from "../../../src/core/wallet.ts";
import type { WalletTransfer } from "../../../src/core/wallet-transfer.ts";
import type { WalletWriteRow } from "../database/tables.ts";
import type { Asked, Attempt } from "../history/attempt.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";

export class WalletMoments {
  readonly #books: FinalBooks;
  readonly #attempts: readonly Attempt[];
  readonly #logs: ReadonlyMap<string, readonly WalletWriteRow[]>;
  /** By tag, of the attempts that have rows: several of transfers. */
  readonly #rows: ReadonlyMap<string, readonly WalletWriteRow[]>;

  constructor(books: FinalBooks, attempts: readonly Attempt[]) {
    this.#books = books;
    this.#attempts = attempts;
    this.#logs = groupBy(books.writes, ({ walletId }) => walletId);
    this.#rows = groupBy(books.writes, ({ metadata }) => metadata?.split(".")[0] ?? "");
  }

  /** Whether a debit or reservation was once more than was available. */
  mayHaveLacked(attempt: Attempt): boolean {
    const { asked } = attempt;
    if (asked.kind !== "wallet" || !("assetCode" in asked.write)) return false;
    if (asked.write.type === "credit") return false;
    const { amount, callerKey } = asked.write;
    return this.mayHaveMet(attempt, callerKey, ([row]) => availableIn(row) < amount);
  }

  /** Whether a transfer was once of more than was available in the wallet that pays. */
  mayHaveLackedFor(attempt: Attempt, { from, amount }: WalletTransfer): boolean {
    return this.mayHaveMet(attempt, from, ([row]) => availableIn(row) < amount);
  }

  /** Whether a wallet was frozen once. */
  mayHaveBeenFrozen(attempt: Attempt, callerKey: string): boolean {
    return this.mayHaveMet(attempt, callerKey, (log) => {
      const last = log.find(({ type }) => type === "freeze" || type === "unfreeze");
      return last?.type === "freeze";
    });
  }

  /** Whether a condition holds for a wallet's log, the last row first, at a moment that an attempt may have met. */
  mayHaveMet(
    attempt: Attempt,
    callerKey: string,
    condition: (log: readonly WalletWriteRow[]) => boolean,
  ): boolean {
    const walletId = this.#walletOf(attempt.ledgerId, callerKey);
    const log = this.#logs.get(walletId ?? "") ?? [];
    let after = 0;
    let before = log.length + 1;
    for (const other of this.#attempts) {
      for (const row of this.#rows.get(other.tag) ?? []) {
        if (row.walletId !== walletId) continue;
        if (other.outcome?.kind === "reply" && other.answeredAt < attempt.askedAt) {
          after = Math.max(after, row.seq);
        }
        if (other.askedAt > attempt.answeredAt) before = Math.min(before, row.seq);
      }
    }
    for (let seq = after; seq < before; seq += 1) {
      if (condition(log.slice(0, seq).reverse())) return true;
    }
    return false;
  }

  /** Whether a hold had ended otherwise than it was asked to. */
  mayHaveEnded({ asked, answeredAt }: Attempt): boolean {
    return holdEnds(asked).some(({ holdId, type }) => {
      const end = this.#books.writes.find(
        (row) => row.holdId === holdId && endTypes.includes(row.type),
      );
      if (end === undefined || end.type === "expire") return end !== undefined;
      const wasAsked = this.#attempts.some(
        (other) =>
          other.askedAt < answeredAt &&
          holdEnds(other.asked).some((each) => each.holdId === holdId && each.type === end.type),
      );
      // A transfer is no repetition of another one.
      return (end.type !== type || type === "transfer-out") && wasAsked;
    });
  }

  /** Whether what is called a duplicate was there: its externalId, or the hold's end. */
  mayHaveBeenThere(attempt: Attempt): boolean {
    const { asked, ledgerId, outcome } = attempt;
    if (asked.kind !== "wallet" || outcome?.kind !== "reply") return false;
    const { write } = asked;
    const reply = outcome.reply as WalletReply;
    if (!("metadata" in write) && !("holdId" in write)) {
      const isFreeze = write.type === "freeze";
      // Nothing has ever frozen what is said to be unfrozen already, or something has ended that.
      return !isFreeze || this.mayHaveBeenFrozen(attempt, write.callerKey);
    }
    if ("holdId" in write) {
      return this.#books.writes.some(
        (row) => row.holdId === write.holdId && row.type === write.type,
      );
    }
    const walletId = this.#walletOf(ledgerId, write.callerKey);
    return this.#books.writes.some(
      (row) =>
        row.walletId === walletId &&
        row.externalId === write.externalId &&
        (row.type === "reserve" ? row.holdId : null) === reply.holdId,
    );
  }

  #walletOf(ledgerId: string, callerKey: string): string | undefined {
    return this.#books.wallets.find(
      (wallet) => wallet.ledgerId === ledgerId && wallet.callerKey === callerKey,
    )?.walletId;
  }
}

const endTypes: readonly string[] = ["commit", "release", "expire", "transfer-out"];

/** The holds that something asks to end, and by which rows. */
function holdEnds(asked: Asked): { readonly holdId: string | null; readonly type: string }[] {
  if (asked.kind === "wallet" && "holdId" in asked.write) return [asked.write];
  if (asked.kind !== "transfers") return [];
  return asked.transfers.flatMap(({ fromHold }) =>
    fromHold === null ? [] : [{ holdId: fromHold.holdId, type: "transfer-out" }],
  );
}

function availableIn(row: WalletWriteRow | undefined): bigint {
  return row === undefined ? 0n : row.balance - row.held;
}
