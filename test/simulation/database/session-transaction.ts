// The transaction of a session of the simulated database, from BEGIN to the end of its COMMIT.
import type { Cluster, Moment } from "./cluster.ts";
import { SimulatedTransaction } from "./transactions.ts";

export class SessionTransaction {
  readonly #cluster: Cluster;
  readonly #onMoment: (moment: Moment) => void;
  /** What to do once the standby has the transaction that is being committed. */
  #afterCommit: (() => void) | null = null;
  /** How long its COMMIT takes. */
  #pausedMs = 0;
  #hasSessionEnded = false;
  current: SimulatedTransaction | null = null;
  /** Whether BEGIN began it; a statement by itself has one of its own. */
  isExplicit = false;
  /** Whether a statement in it has failed, so that it can only be rolled back. */
  hasFailed = false;

  /** `onMoment` may end the session. */
  constructor(cluster: Cluster, onMoment: (moment: Moment) => void) {
    this.#cluster = cluster;
    this.#onMoment = onMoment;
  }

  get isCommitting(): boolean {
    return this.#afterCommit !== null || this.#pausedMs > 0;
  }

  begin(isExplicit: boolean): SimulatedTransaction {
    this.current = new SimulatedTransaction();
    this.isExplicit = isExplicit;
    this.hasFailed = false;
    return this.current;
  }

  /** A statement has failed: all is undone, and its locks are free, before anybody says ROLLBACK. */
  fail(): void {
    if (!this.isExplicit) {
      this.rollBack();
      return;
    }
    if (this.current?.state === "active") this.#cluster.abort(this.current);
    this.hasFailed = true;
  }

  rollBack(): void {
    if (this.current?.state === "active") this.#cluster.abort(this.current);
    this.current = null;
    this.isExplicit = false;
    this.hasFailed = false;
  }

  /** Commits; `done` is called when that may be answered, at once or later. */
  commit(done: () => void): void {
    const transaction = this.current;
    if (transaction === null) return;
    if (!transaction.hasWritten) {
      this.#cluster.makeVisible(transaction);
      this.current = null;
      done();
      return;
    }
    this.#onMoment("commitSent");
    if (this.#pausedMs === 0) {
      this.#record(transaction, done);
      return;
    }
    this.#cluster.options.scheduler.after(this.#pausedMs, () => {
      this.#pausedMs = 0;
      this.#record(transaction, done);
    });
  }

  /** Its COMMIT takes this long; for whoever is told that it is sent. */
  pause(ms: number): void {
    this.#pausedMs = ms;
  }

  /** The standby has received more. */
  onReplicated(): void {
    if (this.#afterCommit === null || this.current === null) return;
    if (this.#cluster.isReplicated(this.current)) this.#finish();
  }

  /** Waits no longer for the standby. Whether it did. */
  stopWaiting(): boolean {
    if (this.#afterCommit === null) return false;
    this.#finish();
    return true;
  }

  /** The session ends: what is not in the log is undone; what is stays, and others see it. */
  end(): void {
    this.#hasSessionEnded = true;
    this.#afterCommit = null;
    if (this.current?.state === "active") this.#cluster.abort(this.current);
    else if (this.current?.state === "durable") this.#cluster.makeVisible(this.current);
  }

  #record(transaction: SimulatedTransaction, done: () => void): void {
    if (this.#hasSessionEnded) return;
    this.#cluster.makeDurable(transaction);
    this.#afterCommit = done;
    this.#onMoment("commitDurable");
    this.onReplicated();
  }

  #finish(): void {
    const done = this.#afterCommit;
    const transaction = this.current;
    this.#afterCommit = null;
    if (done === null || transaction === null) return;
    this.#cluster.makeVisible(transaction);
    this.current = null;
    this.isExplicit = false;
    this.#onMoment("commitVisible");
    done();
  }
}
