// Makes checkpoints: extends the tree of a log by the leaves that came since, and signs its root, under the log's lock, so
// that however many servers run, no two of its checkpoints contradict each other.
import { formatCheckpoint } from "../../core/checkpoint.ts";
import { logKinds, type LogIdentity, type LogKind } from "../../core/log-origin.ts";
import { CompactRange, type Hash } from "../../core/merkle.ts";
import { formatSignatureLine, formatVerifierKey } from "../../core/note.ts";
import type { Connection } from "../../store/database/connection.ts";
import type { Pool } from "../../store/database/pool.ts";
import { readClock } from "../../store/journal-heads.ts";
import { findNewestCheckpoint, insertCheckpoint } from "../../store/log-checkpoints.ts";
import {
  countLogLeaves,
  findLogState,
  insertLogHead,
  insertLogSubtrees,
  listUnsignedCloses,
  listUnsignedJournals,
  readDatabaseIdentity,
  storedLevelMin,
  tryLockLogHead,
  updateLogSigned,
  updateLogTree,
  upsertLogState,
  type LogHead,
  type LogState,
  type LogSubtree,
} from "../../store/logs.ts";
import { addMs, type Timestamp } from "../../core/time.ts";
import { forEachLedger } from "../each-ledger.ts";
import { repeat } from "../repeat.ts";
import { haltLog } from "./halted-logs.ts";
import { databaseFault, settingsFault, signersOf, type LogSettings } from "./log-signing.ts";
import {
  requireKeptCheckpoint,
  UnknownCheckpoint,
  type SignedCheckpoints,
} from "./kept-checkpoint.ts";
import { readLogLeaves } from "./log-tree.ts";

/** Of one transaction: what bounds how long its hashing keeps other requests of this process waiting. */
const leavesPerPiece = 4_096;
/** How often servers look for logs to sign, in parts of the interval, and at most. */
const looksPerInterval = 6;
const lookIntervalMsMax = 10_000;

export interface CheckpointMakerOptions extends LogSettings {
  /** How old a journal's newest checkpoint gets before there is another. */
  readonly intervalMs: number;
  /** Where the log key is in a file. */
  readonly signedCheckpoints: SignedCheckpoints | null;
  /** Whether COMMITs wait for a standby without end, so that none may be added; unless given, never. */
  readonly areCommitsHalted?: () => boolean;
  /** A checkpoint was made. */
  readonly onCheckpoint?: (identity: LogIdentity) => void;
  /** A log signs nothing from now on, until an operator resumes it. */
  readonly onHalt: (identity: LogIdentity, reason: string) => void;
  /** This server does not sign a log which others may sign: its name or key is another one. */
  readonly onWrongSettings: (identity: LogIdentity, reason: string) => void;
  readonly onFailure: (error: unknown) => void;
  /** A round in which nothing failed. */
  readonly onSuccess?: () => void;
}

type Outcome =
  /** Nothing to sign, or somebody else signs it. */
  | { readonly kind: "none" }
  /** The tree has grown, and has to grow further first. */
  | { readonly kind: "extended" }
  | { readonly kind: "signed"; readonly identity: LogIdentity }
  | {
      readonly kind: "halted" | "wrongSettings";
      readonly identity: LogIdentity;
      readonly reason: string;
    };

/** What was read of a log under its lock. */
interface LockedLog {
  readonly head: LogHead;
  readonly state: LogState | null;
  readonly leafCount: number;
  readonly now: Timestamp;
}

/** A log is halted for this reason: thrown within a transaction, which it undoes. */
class Halt extends Error {}

export class CheckpointMaker {
  readonly #pool: Pool;
  readonly #options: CheckpointMakerOptions;
  #end: () => Promise<void> = async () => undefined;
  #isStopped = false;
  /** The last attempt at each log that is being signed, by the log's name. */
  readonly #running = new Map<string, Promise<void>>();
  /** Since the start: checkpoints made, and attempts that failed. */
  readonly counts = { checkpoints: 0, failures: 0 };

  /** `pool` must let a statement take seconds. */
  constructor(pool: Pool, options: CheckpointMakerOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Begins to look for logs to sign. */
  start(): void {
    if (this.#isStopped) return;
    const everyMs = Math.min(lookIntervalMsMax, this.#options.intervalMs / looksPerInterval);
    this.#end = repeat(everyMs, () => this.signAll());
  }

  /** Waits for what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
    await Promise.all(this.#running.values());
  }

  /** Signs both logs of a ledger soon, whatever the interval: a period was closed. */
  signSoon(ledgerId: string): void {
    for (const log of logKinds) {
      void this.#signApart(ledgerId, log, 0).catch((error: unknown) => {
        this.#options.onFailure(error);
      });
    }
  }

  /** Signs all logs that are due. Failures are reported and tried again the next time. */
  async signAll(): Promise<void> {
    if (this.#options.areCommitsHalted?.() === true) return;
    const failures: unknown[] = [];
    try {
      const [journals, closes] = await Promise.all([
        listUnsignedJournals(this.#pool, this.#options.intervalMs),
        listUnsignedCloses(this.#pool),
      ]);
      const due = [
        ...closes.map((ledgerId) => ({ ledgerId, log: "closes" as const })),
        ...journals.map((ledgerId) => ({ ledgerId, log: "journal" as const })),
      ];
      await forEachLedger(
        due,
        async ({ ledgerId, log }) => {
          if (this.#isStopped) return;
          await this.#signApart(ledgerId, log, log === "journal" ? this.#options.intervalMs : 0);
        },
        (error) => failures.push(error),
      );
    } catch (error) {
      failures.push(error);
    }
    if (this.#isStopped) return;
    for (const failure of failures) this.#options.onFailure(failure);
    if (failures.length === 0) this.#options.onSuccess?.();
  }

  /** Signs a log, one attempt after the other in this process: what comes meanwhile is in the next. */
  async #signApart(ledgerId: string, log: LogKind, olderThanMs: number): Promise<void> {
    const name = `${ledgerId}/${log}`;
    const before = this.#running.get(name)?.catch(() => undefined);
    const signing = Promise.resolve(before).then(() => this.signLog(ledgerId, log, olderThanMs));
    this.#running.set(name, signing);
    try {
      await signing;
    } finally {
      if (this.#running.get(name) === signing) this.#running.delete(name);
    }
  }

  /**
   * Brings a log's tree up to its last leaf, piece by piece, and signs it; unless another server is at it, or its newest
   * checkpoint is not that old.
   */
  async signLog(ledgerId: string, log: LogKind, olderThanMs = 0): Promise<void> {
    try {
      // By itself: nobody waits for the row of somebody else's transaction.
      await insertLogHead(this.#pool, ledgerId, log);
      let outcome: Outcome;
      do {
        if (this.#isStopped) return;
        outcome = await this.#extendAndSign(ledgerId, log, olderThanMs);
      } while (outcome.kind === "extended");
      this.#report(outcome);
    } catch (error) {
      this.counts.failures += 1;
      throw error;
    }
  }

  #report(outcome: Outcome): void {
    const { onCheckpoint, onHalt, onWrongSettings } = this.#options;
    if (outcome.kind === "signed") {
      this.counts.checkpoints += 1;
      onCheckpoint?.(outcome.identity);
    } else if (outcome.kind === "halted") onHalt(outcome.identity, outcome.reason);
    else if (outcome.kind === "wrongSettings") onWrongSettings(outcome.identity, outcome.reason);
  }

  async #extendAndSign(ledgerId: string, log: LogKind, olderThanMs: number): Promise<Outcome> {
    let identity: LogIdentity = { ledgerId, log, generation: 1 };
    try {
      return await this.#pool.transaction(async (transaction) => {
        const head = await tryLockLogHead(transaction, ledgerId, log);
        if (head === null) return { kind: "none" };
        const [state, leafCount, now] = await Promise.all([
          findLogState(transaction, ledgerId, log),
          countLogLeaves(transaction, ledgerId, log),
          readClock(transaction),
        ]);
        identity = { ledgerId, log, generation: state?.generation ?? 1 };
        // Another server may have signed it since this one looked.
        const isEarly = head.signedAt !== null && addMs(head.signedAt, olderThanMs) > now;
        if (state?.haltedAt != null || leafCount === head.signedSize || isEarly) {
          return { kind: "none" };
        }
        return this.#extendLocked(transaction, identity, { head, state, leafCount, now });
      });
    } catch (error) {
      if (!(error instanceof Halt)) throw error;
      await haltLog(this.#pool, identity, error.message);
      return { kind: "halted", identity, reason: error.message };
    }
  }

  async #extendLocked(
    transaction: Connection,
    identity: LogIdentity,
    locked: LockedLog,
  ): Promise<Outcome> {
    const { head, state, leafCount } = locked;
    const { ledgerId, log } = identity;
    const { signedCheckpoints } = this.#options;
    const signers = signersOf(this.#options, identity);
    const [database, newest] = await Promise.all([
      readDatabaseIdentity(transaction),
      findNewestCheckpoint(transaction, identity),
    ]);
    const wrong = settingsFault(signers, newest);
    if (wrong !== null) return { kind: "wrongSettings", identity, reason: wrong };
    const moved = state && databaseFault(state, database);
    if (moved !== null) throw new Halt(moved);
    if (leafCount < head.size) {
      throw new Halt(`the log has ${leafCount} leaves, and had ${head.size} before`);
    }
    const to = Math.min(leafCount, head.size + leavesPerPiece);
    const leaves = await readLogLeaves(transaction, identity, { from: head.size, to });
    const { tree, completed } = extend(head, leaves);
    await Promise.all([
      ...(completed.length > 0 ? [insertLogSubtrees(transaction, identity, completed)] : []),
      updateLogTree(transaction, ledgerId, log, tree),
    ]);
    if (to < leafCount) return { kind: "extended" };
    const checkpoint = { origin: signers.origin, size: tree.size, rootHash: tree.root() };
    if (signedCheckpoints !== null) {
      await requireKept(transaction, identity, signedCheckpoints);
      // Before it is committed: so nothing is ever shown that is not known outside of the database.
      await signedCheckpoints.write(ledgerId, log, checkpoint);
    }
    const number = head.checkpointCount + 1;
    const text = formatCheckpoint(checkpoint);
    const signatures = signers.all.map((signer) => formatSignatureLine(signer.sign(text)));
    await Promise.all([
      ...(state === null ? [upsertLogState(transaction, identity, database, null)] : []),
      insertCheckpoint(
        transaction,
        identity,
        {
          ...checkpoint,
          number,
          verifierKey: formatVerifierKey(signers.own.verifierKey),
          signatures: signatures.join(""),
          issuedAt: locked.now,
        },
        database,
      ),
      updateLogSigned(transaction, ledgerId, log, {
        ...{ size: tree.size, number, issuedAt: locked.now },
      }),
    ]);
    return { kind: "signed", identity };
  }
}

async function requireKept(
  transaction: Connection,
  identity: LogIdentity,
  signedCheckpoints: SignedCheckpoints,
): Promise<void> {
  try {
    await requireKeptCheckpoint(transaction, identity, signedCheckpoints);
  } catch (error) {
    if (error instanceof UnknownCheckpoint) throw new Halt(error.message, { cause: error });
    throw error;
  }
}

/** A tree with more leaves, and the subtrees that they complete, but for those that are not stored. */
function extend({ size, subtrees }: LogHead, leaves: readonly Hash[]) {
  const completed: LogSubtree[] = [];
  const tree = new CompactRange(size, subtrees, (subtree, root) => {
    if (subtree.level >= storedLevelMin) completed.push({ ...subtree, root });
  });
  for (const leaf of leaves) tree.append(leaf);
  return { tree, completed };
}
