// What a client asked a server for, once, and what it was answered.
import type { CloseRecord } from "../../../src/core/close.ts";
import type { Refusal } from "../../../src/core/errors.ts";
import type { EntryDraft, ReversalDraft } from "../../../src/core/journal.ts";
import type { TransferReply, WalletTransfer } from "../../../src/core/wallet-transfer.ts";
import type { WalletReply, WalletWrite } from "../../../src/core/wallet.ts";
import type { WriteResult } from "../../../src/engine/journal.ts";
import type { Request } from "./plan.ts";

/** What is asked for, as the engine is. */
export type Asked =
  | { readonly kind: "entries"; readonly drafts: readonly EntryDraft[] }
  | { readonly kind: "reversal"; readonly draft: ReversalDraft }
  | { readonly kind: "wallet"; readonly write: WalletWrite }
  /** Several are asked for atomically. */
  | { readonly kind: "transfers"; readonly transfers: readonly WalletTransfer[] }
  | { readonly kind: "close"; readonly periodId: string }
  | { readonly kind: "other"; readonly request: Request };

export type Reply =
  readonly WriteResult[] | readonly TransferReply[] | WalletReply | CloseRecord | null;

export type Outcome =
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "refusal"; readonly refusal: Refusal }
  | { readonly kind: "error"; readonly error: unknown };

export interface Attempt {
  readonly stepId: number;
  /** Written with what it asks for, so that it is known again in the database. */
  readonly tag: string;
  readonly server: number;
  /** Of the servers that were started so far at this place. */
  readonly incarnation: object;
  readonly ledgerId: string;
  readonly asked: Asked;
  /** Places in the one order of everything that clients see. */
  readonly askedAt: number;
  answeredAt: number;
  /** Null while, and where, it is never answered. */
  outcome: Outcome | null;
}

/** The refusal that an attempt was answered, if it was. */
export function refusalOf({ outcome }: Attempt): Refusal | null {
  return outcome?.kind === "refusal" ? outcome.refusal : null;
}

/** Whether it is settled what became of an attempt. */
export function isSettled(attempt: Attempt): boolean {
  if (attempt.outcome === null) return false;
  const problem = refusalOf(attempt)?.problem;
  return problem !== "outcomeUnknown" && problem !== "unavailable";
}
