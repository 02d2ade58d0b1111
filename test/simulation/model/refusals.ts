// Nothing refused wrongly, nothing accepted that had to be refused: every refusal, and every "duplicate", was right at
// some moment between its question and its answer.
import type { ProblemName, Refusal } from "../../../src/core/errors.ts";
import type { WalletReply } from "../../../src/core/wallet.ts";
import { refusalOf, type Asked, type Attempt } from "../history/attempt.ts";
import type { Request } from "../history/plan.ts";
import type { FinalBooks } from "./final-books.ts";
import {
  areRightDuplicates,
  isRightTransferRefusal,
  mayHaveExceeded,
  wereMade,
} from "./transfer-answers.ts";
import { shown, type Violations } from "./violation.ts";
import { WalletMoments } from "./wallet-moments.ts";

/** What answers are judged by. */
export interface Context {
  readonly books: FinalBooks;
  readonly attempts: readonly Attempt[];
  readonly moments: WalletMoments;
}

export function checkRefusals(
  violations: Violations,
  books: FinalBooks,
  attempts: readonly Attempt[],
): void {
  const context = { books, attempts, moments: new WalletMoments(books, attempts) };
  for (const attempt of attempts) {
    const tell = () => shown({ ...attempt, incarnation: undefined });
    const refusal = refusalOf(attempt);
    if (refusal !== null) {
      const isRight = isRightRefusal(attempt, refusal, context);
      violations.expect(isRight, `refused wrongly: ${refusal.problem}`, tell);
      const isTold = isOfDuplicate(refusal.problem) || !wasRecorded(attempt, context);
      violations.expect(isTold, "duplicate not told", tell);
    } else if (attempt.outcome?.kind === "reply") {
      checkAccepted(violations, attempt, context, tell);
    }
  }
}

function isRightRefusal(attempt: Attempt, refusal: Refusal, context: Context): boolean {
  const { books, moments } = context;
  const { asked, ledgerId } = attempt;
  const problem: ProblemName = refusal.problem;
  if (asked.kind === "transfers" && problem !== "ledgerSuspended") {
    return isRightTransferRefusal(attempt, asked.transfers, refusal, context);
  }
  switch (problem) {
    case "unavailable":
    case "outcomeUnknown":
      return true;
    case "duplicateEntry": {
      const { journalId, persistedAt } = refusal.members;
      const entry = books.entries.find((each) => each.journalId === journalId);
      const isOwn = entry?.description?.split(".")[0] === attempt.tag;
      return entry?.persistedAt === persistedAt && !isOwn && usesKeyOf(attempt, entry?.externalId);
    }
    case "alreadyReversed": {
      const { reversalJournalId } = refusal.members;
      const reversal = books.entries.find((each) => each.journalId === reversalJournalId);
      return asked.kind === "reversal" && reversal?.reversesJournalId === asked.draft.entryId;
    }
    case "periodClosed": {
      const { closeId } = refusal.members;
      return books.closes.some((close) => close.closeId === closeId);
    }
    case "ledgerSuspended":
      return mayHaveBeen(context, attempt, isStatus(ledgerId, "suspended"));
    case "validation":
      return isRightValidation(attempt, context);
    case "insufficientFunds":
      return moments.mayHaveLacked(attempt);
    case "holdResolved":
      return moments.mayHaveEnded(attempt);
    case "walletFrozen":
      return asked.kind === "wallet" && moments.mayHaveBeenFrozen(attempt, asked.write.callerKey);
    case "limitExceeded":
      return asked.kind === "wallet" && mayHaveExceeded(attempt, asked.write, context);
    case "walletNotFound":
      return (
        asked.kind === "wallet" &&
        moments.mayHaveMet(attempt, asked.write.callerKey, (log) => log.length === 0)
      );
    case "periodOutOfOrder":
      return context.attempts.some(({ asked }) => asked.kind !== "close");
    default:
      return false;
  }
}

/** Whether an answer says that it was recorded before, or leaves open whether it was. */
function isOfDuplicate(problem: ProblemName): boolean {
  return [
    ...["duplicateEntry", "unavailable", "outcomeUnknown", "alreadyReversed"],
    "partlyDuplicate",
  ].includes(problem);
}

/** Whether the same had been accepted before it was asked for. */
function wasRecorded({ asked, askedAt, ledgerId }: Attempt, { attempts }: Context): boolean {
  const keys = keysOf(asked);
  return attempts.some(
    (other) =>
      other.outcome?.kind === "reply" &&
      other.answeredAt < askedAt &&
      other.ledgerId === ledgerId &&
      keysOf(other.asked).some((key) => keys.includes(key)),
  );
}

/** The idempotency keys that something has. */
function keysOf(asked: Asked): string[] {
  switch (asked.kind) {
    case "entries":
      return asked.drafts.flatMap(({ externalId }) => externalId ?? []);
    case "reversal":
      return asked.draft.externalId === null ? [] : [asked.draft.externalId];
    case "wallet": {
      const { write } = asked;
      if ("holdId" in write) return [`${write.type} ${String(write.holdId)}`];
      if (!("externalId" in write) || write.externalId === null) return [];
      return [`${write.callerKey} ${write.externalId}`];
    }
    case "transfers":
      return asked.transfers.flatMap(({ from, externalId }) =>
        externalId === null ? [] : [`${from} ${externalId}`],
      );
    case "close":
    case "other":
      return [];
  }
}

function usesKeyOf({ asked }: Attempt, externalId: string | null | undefined): boolean {
  if (asked.kind === "reversal") return asked.draft.externalId === externalId;
  return asked.kind === "entries" && asked.drafts.some((each) => each.externalId === externalId);
}

/** An inactive account, or an amount of another asset than the wallet's. */
function isRightValidation(attempt: Attempt, context: Context): boolean {
  const { asked, ledgerId } = attempt;
  if (asked.kind === "entries") {
    const codes = asked.drafts.flatMap(({ lines }) => lines.map((line) => line.glAccountCode));
    return codes.some((code) => mayHaveBeen(context, attempt, isActivity(ledgerId, code, false)));
  }
  if (asked.kind === "close") return true;
  if (asked.kind !== "wallet" || !("assetCode" in asked.write)) return false;
  const { callerKey, assetCode } = asked.write;
  return context.books.wallets.some(
    (wallet) =>
      wallet.ledgerId === ledgerId &&
      wallet.callerKey === callerKey &&
      wallet.assetCode !== assetCode,
  );
}

type Condition = (request: Request, ledgerId: string) => boolean;

const isStatus =
  (ledgerId: string, status: string): Condition =>
  (request, of) =>
    of === ledgerId && request.kind === "status" && request.status === status;

const isActivity =
  (ledgerId: string, code: string, active: boolean): Condition =>
  (request, of) =>
    of === ledgerId &&
    request.kind === "account" &&
    request.code === code &&
    request.active === active;

/** Whether somebody had asked for something by the time that an attempt was answered. */
function mayHaveBeen({ attempts }: Context, attempt: Attempt, condition: Condition): boolean {
  return attempts.some(
    ({ asked, ledgerId, askedAt }) =>
      asked.kind === "other" && askedAt < attempt.answeredAt && condition(asked.request, ledgerId),
  );
}

/**
 * Whether something was certainly so while an attempt was made: it had been done before, and nobody had asked for the
 * opposite since.
 */
function certainlyWas(
  { attempts }: Context,
  attempt: Attempt,
  condition: Condition,
  opposite: Condition,
): boolean {
  const asks = (is: Condition, each: Attempt) =>
    each.asked.kind === "other" && is(each.asked.request, each.ledgerId);
  return attempts.some(
    (done) =>
      done.outcome?.kind === "reply" &&
      done.answeredAt < attempt.askedAt &&
      asks(condition, done) &&
      !attempts.some(
        (undone) =>
          asks(opposite, undone) &&
          undone.answeredAt > done.askedAt &&
          undone.askedAt < attempt.answeredAt,
      ),
  );
}

/** What was accepted, and the duplicates among it. */
function checkAccepted(
  violations: Violations,
  attempt: Attempt,
  context: Context,
  tell: () => string,
): void {
  const { asked, ledgerId, outcome } = attempt;
  if (asked.kind === "other" || asked.kind === "close" || outcome?.kind !== "reply") return;
  if (asked.kind === "wallet") {
    const reply = outcome.reply as WalletReply;
    const isRight = reply.status === "accepted" || context.moments.mayHaveBeenThere(attempt);
    violations.expect(isRight, "duplicate of nothing", tell);
    if (reply.status === "duplicate") return;
  }
  if (asked.kind === "transfers" && !wereMade(attempt)) {
    const areRight = areRightDuplicates(attempt, asked.transfers, context.books);
    violations.expect(areRight, "duplicate of nothing", tell);
    return;
  }
  const wasSuspended = certainlyWas(
    context,
    attempt,
    isStatus(ledgerId, "suspended"),
    isStatus(ledgerId, "active"),
  );
  violations.expect(!wasSuspended, "accepted by a suspended ledger", tell);
  if (asked.kind !== "entries") return;
  const codes = asked.drafts.flatMap(({ lines }) => lines.map((line) => line.glAccountCode));
  const wasInactive = codes.some((code) =>
    certainlyWas(
      context,
      attempt,
      isActivity(ledgerId, code, false),
      isActivity(ledgerId, code, true),
    ),
  );
  violations.expect(!wasInactive, "accepted on an inactive account", tell);
}
