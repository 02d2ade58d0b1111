// The simulated database as a whole: what is visible, what is in the log, what the standby has of it, and what becomes
// of all that when it crashes or fails over.
import type { SeededRandom } from "../../../src/seed/seeded-random.ts";
import type { Scheduler } from "../world/scheduler.ts";
import { startEpochMs } from "../world/simulated-time.ts";
import type { Handlers, Parameters } from "./handler.ts";
import type { Link } from "./link.ts";
import { Session } from "./session.ts";
import { createTables } from "./tables.ts";
import type { RowLock, SimulatedTransaction } from "./transactions.ts";

/** Moments in the work of a session at which something may go wrong. */
export type Moment = "statement" | "commitSent" | "commitDurable" | "commitVisible";

export interface ClusterOptions {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly statements: Handlers;
  /** Whether COMMIT waits for a standby. */
  readonly hasStandby: boolean;
  /**
   * Called at each moment, before what it names is done, with the parameters of a statement; may end the session, or
   * throw what the statement fails with.
   */
  readonly onMoment: (moment: Moment, session: Session, parameters: Parameters) => void;
}

const standbyDelayMs = 0.2;

export class Cluster {
  readonly options: ClusterOptions;
  readonly tables = createTables();
  readonly sessions = new Set<Session>();
  /** The lock of the table of acts: who writes one holds it from COMMIT to its end. */
  readonly actsLock: RowLock = { holders: new Map() };
  isUp = true;
  isStandbyRunning = true;
  /** What the clock of the primary is ahead of simulated time. */
  clockOffsetMs = 0;
  /** Statements that ended with 40P01. */
  deadlocks = 0;
  #visible = 0;
  #lsn = 0;
  #standbyLsn = 0;
  /** By their places in the log. */
  #logged: SimulatedTransaction[] = [];

  constructor(options: ClusterOptions) {
    this.options = options;
  }

  /** The snapshot of a statement that begins now. */
  get snapshot(): number {
    return this.#visible;
  }

  /** Whether any session has something to do, or a transaction. */
  get isBusy(): boolean {
    for (const session of this.sessions) if (session.isBusy) return true;
    return false;
  }

  readonly clockMs = (): number =>
    startEpochMs + Math.floor(this.options.scheduler.nowMs) + this.clockOffsetMs;

  /** A session for a connection that was accepted. */
  accept(link: Link): Session {
    const session = new Session(this, link);
    this.sessions.add(session);
    return session;
  }

  /** Writes a transaction's COMMIT to the log of the primary. */
  makeDurable(transaction: SimulatedTransaction): void {
    this.#lsn += 1;
    transaction.lsn = this.#lsn;
    transaction.state = "durable";
    this.#logged.push(transaction);
    if (!this.options.hasStandby) this.#standbyLsn = this.#lsn;
    else if (this.isStandbyRunning) this.#replicate();
  }

  /** Whether the standby has what a transaction wrote. */
  isReplicated({ lsn }: SimulatedTransaction): boolean {
    return lsn === null || lsn <= this.#standbyLsn;
  }

  /** Whether a transaction is committed and stays so, whichever server is lost. */
  isConfirmed(transaction: SimulatedTransaction): boolean {
    return transaction.state === "committed" && this.isReplicated(transaction);
  }

  /** Ends a transaction: others see it from now on, and its locks are free. */
  makeVisible(transaction: SimulatedTransaction): void {
    this.#visible += 1;
    transaction.visibleFrom = this.#visible;
    transaction.state = "committed";
    this.#release(transaction);
  }

  abort(transaction: SimulatedTransaction): void {
    transaction.state = "aborted";
    this.#release(transaction);
  }

  /** The primary stops at once, as by kill -9 or loss of power, and is away for a while. What is in its log is kept. */
  crash(downMs: number): void {
    if (this.isUp) this.#goDown(downMs);
  }

  /** The primary is lost, and the standby takes its place: what it does not have never happened. */
  failOver(downMs: number): void {
    if (!this.options.hasStandby) return;
    for (const transaction of this.#logged) {
      if (!this.isReplicated(transaction)) this.#forget(transaction);
    }
    this.#logged = this.#logged.filter((transaction) => this.isReplicated(transaction));
    this.#lsn = this.#standbyLsn;
    this.isStandbyRunning = true;
    this.#goDown(downMs);
  }

  stopStandby(): void {
    this.isStandbyRunning = false;
  }

  startStandby(): void {
    this.isStandbyRunning = true;
    this.#replicate();
  }

  #goDown(downMs: number): void {
    this.isUp = false;
    for (const session of [...this.sessions]) session.terminate();
    this.options.scheduler.after(downMs, () => {
      this.isUp = true;
    });
  }

  #forget(transaction: SimulatedTransaction): void {
    transaction.visibleFrom = Infinity;
    this.abort(transaction);
  }

  #replicate(): void {
    const lsn = this.#lsn;
    this.options.scheduler.after(standbyDelayMs, () => {
      // What was lost in a failover meanwhile is not there to be replicated.
      if (!this.isStandbyRunning || !this.isUp || lsn > this.#lsn) return;
      this.#standbyLsn = Math.max(this.#standbyLsn, lsn);
      for (const session of [...this.sessions]) session.onReplicated();
    });
  }

  #release(transaction: SimulatedTransaction): void {
    for (const { holders } of transaction.locks) holders.delete(transaction);
    transaction.locks.clear();
    for (const session of [...this.sessions]) session.onEnded(transaction);
  }
}
