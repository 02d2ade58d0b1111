// What transfers were answered: every refusal, and every "duplicate", was right at some moment between question and answer.
import type { Refusal } from "../../../src/core/errors.ts";
import type { TransferReply, WalletTransfer } from "../../../src/core/wallet-transfer.ts";
import type { WalletWrite } from "../../../src/core/wallet.ts";
import type { Attempt } from "../history/attempt.ts";
import type { FinalBooks } from "./final-books.ts";
import type { Context } from "./refusals.ts";
import { debitedOn, walletOf } from "./wallet-limits.ts";

/** Whether transfers that were answered were made; else they were duplicates. */
export function wereMade({ outcome }: Attempt): boolean {
  if (outcome?.kind !== "reply") return false;
  return (outcome.reply as readonly TransferReply[]).some(({ status }) => status === "accepted");
}

/** Each is of a write that has its externalId in the wallet that pays, and bears that one's transferId. */
export function areRightDuplicates(
  { ledgerId, outcome }: Attempt,
  transfers: readonly WalletTransfer[],
  books: FinalBooks,
): boolean {
  if (outcome?.kind !== "reply") return false;
  const replies = outcome.reply as readonly TransferReply[];
  return transfers.every(({ from, externalId }, index) => {
    const first = firstUse(books, ledgerId, from, externalId);
    const reply = replies[index];
    return reply?.status === "duplicate" && first?.transferId === reply.transferId;
  });
}

/** The row of a wallet's log that has an externalId. */
export function firstUse(
  books: FinalBooks,
  ledgerId: string,
  callerKey: string,
  externalId: string | null,
) {
  const walletId = walletOf(books, ledgerId, callerKey)?.walletId;
  return externalId === null
    ? undefined
    : books.writes.find((row) => row.walletId === walletId && row.externalId === externalId);
}

export function isRightTransferRefusal(
  attempt: Attempt,
  transfers: readonly WalletTransfer[],
  refusal: Refusal,
  context: Context,
): boolean {
  const { books, moments } = context;
  const [fault] = refusal.faults;
  const isPlaced = transfers.length > 1 && fault !== undefined && "path" in fault;
  const place = isPlaced ? fault.path[1] : 0;
  const transfer = transfers[Number(place)];
  if (["unavailable", "outcomeUnknown"].includes(refusal.problem)) return true;
  if (transfer === undefined) return false;
  // Those before it in an atomic bulk were made for as long as it took to find that this one could not be.
  const isFirst = !transfers
    .slice(0, Number(place))
    .some(({ from, to }) => [from, to].some((key) => [transfer.from, transfer.to].includes(key)));
  switch (refusal.problem) {
    case "partlyDuplicate":
      return transfers.some(
        ({ from, externalId }) => firstUse(books, attempt.ledgerId, from, externalId) !== undefined,
      );
    case "insufficientFunds":
      return !isFirst || moments.mayHaveLackedFor(attempt, transfer);
    case "walletFrozen":
      return moments.mayHaveBeenFrozen(attempt, transfer.from);
    case "limitExceeded":
      return !isFirst || mayHaveExceeded(attempt, transfer, context);
    case "holdResolved":
      return moments.mayHaveEnded(attempt);
    case "validation":
      return (
        isOfAnotherAsset(attempt, transfer, transfers, books) || isMoreThanHeld(transfer, books)
      );
    default:
      return false;
  }
}

/** Whether a wallet has another asset than a transfer; an atomic bulk that was refused may have made it for a while. */
function isOfAnotherAsset(
  { ledgerId }: Attempt,
  { from, to, assetCode }: WalletTransfer,
  transfers: readonly WalletTransfer[],
  books: FinalBooks,
): boolean {
  return [from, to].some((callerKey) => {
    const wallet = walletOf(books, ledgerId, callerKey);
    const isOther = wallet !== undefined && wallet.assetCode !== assetCode;
    return (
      isOther || transfers.some((each) => each.to === callerKey && each.assetCode !== assetCode)
    );
  });
}

function isMoreThanHeld({ amount, fromHold }: WalletTransfer, { holds }: FinalBooks): boolean {
  const hold = holds.find(({ holdId }) => holdId === fromHold?.holdId);
  return hold !== undefined && amount > hold.amount;
}

/** Whether a write would have exceeded a limit that somebody had asked for by the time that it was answered. */
export function mayHaveExceeded(
  attempt: Attempt,
  write: WalletWrite | WalletTransfer,
  { attempts, books, moments }: Context,
): boolean {
  const { amount, debited, credited } = movedBy(write, books);
  return attempts.some(({ asked, askedAt, ledgerId }) => {
    if (asked.kind !== "other" || asked.request.kind !== "limits") return false;
    if (ledgerId !== attempt.ledgerId || askedAt > attempt.answeredAt) return false;
    const { maxBalance, dailyDebitMax } = asked.request;
    const isTooMuch =
      credited !== null &&
      maxBalance !== null &&
      moments.mayHaveMet(
        attempt,
        credited,
        ([row]) => (row?.balance ?? 0n) + amount > BigInt(maxBalance),
      );
    return (
      isTooMuch ||
      (debited !== null &&
        dailyDebitMax !== null &&
        moments.mayHaveMet(
          attempt,
          debited,
          (log) => debitedOn(log, log[0]?.at ?? "") + amount > BigInt(dailyDebitMax),
        ))
    );
  });
}

/** What a write moves, out of which wallet, and into which. */
function movedBy(
  write: WalletWrite | WalletTransfer,
  { holds }: FinalBooks,
): { readonly amount: bigint; readonly debited: string | null; readonly credited: string | null } {
  if (write.type === "transfer") {
    return { amount: write.amount, debited: write.from, credited: write.to };
  }
  const { callerKey, type } = write;
  if (type === "credit") return { amount: write.amount, debited: null, credited: callerKey };
  if (type === "debit") return { amount: write.amount, debited: callerKey, credited: null };
  const isCommit = type === "commit";
  const held = isCommit ? holds.find(({ holdId }) => holdId === write.holdId)?.amount : undefined;
  return { amount: held ?? 0n, debited: isCommit ? callerKey : null, credited: null };
}
