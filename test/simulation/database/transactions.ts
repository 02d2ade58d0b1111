// Transactions of the simulated database, the versions of rows that they make, and what a snapshot sees.

/**
 * `durable`: its COMMIT is in the log of the primary, but it waits for the standby; others see it as active.
 */
export type TransactionState = "active" | "durable" | "committed" | "aborted";

export class SimulatedTransaction {
  state: TransactionState = "active";
  /** The place of its COMMIT in the log; null before, and for one that wrote nothing. */
  lsn: number | null = null;
  /** Snapshots that were taken later see it. */
  visibleFrom = Infinity;
  /** Whether its COMMIT has anything to write: rows, or locks on them. */
  hasWritten = false;
  /** Whether it changed what administration is recorded for: its COMMIT writes an act. */
  isAdministration = false;
  readonly locks = new Set<RowLock>();

  get hasEnded(): boolean {
    return this.state === "committed" || this.state === "aborted";
  }
}

/** The strengths of row locks, the weakest first (PostgreSQL's manual, section 13.3.2). */
const lockModes = ["keyShare", "share", "noKeyUpdate", "update"] as const;
export type LockMode = (typeof lockModes)[number];

const conflicts: Readonly<Record<LockMode, readonly LockMode[]>> = {
  keyShare: ["update"],
  share: ["noKeyUpdate", "update"],
  noKeyUpdate: ["share", "noKeyUpdate", "update"],
  update: lockModes,
};

/** The stronger of the lock that somebody has and one more. */
export function strongerOf(held: LockMode | undefined, asked: LockMode): LockMode {
  if (held === undefined) return asked;
  return lockModes.indexOf(held) > lockModes.indexOf(asked) ? held : asked;
}

/** The locks on one row, by who holds them. */
export interface RowLock {
  readonly holders: Map<SimulatedTransaction, LockMode>;
}

/** One version of a row. */
export interface Version<Row> {
  readonly row: Row;
  readonly createdBy: SimulatedTransaction;
  endedBy: SimulatedTransaction | null;
}

/** Whether a transaction's statement, with a snapshot, sees a version. */
export function isVisible(
  version: Version<unknown>,
  reader: SimulatedTransaction,
  snapshot: number,
): boolean {
  return sees(version.createdBy, reader, snapshot) && !sees(version.endedBy, reader, snapshot);
}

function sees(
  writer: SimulatedTransaction | null,
  reader: SimulatedTransaction,
  snapshot: number,
): boolean {
  if (writer === null || writer.state === "aborted") return false;
  return writer === reader || writer.visibleFrom <= snapshot;
}

/** Who holds a lock that does not go with a mode. */
export function conflictingHolders(
  { holders }: RowLock,
  mode: LockMode,
  me: SimulatedTransaction,
): SimulatedTransaction[] {
  return [...holders]
    .filter(([holder, held]) => holder !== me && conflicts[mode].includes(held))
    .map(([holder]) => holder);
}

/** Whether somebody who waits for `blockers` waits for itself, over others. */
export function isDeadlock(
  me: SimulatedTransaction,
  blockers: readonly SimulatedTransaction[],
  waitingFor: ReadonlyMap<SimulatedTransaction, readonly SimulatedTransaction[]>,
): boolean {
  const seen = new Set<SimulatedTransaction>();
  const open = [...blockers];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === me) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(waitingFor.get(next) ?? []));
  }
  return false;
}
