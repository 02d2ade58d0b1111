// The connections of one server process to its database, in a pool for each kind of work: what takes long never keeps
// others waiting.
import { openReadPool, type ReadPool } from "../store/read-pool.ts";
import { WriteConnections } from "../store/write-connections.ts";

/** The connections of each pool at most. */
const sizes = { read: 5, search: 3, write: 8, walletLog: 2, close: 2, report: 2 } as const;

/** What one process of the service has open at most. */
export const connectionsPerProcess = Object.values(sizes).reduce((sum, size) => sum + size, 0);

const lockTimeoutMs = 1_000;
const answerTimeoutMs = 10_000;
const readTimeoutMs = 5_000;
const searchTimeoutMs = 30_000;
/** Sums over years of books take longer than any other statement. */
const sumTimeoutMs = 15 * 60_000;

export interface Pools {
  /** Cheap reads: a request is authenticated and most are answered with it. */
  readonly read: ReadPool;
  /** Lists with filters, whose cost grows with the books. */
  readonly search: ReadPool;
  readonly write: WriteConnections;
  readonly walletLog: WriteConnections;
  readonly close: WriteConnections;
  /** Trial balances and previews, which must not keep a close waiting. */
  readonly report: WriteConnections;
}

/** The pool for cheap reads; a process has one. */
export function openInteractiveReads(databaseUrl: string): ReadPool {
  return openReadPool(databaseUrl, sizes.read, readTimeoutMs);
}

/** One connection for reads that take long, of what is asked for once in a while. */
export function openLongRead(databaseUrl: string): ReadPool {
  return openReadPool(databaseUrl, 1, searchTimeoutMs);
}

/** All pools of a process. `isEmbedded`: the database is our own, whose log answered errors are kept out of. */
export function openPools(databaseUrl: string, read: ReadPool, isEmbedded: boolean): Pools {
  const always = { databaseUrl, lockTimeoutMs, answerTimeoutMs, isLogSpared: isEmbedded };
  const sums = { ...always, answerTimeoutMs: sumTimeoutMs, readTimeoutMs: sumTimeoutMs };
  return {
    read,
    search: openReadPool(databaseUrl, sizes.search, searchTimeoutMs),
    write: new WriteConnections({ ...always, connectionsMax: sizes.write, keepsPlans: true }),
    walletLog: new WriteConnections({ ...always, connectionsMax: sizes.walletLog }),
    close: new WriteConnections({ ...sums, connectionsMax: sizes.close }),
    report: new WriteConnections({ ...sums, connectionsMax: sizes.report }),
  };
}
