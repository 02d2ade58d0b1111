// The states of wallets that an attempt may have met: those after what was answered before it was asked for, and before
// what was asked for after it was answered.
import type { WalletReply } from "../../../src/core/wallet.ts";
import type { WalletWriteRow } from "../database/tables.ts";
import type { Attempt } from "../history/attempt.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";

export class WalletMoments {
  readonly #books: FinalBooks;
  readonly #attempts: readonly Attempt[];
  readonly #logs: ReadonlyMap<string, readonly WalletWriteRow[]>;
  /** By tag, of the attempts that have a row. */
  readonly #seqs: ReadonlyMap<string, WalletWriteRow>;

  constructor(books: FinalBooks, attempts: readonly Attempt[]) {
    this.#books = books;
    this.#attempts = attempts;
    this.#logs = groupBy(books.writes, ({ walletId }) => walletId);
    this.#seqs = new Map(books.writes.map((row) => [row.metadata ?? "", row]));
  }

  /** Whether a debit or reservation was once more than was available. */
  mayHaveLacked(attempt: Attempt): boolean {
    const { asked } = attempt;
    if (asked.kind !== "wallet" || !("assetCode" in asked.write)) return false;
    if (asked.write.type === "credit") return false;
    const { amount } = asked.write;
    return this.#rowsMet(attempt).some((row) => {
      const available = row === null ? 0n : row.balance - row.held;
      return available < amount;
    });
  }

  /** Whether a hold had ended otherwise than it was asked to. */
  mayHaveEnded({ asked, answeredAt }: Attempt): boolean {
    if (asked.kind !== "wallet" || !("holdId" in asked.write)) return false;
    const { holdId, type } = asked.write;
    const end = this.#books.writes.find(
      (row) => row.holdId === holdId && ["commit", "release", "expire"].includes(row.type),
    );
    if (end === undefined || end.type === "expire") return end !== undefined;
    const wasAsked = this.#attempts.some(
      (other) =>
        other.asked.kind === "wallet" &&
        "holdId" in other.asked.write &&
        other.asked.write.holdId === holdId &&
        other.asked.write.type === end.type &&
        other.askedAt < answeredAt,
    );
    return end.type !== type && wasAsked;
  }

  /** Whether what is called a duplicate was there: its externalId, or the hold's end. */
  mayHaveBeenThere(attempt: Attempt): boolean {
    const { asked, ledgerId, outcome } = attempt;
    if (asked.kind !== "wallet" || outcome?.kind !== "reply") return false;
    const { write } = asked;
    const reply = outcome.reply as WalletReply;
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
        row.holdId === reply.holdId,
    );
  }

  #walletOf(ledgerId: string, callerKey: string): string | undefined {
    return this.#books.wallets.find(
      (wallet) => wallet.ledgerId === ledgerId && wallet.callerKey === callerKey,
    )?.walletId;
  }

  /** The last rows of the wallet's log at the moments that an attempt may have met; null: it had none yet. */
  #rowsMet(attempt: Attempt): (WalletWriteRow | null)[] {
    const { asked, ledgerId } = attempt;
    if (asked.kind !== "wallet") return [];
    const walletId = this.#walletOf(ledgerId, asked.write.callerKey);
    const log = this.#logs.get(walletId ?? "") ?? [];
    let after = 0;
    let before = log.length + 1;
    for (const other of this.#attempts) {
      const row = this.#seqs.get(other.tag);
      if (row === undefined || row.walletId !== walletId) continue;
      if (other.outcome?.kind === "reply" && other.answeredAt < attempt.askedAt) {
        after = Math.max(after, row.seq);
      }
      if (other.askedAt > attempt.answeredAt) before = Math.min(before, row.seq);
    }
    const met: (WalletWriteRow | null)[] = [];
    for (let seq = after; seq < before; seq += 1) met.push(log[seq - 1] ?? null);
    return met;
  }
}
