// What a planned request asks the engine for, once it is known what came of the steps that it names.
import type { EntryDraft, Line } from "../../../src/core/journal.ts";
import type { LedgerIdentity } from "../../../src/core/ledger.ts";
import { timestampFromEpochMs, type Timestamp } from "../../../src/core/time.ts";
import type { WalletTransfer } from "../../../src/core/wallet-transfer.ts";
import type { WalletReply, WalletWrite } from "../../../src/core/wallet.ts";
import type { WriteResult } from "../../../src/engine/journal.ts";
import { startEpochMs } from "../world/simulated-time.ts";
import type { Asked, Attempt } from "./attempt.ts";
import type { PlannedTransfer, Request } from "./plan.ts";

const dayMs = 24 * 60 * 60 * 1_000;

type Entries = Extract<Request, { kind: "entries" }>["entries"];

/** Null where what it names has not come about. */
export function askedOf(
  request: Exclude<Request, { kind: "again" }>,
  tag: string,
  ledger: LedgerIdentity,
  attempts: readonly Attempt[],
): Asked | null {
  switch (request.kind) {
    case "entries":
      return { kind: "entries", drafts: draftsOf(request.entries, tag, ledger) };
    case "reversal": {
      const [original] = (replyTo(request.of, attempts) ?? []) as readonly WriteResult[];
      if (original === undefined) return null;
      const draft = {
        entryId: original.journalId,
        externalId: request.externalId,
        description: tag,
        metadata: {},
        transactionDate: null,
      };
      return { kind: "reversal", draft };
    }
    case "movement":
      return { kind: "wallet", write: movementOf(request, tag) };
    case "resolution":
      return resolutionOf(request, attempts);
    case "transfers":
      return transfersOf(request.transfers, tag, attempts);
    case "control": {
      const { type, callerKey } = request;
      return { kind: "wallet", write: { type, callerKey } };
    }
    case "close":
      return { kind: "close", periodId: request.periodId };
    case "post":
    case "account":
    case "status":
    case "limits":
      return { kind: "other", request };
  }
}

/** The same once more, known by another tag. */
export function askedAgain(asked: Asked, tag: string): Asked {
  switch (asked.kind) {
    case "entries":
      return {
        kind: "entries",
        drafts: asked.drafts.map((draft, index) => ({ ...draft, description: `${tag}.${index}` })),
      };
    case "reversal":
      return { kind: "reversal", draft: { ...asked.draft, description: tag } };
    case "wallet": {
      const { write } = asked;
      return { kind: "wallet", write: "metadata" in write ? { ...write, metadata: tag } : write };
    }
    case "transfers":
      return {
        kind: "transfers",
        transfers: asked.transfers.map((transfer, index) => ({
          ...transfer,
          metadata: `${tag}.${index}`,
        })),
      };
    case "close":
    case "other":
      return asked;
  }
}

/** What the first attempt of a step was answered that was accepted. */
function replyTo(stepId: number, attempts: readonly Attempt[]): unknown {
  for (const { stepId: id, outcome } of attempts) {
    if (id === stepId && outcome?.kind === "reply") return outcome.reply;
  }
  return null;
}

function draftsOf(entries: Entries, tag: string, ledger: LedgerIdentity): EntryDraft[] {
  return entries.map(({ debit, credit, amount, externalId, daysAgo }, index) => ({
    externalId,
    originSystem: null,
    originAccount: null,
    eventType: null,
    description: `${tag}.${index}`,
    metadata: {},
    entryType: "STANDARD",
    transactionDate: daysAgo === null ? null : dayBefore(daysAgo),
    lines: [line(debit, BigInt(amount), ledger), line(credit, -BigInt(amount), ledger)],
  }));
}

function dayBefore(days: number): Timestamp {
  return timestampFromEpochMs(startEpochMs - days * dayMs) as Timestamp;
}

function line(glAccountCode: string, amount: bigint, { functionalCurrency }: LedgerIdentity): Line {
  return {
    glAccountCode,
    description: null,
    transactionAmount: amount,
    transactionCurrency: functionalCurrency,
    functionalAmount: amount,
    functionalCurrency,
    spotRate: null,
  };
}

function movementOf(request: Extract<Request, { kind: "movement" }>, tag: string): WalletWrite {
  const { type, callerKey, assetCode, externalId, expiresInSeconds } = request;
  const common = {
    callerKey,
    assetCode,
    externalId,
    amount: BigInt(request.amount),
    metadata: tag,
  };
  return type === "reserve" ? { ...common, type, expiresInSeconds } : { ...common, type };
}

/** The hold that a step made; null where it was not accepted, or as a duplicate of what was no reservation. */
function holdOf(
  stepId: number,
  attempts: readonly Attempt[],
): { readonly callerKey: string; readonly holdId: string } | null {
  const reserved = attempts.find((attempt) => attempt.stepId === stepId);
  const reply = replyTo(stepId, attempts) as WalletReply | null;
  if (reserved?.asked.kind !== "wallet" || reply === null) return null;
  const { holdId } = reply;
  return holdId === null ? null : { callerKey: reserved.asked.write.callerKey, holdId };
}

function transfersOf(
  planned: readonly PlannedTransfer[],
  tag: string,
  attempts: readonly Attempt[],
): Asked | null {
  const transfers = planned.map((transfer, index): WalletTransfer | null => {
    const { from, to, assetCode, externalId } = transfer;
    const hold = transfer.holdOf === null ? null : holdOf(transfer.holdOf, attempts);
    if (transfer.holdOf !== null && hold?.callerKey !== from) return null;
    return {
      ...{ type: "transfer", from, to, assetCode, externalId },
      amount: BigInt(transfer.amount),
      metadata: `${tag}.${index}`,
      fromHold: hold === null ? null : { holdId: hold.holdId },
    };
  });
  const made = transfers.filter((transfer) => transfer !== null);
  return made.length < transfers.length ? null : { kind: "transfers", transfers: made };
}

function resolutionOf(
  request: Extract<Request, { kind: "resolution" }>,
  attempts: readonly Attempt[],
): Asked | null {
  const hold = holdOf(request.of, attempts);
  if (hold === null) return null;
  const { callerKey, holdId } = hold;
  const write: WalletWrite =
    request.type === "commit"
      ? { type: "commit", callerKey, holdId, amount: null }
      : { type: "release", callerKey, holdId };
  return { kind: "wallet", write };
}
