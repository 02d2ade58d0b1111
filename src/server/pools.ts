// The connections of one server process to its database, in a pool for each kind of work: what takes long never keeps
// others waiting.
import type { CitusNode } from "../store/citus-nodes.ts";
import { urlOfHost } from "../store/database/connection-url.ts";
import { Pool } from "../store/database/pool.ts";

/** The connections of each pool at most. */
const sizes = { interactive: 7, longRunning: 7, write: 8, probe: 1 } as const;

/** What one process of the service has open at most. */
export const connectionsPerProcess = Object.values(sizes).reduce((sum, size) => sum + size, 0);

const lockTimeoutMs = 1_000;
const interactiveTimeoutMs = 5_000;
const writeTimeoutMs = 10_000;
/** Sums over years take longer than any other statement. */
const longRunningTimeoutMs = 15 * 60_000;
const reconciliationTimeoutMs = 30_000;
/** As long as a host that serves has to answer. */
const replicaWatchTimeoutMs = 2_000;
/** The probe cuts lost connections itself. A COMMIT that waits for a standby is left to wait, as long as a timer can. */
const probeTimeoutMs = 2 ** 31 - 2;
/** Of the long-running ones: lists, trial balances and previews leave them to closes. */
const connectionsOfCloses = 2;
/** Of those to a replica: what may take long leaves them to pages of entries. */
const connectionsOfPages = 2;

export type Pools = Readonly<ReturnType<typeof openPools>>;

/** The pool for reads that are cheap; a process has one. */
export function openInteractivePool(databaseUrl: string): Pool {
  return new Pool({
    databaseUrl,
    connectionsMax: sizes.interactive,
    answerTimeoutMs: interactiveTimeoutMs,
    cancelsLateStatements: true,
  });
}

/** One connection for what sums all wallets of all ledgers, once in a while. */
export function openReconciliationPool(databaseUrl: string): Pool {
  return new Pool({ databaseUrl, connectionsMax: 1, answerTimeoutMs: reconciliationTimeoutMs });
}

/** What is read from a replica. */
export function openReplicaPool(replicaUrl: string): Pool {
  return new Pool({
    databaseUrl: replicaUrl,
    purpose: "long-running",
    connectionsMax: sizes.longRunning,
    reservedConnections: connectionsOfPages,
    lockTimeoutMs,
    answerTimeoutMs: longRunningTimeoutMs,
  });
}

/** One connection for watching a replica. */
export function openReplicaWatchPool(replicaUrl: string): Pool {
  return new Pool({
    databaseUrl: replicaUrl,
    purpose: "replica watch",
    connectionsMax: 1,
    answerTimeoutMs: replicaWatchTimeoutMs,
  });
}

/** How lanes are connected, to the database itself and to its nodes. */
const forWriting = {
  purpose: "write",
  lockTimeoutMs,
  answerTimeoutMs: writeTimeoutMs,
  keepsPlans: true,
} as const;

/** What lanes write with on a node of a database that Citus spreads, as a process's `write` pool otherwise. */
export function openNodePool(
  databaseUrl: string,
  node: CitusNode,
  nodeStartedAt: string,
  connectionsMax: number,
): Pool {
  return new Pool({
    databaseUrl: urlOfHost(databaseUrl, node),
    ...forWriting,
    nodeStartedAt,
    connectionsMax,
  });
}

/** All pools of a process. `isEmbedded`: the database is our own, whose log answered errors are kept out of. */
export function openPools(databaseUrl: string, interactive: Pool, isEmbedded: boolean) {
  const always = { databaseUrl, lockTimeoutMs, isLogSuppressed: isEmbedded };
  return {
    /** Reads that cost the same in a ledger of any size: a request is authenticated and most are answered with them. */
    interactive,
    /** What grows with the ledger: lists with filters, trial balances, previews, closes. */
    longRunning: new Pool({
      ...always,
      purpose: "long-running",
      connectionsMax: sizes.longRunning,
      reservedConnections: connectionsOfCloses,
      answerTimeoutMs: longRunningTimeoutMs,
    }),
    /** Lanes, posting, and what wallets and their streams are read with. */
    write: new Pool({
      ...always,
      ...forWriting,
      connectionsMax: sizes.write,
    }),
    /** What readiness is found out with: as the write path's, but for the time that its COMMIT may take. */
    probe: new Pool({
      ...always,
      purpose: "probe",
      connectionsMax: sizes.probe,
      answerTimeoutMs: probeTimeoutMs,
    }),
  };
}
