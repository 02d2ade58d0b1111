// One session of the simulated database: it carries out what its connection sends, one statement after the other, in
// transactions at READ COMMITTED, as a backend of PostgreSQL does.
import type { Task } from "../world/scheduler.ts";
import type { Cluster } from "./cluster.ts";
import { DatabaseFault, Execution, type Waiting } from "./execution.ts";
import type { Parameters, Rows } from "./handler.ts";
import type { Link } from "./link.ts";
import type { Message, ReceivedStatement, Result } from "./message.ts";
import { SessionTransaction } from "./session-transaction.ts";
import { conflictingHolders, isDeadlock, type SimulatedTransaction } from "./transactions.ts";

interface Work {
  readonly message: Message;
  readonly results: Result[];
  next: number;
  /** The statement that waits. */
  waiting: Waiting<Rows> | null;
  hasWarning: boolean;
}

const lockTimeoutMs = 1_000;
const idleInTransactionMs = 30_000;
const isBegin = /^BEGIN/;
const isWithoutEffect = /^(DISCARD|SET) /;

export class Session {
  readonly link: Link;
  readonly #cluster: Cluster;
  readonly #transaction: SessionTransaction;
  readonly #queue: (Message | "end")[] = [];
  #work: Work | null = null;
  #isScheduled = false;
  #blockers: readonly SimulatedTransaction[] = [];
  #lockTimer: Task | null = null;
  #idleTimer: Task | null = null;
  hasEnded = false;

  constructor(cluster: Cluster, link: Link) {
    this.#cluster = cluster;
    this.link = link;
    this.#transaction = new SessionTransaction(cluster, (moment) => {
      cluster.options.onMoment(moment, this, []);
    });
  }

  /** Whom its transaction waits for. */
  get wait(): [SimulatedTransaction, readonly SimulatedTransaction[]] | null {
    const { current } = this.#transaction;
    return current === null || this.#blockers.length === 0 ? null : [current, this.#blockers];
  }

  get transaction(): SimulatedTransaction | null {
    return this.#transaction.current;
  }

  get isBusy(): boolean {
    return this.#work !== null || this.#queue.length > 0 || this.#transaction.current !== null;
  }

  receive(message: Message | "end"): void {
    if (this.hasEnded) return;
    this.#idleTimer?.cancel();
    this.#queue.push(message);
    this.#schedule();
  }

  /** A transaction ended. */
  onEnded(transaction: SimulatedTransaction): void {
    if (!this.#blockers.includes(transaction)) return;
    this.#blockers = [];
    this.#schedule();
  }

  /** The standby has received more. */
  onReplicated(): void {
    this.#transaction.onReplicated();
  }

  /** Its COMMIT takes this long; for whoever is told that it is sent. */
  pause(ms: number): void {
    this.#transaction.pause(ms);
  }

  /** As pg_cancel_backend does: what it waits for is given up. */
  cancel(): void {
    if (this.#work !== null && this.#transaction.isCommitting) this.#work.hasWarning = true;
    if (!this.#transaction.stopWaiting() && this.#blockers.length > 0) {
      this.#failWaiting(new DatabaseFault("57014"));
    }
  }

  /**
   * As pg_terminate_backend does, and a crash of the primary. A COMMIT that waits for the standby stays, and others see
   * it.
   */
  terminate(): void {
    if (this.hasEnded) return;
    this.#end();
    this.link.closeFromServer();
  }

  #end(): void {
    this.hasEnded = true;
    this.#blockers = [];
    this.#lockTimer?.cancel();
    this.#idleTimer?.cancel();
    this.#cluster.sessions.delete(this);
    this.#transaction.end();
  }

  #schedule(): void {
    if (this.#isScheduled || this.hasEnded) return;
    this.#isScheduled = true;
    const { scheduler, random } = this.#cluster.options;
    scheduler.after(random.between(5, 60) / 1_000, () => {
      this.#isScheduled = false;
      this.#step();
    });
  }

  get #isWaiting(): boolean {
    return this.hasEnded || this.#blockers.length > 0 || this.#transaction.isCommitting;
  }

  /** Carries out some statements; others' come in between after each of them, or not. */
  #step(): void {
    const { random } = this.#cluster.options;
    while (!this.#isWaiting) {
      if (this.#work === null && !this.#takeMessage()) return;
      const work = this.#work;
      if (work === null) return;
      const statement = work.message.statements[work.next];
      if (statement === undefined) this.#finishMessage(work);
      else this.#carryOut(work, statement);
      if (random.happens(25)) {
        this.#schedule();
        return;
      }
    }
  }

  #takeMessage(): boolean {
    const message = this.#queue.shift();
    if (message === undefined) {
      if (this.#transaction.current !== null) this.#watchIdle();
      return false;
    }
    // Nobody reads the answers of a connection that has ended: the rest may be left.
    const isLeft = this.#queue.at(-1) === "end" && this.#cluster.options.random.happens(50);
    if (message === "end" || isLeft) {
      this.#end();
      return false;
    }
    this.#work = { message, results: [], next: 0, waiting: null, hasWarning: false };
    return true;
  }

  #watchIdle(): void {
    this.#idleTimer?.cancel();
    this.#idleTimer = this.#cluster.options.scheduler.after(idleInTransactionMs, () => {
      this.terminate();
    });
  }

  #carryOut(work: Work, statement: ReceivedStatement): void {
    try {
      const result = this.#execute(work, statement);
      if (result !== null) this.#complete(work, result);
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error;
      this.#fail(work, error);
    }
  }

  #complete(work: Work, result: Result): void {
    work.results.push(result);
    work.next += 1;
  }

  #fail(work: Work, fault: DatabaseFault): void {
    this.#stopLockTimer();
    this.#blockers = [];
    // A COMMIT that fails has ended its transaction.
    if (work.message.statements[work.next]?.text === "COMMIT") this.#transaction.rollBack();
    else this.#transaction.fail();
    this.#answer(work, fault);
  }

  #answer(work: Work, fault: DatabaseFault | null): void {
    this.#work = null;
    if (this.hasEnded) return;
    const { results, hasWarning, message } = work;
    this.link.toClient(() => {
      message.answer({ results, fault, hasWarning });
    });
  }

  /** The result; null where it has to wait. */
  #execute(work: Work, { text, parameters }: ReceivedStatement): Result | null {
    if (isBegin.test(text)) {
      this.#transaction.begin(true);
      return { rows: [], tag: "BEGIN" };
    }
    if (text === "ROLLBACK") return this.#rollBack();
    if (text === "COMMIT") {
      if (this.#transaction.hasFailed || this.#transaction.current === null)
        return this.#rollBack();
      if (!this.#hasActsLock(this.#transaction.current)) return null;
      this.#transaction.commit(() => {
        this.#complete(work, { rows: [], tag: "COMMIT" });
        this.#schedule();
      });
      return null;
    }
    if (this.#transaction.hasFailed) throw new DatabaseFault("25P02");
    if (isWithoutEffect.test(text)) return { rows: [], tag: "SET" };
    return this.#executeStatement(work, text, parameters);
  }

  /** Deferred triggers write acts of administration, one transaction after the other. */
  #hasActsLock(transaction: SimulatedTransaction): boolean {
    if (!transaction.isAdministration) return true;
    const { actsLock } = this.#cluster;
    const blockers = conflictingHolders(actsLock, "update", transaction);
    if (blockers.length > 0) {
      this.#block(blockers);
      return false;
    }
    this.#stopLockTimer();
    actsLock.holders.set(transaction, "update");
    transaction.locks.add(actsLock);
    return true;
  }

  #rollBack(): Result {
    this.#transaction.rollBack();
    return { rows: [], tag: "ROLLBACK" };
  }

  #executeStatement(work: Work, text: string, parameters: Parameters): Result | null {
    if (work.waiting === null) {
      this.#cluster.options.onMoment("statement", this, parameters);
      if (this.hasEnded) return null;
      const handler = this.#cluster.options.statements.find(text);
      if (handler === undefined) {
        throw new Error(`the simulated database does not know this statement: ${text}`);
      }
      const transaction = this.#transaction.current ?? this.#transaction.begin(false);
      const { tables, snapshot, clockMs } = this.#cluster;
      const given = handler(new Execution(tables, transaction, snapshot, clockMs), parameters);
      if (!isWaiting(given)) return { rows: given, tag: "SELECT" };
      work.waiting = given;
    }
    const { value, done } = work.waiting.next();
    if (done === true) {
      work.waiting = null;
      this.#stopLockTimer();
      return { rows: value, tag: "SELECT" };
    }
    this.#block(value);
    return null;
  }

  #stopLockTimer(): void {
    this.#lockTimer?.cancel();
    this.#lockTimer = null;
  }

  #block(blockers: readonly SimulatedTransaction[]): void {
    this.#blockers = blockers;
    this.#lockTimer ??= this.#cluster.options.scheduler.after(lockTimeoutMs, () => {
      this.#lockTimer = null;
      this.#failWaiting(new DatabaseFault(this.#isDeadlocked() ? "40P01" : "55P03"));
    });
  }

  #isDeadlocked(): boolean {
    const waits = [...this.#cluster.sessions].flatMap(({ wait }) => (wait === null ? [] : [wait]));
    const { current } = this.#transaction;
    if (current === null || !isDeadlock(current, this.#blockers, new Map(waits))) return false;
    this.#cluster.deadlocks += 1;
    return true;
  }

  #failWaiting(fault: DatabaseFault): void {
    const work = this.#work;
    if (this.hasEnded || work === null) return;
    work.waiting = null;
    this.#fail(work, fault);
    this.#schedule();
  }

  /** Statements outside of a transaction are one by themselves. */
  #finishMessage(work: Work): void {
    if (this.#transaction.current === null || this.#transaction.isExplicit) {
      this.#answer(work, null);
      return;
    }
    this.#transaction.commit(() => {
      this.#answer(work, null);
      this.#schedule();
    });
  }
}

function isWaiting(given: Rows | Waiting<Rows>): given is Waiting<Rows> {
  return !Array.isArray(given);
}
