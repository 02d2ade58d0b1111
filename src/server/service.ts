// Puts the service together: pools, engine and server, and the order in which they stop.
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../config.ts";
import { ClosedPeriods } from "../engine/closed-periods.ts";
import { BooksReader } from "../engine/books-figures.ts";
import { Closes } from "../engine/closes.ts";
import { Journal } from "../engine/journal.ts";
import { Poster } from "../engine/posting.ts";
import { StreamHub } from "../engine/stream-hub.ts";
import { WalletReader } from "../engine/wallet-reader.ts";
import { Wallets } from "../engine/wallets.ts";
import { Authenticator } from "../http/authenticate.ts";
import { Crowds } from "../http/backpressure.ts";
import { HttpCounts } from "../http/http-counts.ts";
import { LedgerDirectory } from "../http/ledger-directory.ts";
import {
  BooksMetrics,
  ProcessMetrics,
  renderMetrics,
  type MetricsSnapshot,
} from "../http/metrics.ts";
import { createHttpServer } from "../http/server.ts";
import type { Log } from "../log.ts";
import { findApiKey } from "../store/api-keys.ts";
import { findLedger } from "../store/ledgers.ts";
import { openReadPool, pingDatabase, type ReadPool } from "../store/read-pool.ts";
import { WriteConnections } from "../store/write-connections.ts";
import type { DatabaseHandle } from "../cli/connection/database-context.ts";

export interface Service {
  listen(host: string, port: number): Promise<string>;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** Takes nothing new, finishes what was accepted, and lets go of the database's connections. */
  stop(): Promise<void>;
}

const writeConnectionsMax = 8;
const closeConnectionsMax = 2;
const closeAnswerTimeoutMs = 15 * 60_000;
/** Trial balances and previews that are summed at once; they must not keep a close waiting. */
const reportConnectionsMax = 2;
const readConnectionsMax = 5;
/** How long a read waits for the database; a search, which may take its time, waits longer. */
const readTimeoutMs = 5_000;
/**
 * Reads that may take long have connections of their own, so that they never keep others from being
 * authenticated and answered.
 */
const searchConnectionsMax = 3;
const searchTimeoutMs = 30_000;
const walletLogConnectionsMax = 2;
/** What one process of the service has open at most. */
export const serviceConnectionsMax =
  writeConnectionsMax +
  closeConnectionsMax +
  reportConnectionsMax +
  readConnectionsMax +
  searchConnectionsMax +
  walletLogConnectionsMax;

const readinessTimeoutMs = 2_000;
/**
 * How long a stopping server still works on closes, trial balances and previews: most are done by then, and who
 * asked for one that is not hears 503 while there is time to.
 */
const sumPatienceMs = 5_000;
const lockTimeoutMs = 1_000;
/** How long a write is tried while the database is away; a restarting one is back well within it. */
const writeDeadlineMs = 5_000;

/** The connections for reads that are cheap; a process has one pool of them. */
export function openServiceReads(databaseUrl: string): ReadPool {
  return openReadPool(databaseUrl, readConnectionsMax, readTimeoutMs);
}

/** The metrics of all books; `pool` for what is cheap. They take one connection more, now and then. */
export function openBooksMetrics(databaseUrl: string, pool: ReadPool) {
  const longReads = openReadPool(databaseUrl, 1, searchTimeoutMs);
  const reader = new BooksReader(pool, longReads, () => Date.now());
  return { metrics: new BooksMetrics(reader), end: () => longReads.end() };
}

/** From how a process reads its own metrics to the text of a server's. */
export type MetricsGathering = (own: () => Promise<MetricsSnapshot>) => () => Promise<string>;

/** A server that is one process has the books' metrics itself. */
export function metricsOfOneProcess(books: BooksMetrics): MetricsGathering {
  return (own) => async () => renderMetrics(await Promise.all([own(), books.snapshot()]));
}

/** Opens pools and connections of a database that is migrated and puts engine and server on them. */
export function composeService(options: {
  environment: Environment;
  database: DatabaseHandle;
  pool: ReadPool;
  masterKeys: readonly Buffer[];
  log: Log;
  version: string;
  gatherMetrics: MetricsGathering;
  /** Whether `/metrics` has an address of its own, and is not on the API's. */
  areMetricsElsewhere?: boolean;
}): Service {
  const { environment, database, pool, masterKeys, log, version } = options;
  const nowMs = () => Date.now();
  const openConnections = (
    connectionsMax: number,
    how: { answerTimeoutMs?: number; readTimeoutMs?: number; keepsPlans?: boolean } = {},
  ) =>
    new WriteConnections({
      databaseUrl: database.url,
      connectionsMax,
      lockTimeoutMs,
      answerTimeoutMs: 10_000,
      ...how,
      isLogSpared: database.dataDir !== null,
    });
  const connections = openConnections(writeConnectionsMax, { keepsPlans: true });
  const walletLogs = openConnections(walletLogConnectionsMax);
  const searches = openReadPool(database.url, searchConnectionsMax, searchTimeoutMs);
  const databaseAnswers = answersInTime(() => pingDatabase(pool));
  const queueItemsMax = 20_000;
  const queueBytesMax = Math.max(64 * 1024 * 1024, 4 * environment.bodyBytesMax);
  const limits = {
    batchItemsMax: 500,
    batchBytesMax: 2 * 1024 * 1024,
    queueItemsMax,
    queueBytesMax,
    // A quarter: a ledger that is stuck leaves the rest of the queue to the others.
    laneItemsMax: queueItemsMax / 4,
    laneBytesMax: queueBytesMax / 4,
    laneWaitMsMax: 1_000,
    deadlineMs: writeDeadlineMs,
    nowMs: () => performance.now(),
    onFailure: (error: unknown) => {
      log.error({ err: error }, "an error on the write path that no caller is told of");
    },
  };
  const journal = new Journal(connections, limits);
  // Sums over years of books take longer than any other statement.
  const sumTimeouts = {
    answerTimeoutMs: closeAnswerTimeoutMs,
    readTimeoutMs: closeAnswerTimeoutMs,
  };
  const closeConnections = openConnections(closeConnectionsMax, sumTimeouts);
  const reports = openConnections(reportConnectionsMax, sumTimeouts);
  const closes = new Closes(closeConnections, new ClosedPeriods());
  const hub = new StreamHub(connections, {
    pollIntervalMs: 25,
    onFailure: (error) => {
      log.warn({ err: error }, "the logs of wallets can't be read; it will be tried again");
    },
  });
  const wallets = new Wallets(connections, limits, (ledgerId, writes) => {
    hub.publish(ledgerId, writes);
  });
  const poster = new Poster(connections, {
    intervalMs: environment.postIntervalMs,
    onFailure: (error) => {
      log.error({ err: error }, "posting wallets failed; it will be tried again");
    },
  });
  // A close is stored whole or not at all, and the others change nothing.
  let sumsGivenUp: Promise<unknown> | null = null;
  const giveUpSums = () => (sumsGivenUp ??= Promise.all([closes.stop(), reports.cut()]));
  const http = new HttpCounts();
  const pools = {
    write: connections,
    read: pool,
    search: searches,
    "wallet-log": walletLogs,
    close: closeConnections,
    report: reports,
  };
  const processMetrics = new ProcessMetrics({
    journal,
    wallets,
    poster,
    hub,
    http,
    pools,
    version,
  });
  const metrics = options.gatherMetrics(() => processMetrics.snapshot());
  let isStopping = false;
  const server = createHttpServer({
    dispatcher: {
      books: {
        pool,
        searches,
        journal,
        closes,
        wallets,
        walletReader: new WalletReader(connections),
        walletLogs,
        reports,
      },
      crowds: new Crowds(),
      authenticator: new Authenticator({
        findApiKey: (apiKey) => findApiKey(pool, apiKey),
        masterKeys,
        clockWindowSeconds: environment.clockWindowSeconds,
        nowMs,
      }),
      ledgers: new LedgerDirectory((ledgerId) => findLedger(pool, ledgerId)),
    },
    hub,
    log,
    version,
    counts: http,
    metrics: options.areMetricsElsewhere === true ? null : metrics,
    bodyBytesMax: environment.bodyBytesMax,
    connectionsMax: environment.connectionsMax,
    clockWindowSeconds: environment.clockWindowSeconds,
    readiness: async () => {
      if (isStopping) return { ready: false, reason: "the server is stopping" };
      const state = database.state();
      if (state !== "running") return { ready: false, reason: `the database is ${state}` };
      const ready = await databaseAnswers();
      return { ready, reason: ready ? null : "the database does not answer" };
    },
  });
  return {
    listen: async (host, port) => {
      const url = await server.listen(host, port);
      poster.start();
      return url;
    },
    metrics,
    stop: async () => {
      isStopping = true;
      const { graceMs } = environment;
      const patience = setTimeout(() => void giveUpSums(), Math.min(sumPatienceMs, graceMs / 2));
      await server.close(graceMs);
      clearTimeout(patience);
      await Promise.all([journal.drain(), wallets.drain()]);
      await poster.stop();
      hub.stop();
      await Promise.all([connections.end(), walletLogs.end(), giveUpSums(), searches.end()]);
    },
  };
}

/** Whether a question is answered with yes, and within 2 s; those who ask meanwhile share it. */
function answersInTime(ask: () => Promise<boolean>): () => Promise<boolean> {
  let asked: Promise<boolean> | null = null;
  return () => {
    asked ??= ask()
      .catch(() => false)
      .finally(() => {
        asked = null;
      });
    return Promise.race([asked, sleep(readinessTimeoutMs, false, { ref: false })]);
  };
}
