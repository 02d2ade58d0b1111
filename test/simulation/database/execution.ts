// What a statement of the simulated database works with: reads through its snapshot, locks, inserts and updates, as
// PostgreSQL carries them out at READ COMMITTED. What has to wait yields those that it waits for.
import type { Table } from "./table.ts";
import type { Tables } from "./tables.ts";
import {
  conflictingHolders,
  isVisible,
  strongerOf,
  type LockMode,
  type SimulatedTransaction,
  type Version,
} from "./transactions.ts";

/** What the database answers instead of rows. */
export class DatabaseFault extends Error {
  readonly code: string;
  readonly constraint: string | undefined;

  constructor(code: string, constraint?: string) {
    super(`simulated database fault ${code}${constraint === undefined ? "" : ` of ${constraint}`}`);
    this.code = code;
    this.constraint = constraint;
  }
}

/** Gives whom it waits for each time it has to wait. */
export type Waiting<Result> = Generator<readonly SimulatedTransaction[], Result, undefined>;

/** What becomes of a row whose key is taken: an error, nothing, or an update of the row that is there. */
export type OnConflict<Row> = "fail" | "nothing" | ((held: Row, given: Row) => Row);

export class Execution {
  readonly tables: Tables;
  readonly #transaction: SimulatedTransaction;
  readonly #snapshot: number;
  readonly #clockMs: () => number;

  /** `snapshot`: what was visible when the statement began. */
  constructor(
    tables: Tables,
    transaction: SimulatedTransaction,
    snapshot: number,
    clockMs: () => number,
  ) {
    this.tables = tables;
    this.#transaction = transaction;
    this.#snapshot = snapshot;
    this.#clockMs = clockMs;
  }

  /** The database's clock, in milliseconds since 1970. */
  clockMs(): number {
    return this.#clockMs();
  }

  /** The row with a primary key, as the snapshot has it. */
  find<Row extends object>(table: Table<Row>, key: Partial<Row>): Row | null {
    return this.#findVersion(table, table.keyOf(key))?.row ?? null;
  }

  /** The row of the snapshot with a key of a constraint, by its name. */
  findBy<Row extends object>(table: Table<Row>, constraint: string, key: Partial<Row>): Row | null {
    const versions = table.versionsWith(constraint, key);
    return (
      versions.findLast((each) => isVisible(each, this.#transaction, this.#snapshot))?.row ?? null
    );
  }

  /** All rows of the snapshot that meet a condition. */
  filter<Row extends object>(table: Table<Row>, condition: (row: Row) => boolean): Row[] {
    const rows: Row[] = [];
    for (const version of table.allVersions()) {
      if (condition(version.row) && isVisible(version, this.#transaction, this.#snapshot)) {
        rows.push(version.row);
      }
    }
    return rows;
  }

  /**
   * Locks the row with a primary key and gives it as it is then, or null. A row that is not in the snapshot is not
   * found, however long the wait was.
   */
  *lock<Row extends object>(
    table: Table<Row>,
    key: Partial<Row>,
    mode: LockMode,
  ): Waiting<Row | null> {
    const text = table.keyOf(key);
    if (this.#findVersion(table, text) === null) return null;
    yield* this.#acquire(table, text, mode);
    return this.#newest(table, text)?.row ?? null;
  }

  /** Whether a row could be locked without waiting. */
  canLock<Row extends object>(table: Table<Row>, key: Partial<Row>, mode: LockMode): boolean {
    const lock = table.lockOf(table.keyOf(key));
    return conflictingHolders(lock, mode, this.#transaction).length === 0;
  }

  /** Changes the row with a primary key, as it is once it is locked. Whether there was one. */
  *update<Row extends object>(
    table: Table<Row>,
    key: Partial<Row>,
    change: (row: Row) => Row,
  ): Waiting<boolean> {
    const row = yield* this.lock(table, key, "noKeyUpdate");
    if (row === null) return false;
    this.#replace(table, table.keyOf(key), change(row));
    return true;
  }

  /**
   * As `update`, for statements that find the row's place first: one that has moved while it was waited for is left as
   * it is.
   */
  *updateInPlace<Row extends object>(
    table: Table<Row>,
    key: Partial<Row>,
    change: (row: Row) => Row,
  ): Waiting<boolean> {
    const seen = this.find(table, key);
    const locked = yield* this.lock(table, key, "noKeyUpdate");
    if (locked === null || locked !== seen) return false;
    this.#replace(table, table.keyOf(key), change(locked));
    return true;
  }

  /** Inserts a row. Fails with 23505 and the constraint's name where a key is taken, unless `onConflict` says otherwise. */
  *insert<Row extends object>(
    table: Table<Row>,
    row: Row,
    onConflict: OnConflict<Row> = "fail",
  ): Waiting<void> {
    for (;;) {
      const taken = yield* this.#findTaken(table, row);
      if (taken === null) break;
      if (onConflict === "fail") throw new DatabaseFault("23505", taken);
      if (onConflict === "nothing") return;
      const key = table.keyOf(row);
      yield* this.#acquire(table, key, "noKeyUpdate");
      const held = this.#newest(table, key);
      if (held === null) continue;
      this.#replace(table, key, onConflict(held.row, row));
      return;
    }
    this.#add(table, row);
  }

  *delete<Row extends object>(table: Table<Row>, key: Partial<Row>): Waiting<void> {
    const row = yield* this.lock(table, key, "update");
    if (row === null) return;
    const version = this.#newest(table, table.keyOf(key));
    if (version !== null) version.endedBy = this.#transaction;
  }

  /** The name of the first constraint under which a key is taken, once those who may still give it up have ended. */
  *#findTaken<Row extends object>(table: Table<Row>, row: Row): Waiting<string | null> {
    for (;;) {
      const writers: SimulatedTransaction[] = [];
      let taken: string | null = null;
      for (const { constraint, versions } of table.sameKeys(row)) {
        for (const version of versions) {
          const { createdBy, endedBy } = version;
          if (createdBy.state === "aborted") continue;
          if (this.#isOpen(createdBy)) writers.push(createdBy);
          else if (endedBy === null || endedBy.state === "aborted") taken ??= constraint;
          else if (this.#isOpen(endedBy)) writers.push(endedBy);
        }
        // Constraints are checked one after the other.
        if (taken !== null || writers.length > 0) break;
      }
      if (taken !== null || writers.length === 0) return taken;
      yield writers;
    }
  }

  *#acquire<Row extends object>(table: Table<Row>, key: string, mode: LockMode): Waiting<void> {
    const lock = table.lockOf(key);
    for (;;) {
      const blockers = conflictingHolders(lock, mode, this.#transaction);
      if (blockers.length === 0) break;
      yield blockers;
    }
    lock.holders.set(this.#transaction, strongerOf(lock.holders.get(this.#transaction), mode));
    this.#transaction.locks.add(lock);
    this.#transaction.hasWritten = true;
  }

  #findVersion<Row extends object>(table: Table<Row>, key: string): Version<Row> | null {
    return (
      table
        .versionsOf(key)
        .findLast((version) => isVisible(version, this.#transaction, this.#snapshot)) ?? null
    );
  }

  /** The version that whoever holds the row's lock finds: the last that stands. */
  #newest<Row extends object>(table: Table<Row>, key: string): Version<Row> | null {
    const stands = (writer: SimulatedTransaction | null) =>
      writer !== null && (writer === this.#transaction || writer.state === "committed");
    return (
      table
        .versionsOf(key)
        .findLast(({ createdBy, endedBy }) => stands(createdBy) && !stands(endedBy)) ?? null
    );
  }

  #replace<Row extends object>(table: Table<Row>, key: string, row: Row): void {
    const version = this.#newest(table, key);
    if (version === null) return;
    version.endedBy = this.#transaction;
    this.#add(table, row);
  }

  #add<Row extends object>(table: Table<Row>, row: Row): void {
    this.#transaction.hasWritten = true;
    this.#transaction.isAdministration ||= table.isAdministration;
    table.add({ row, createdBy: this.#transaction, endedBy: null });
  }

  #isOpen(writer: SimulatedTransaction): boolean {
    return writer !== this.#transaction && !writer.hasEnded;
  }
}
