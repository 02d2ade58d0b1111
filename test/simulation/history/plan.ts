// A history before it happens: what clients ask for, when, and what goes wrong. A plan is plain data, so that it can be
// printed, cut down and run again.
import type { MovementType } from "../../../src/core/wallet.ts";
import type { LedgerStatus } from "../../../src/core/ledger.ts";
import type { Moment } from "../database/cluster.ts";
import type { Break } from "../database/link.ts";

export interface Setup {
  readonly servers: number;
  readonly ledgers: number;
  /** Whether COMMIT waits for a standby. */
  readonly hasStandby: boolean;
  readonly closesInOrder: boolean;
  /** Connections of each server for writes. */
  readonly connectionsMax: number;
  readonly batchItemsMax: number;
  /** How often servers look for what others wrote, for those who read streams; null: nobody does. */
  readonly pollIntervalMs: number | null;
  /** How long a message travels at most. */
  readonly delayMsMax: number;
}

interface OnLedger {
  readonly server: number;
  readonly ledger: number;
}

interface PlannedLine {
  readonly debit: string;
  readonly credit: string;
  readonly amount: number;
  readonly externalId: string | null;
  /** Days before the start of the history; null: the moment at which it is persisted. */
  readonly daysAgo: number | null;
}

export interface PlannedTransfer {
  readonly from: string;
  readonly to: string;
  readonly assetCode: string;
  readonly amount: number;
  readonly externalId: string | null;
  /** The step that made the hold that it comes out of; null: out of what is available. */
  readonly holdOf: number | null;
}

/** What a client asks a server for. `of` names an earlier step. */
export type Request =
  | (OnLedger & { readonly kind: "entries"; readonly entries: readonly PlannedLine[] })
  | (OnLedger & {
      readonly kind: "reversal";
      readonly of: number;
      readonly externalId: string | null;
    })
  | (OnLedger & {
      readonly kind: "movement";
      readonly type: MovementType | "reserve";
      readonly callerKey: string;
      readonly assetCode: string;
      readonly amount: number;
      readonly externalId: string | null;
      readonly expiresInSeconds: number | null;
    })
  | (OnLedger & {
      readonly kind: "resolution";
      readonly type: "commit" | "release";
      readonly of: number;
    })
  /** Several are made atomically. */
  | (OnLedger & { readonly kind: "transfers"; readonly transfers: readonly PlannedTransfer[] })
  | (OnLedger & {
      readonly kind: "control";
      readonly type: "freeze" | "unfreeze";
      readonly callerKey: string;
    })
  | (OnLedger & {
      readonly kind: "limits";
      readonly assetCode: string;
      readonly maxBalance: number | null;
      readonly dailyDebitMax: number | null;
    })
  /** The same once more, with the same externalId, to whichever server. */
  | { readonly kind: "again"; readonly of: number; readonly server: number }
  | (OnLedger & { readonly kind: "close"; readonly periodId: string })
  | { readonly kind: "post"; readonly server: number }
  | (OnLedger & { readonly kind: "account"; readonly code: string; readonly active: boolean })
  | (OnLedger & { readonly kind: "status"; readonly status: LedgerStatus });

export interface Step {
  readonly id: number;
  readonly atMs: number;
  readonly request: Request;
}

/** What goes wrong with the session whose moment it is, or with all around it. */
export type Trouble =
  | { readonly kind: "break"; readonly how: Break }
  /** What is sent from now on, to the database or to the client, is kept back for a while. */
  | { readonly kind: "stall"; readonly end: "database" | "client"; readonly ms: number }
  /** COMMIT takes the database long; its client may lose the connection meanwhile. */
  | { readonly kind: "slowCommit"; readonly ms: number; readonly isCut: boolean }
  | { readonly kind: "error"; readonly code: string }
  | { readonly kind: "terminate" }
  /**
   * A COMMIT stays on the primary: the standby is away, its wait for that ends, and later the standby takes over. Null:
   * it does not take over, but comes back.
   */
  | {
      readonly kind: "strandCommit";
      readonly how: "terminate" | "cancel" | "crash";
      readonly afterMs: number;
      readonly failOverAfterMs: number | null;
    }
  | { readonly kind: "crashDatabase"; readonly downMs: number }
  | { readonly kind: "failOver"; readonly downMs: number }
  | { readonly kind: "killServer"; readonly isSilent: boolean; readonly downMs: number }
  | { readonly kind: "stopStandby"; readonly ms: number }
  | { readonly kind: "stepClock"; readonly ms: number };

export interface Fault {
  readonly moment: Moment;
  /** At the how manyth such moment of the history. */
  readonly nth: number;
  readonly trouble: Trouble;
}

/** An externalId that the database fails on, whenever it meets it. */
export const poison = "poison";

export interface Plan {
  readonly seed: number;
  readonly setup: Setup;
  readonly steps: readonly Step[];
  readonly faults: readonly Fault[];
}
