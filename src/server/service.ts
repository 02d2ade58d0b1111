// One process that serves: its engine and its HTTP server on its pools, and the order in which they stop.
import type { Environment } from "../config.ts";
import type { TlogPolicy } from "../core/tlog-policy.ts";
import { LogReader } from "../engine/logs/log-reader.ts";
import type { LogSettings } from "../engine/logs/log-signing.ts";
import { WalletReader } from "../engine/wallet-reader.ts";
import { Authenticator } from "../http/authenticate.ts";
import { HttpCounts } from "../http/http-counts.ts";
import { LedgerDirectory } from "../http/ledger-directory.ts";
import { processMetrics, type ReadMetrics } from "../http/metrics.ts";
import { RateLimiter, type RateLimit } from "../http/rate-limit.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";
import type { Certificate } from "../http/tls.ts";
import type { Log } from "../log.ts";
import { findApiKey } from "../store/api-keys.ts";
import { hostsOf } from "../store/database/hosts.ts";
import type { Pool } from "../store/database/pool.ts";
import { repeatRead } from "../store/database/repeated-read.ts";
import { ReplicatedPool, type Replica } from "../store/database/replica.ts";
import { SignedCheckpointFiles } from "../store/embedded/signed-checkpoints.ts";
import { findLedger } from "../store/ledgers.ts";
import { expiresAtMs } from "./certificate.ts";
import type { Database } from "./database.ts";
import { createEngine, type Engine } from "./engine.ts";
import { watchHosts } from "./host-watch.ts";
import { openPools, type Pools } from "./pools.ts";
import { watchPooler } from "./pooler-watch.ts";
import { Readiness } from "./readiness.ts";
import { openReplica } from "./replica.ts";

export interface Service {
  listen(host: string, port: number): Promise<string>;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** Shows another certificate on new connections, where it serves TLS. */
  useCertificate(certificate: Certificate): void;
  /** Takes nothing new, finishes what was accepted, and ends its connections to the database. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly environment: Environment;
  readonly database: Database;
  /** Of a replica that long reads may go to; none without it. */
  readonly replicaUrl?: string | null;
  /** Stays open when the service stops. */
  readonly pool: Pool;
  readonly masterKeys: readonly Buffer[];
  /** Without them no logs are signed or shown. */
  readonly logSettings?: LogSettings | null;
  readonly log: Log;
  readonly version: string;
  /** From how this process reads its own metrics to the text of the whole server's. */
  readonly gatherMetrics: (own: ReadMetrics) => () => Promise<string>;
  /** Whether `/metrics` has an address of its own, and is not on the API's. */
  readonly areMetricsElsewhere?: boolean;
  /** What TLS shows; plain HTTP without it. */
  readonly certificate?: Certificate | null;
  /** The witnesses of the logs; none without it. */
  readonly logPolicy?: TlogPolicy | null;
  /** Of each API key in this process; none without it. */
  readonly rateLimit?: RateLimit | null;
  /** Whether events are delivered to addresses that are not of the public internet; unless given, not. */
  readonly allowsPrivateDeliveries?: boolean;
  /** How long COMMITs wait for a standby before no more are sent; 30 s unless given. */
  readonly standbyWaitMsMax?: number;
}

const poolerWatchIntervalMs = 5_000;

/** Opens the pools of a database that is migrated, and puts engine and HTTP server on them. */
export function createService(options: ServiceOptions): Service {
  const { environment, database, log, version, certificate = null } = options;
  const pools = openPools(database.url, options.pool, database.dataDir !== null);
  const { interactive, longRunning, write, probe } = pools;
  const readiness = new Readiness(database, pools, log, options.standbyWaitMsMax);
  const { dataDir } = database;
  const logs = {
    settings: options.logSettings ?? null,
    signedCheckpoints: dataDir === null ? null : new SignedCheckpointFiles(dataDir),
    policy: options.logPolicy ?? null,
  };
  const receivers = {
    masterKeys: options.masterKeys,
    allowsPrivate: options.allowsPrivateDeliveries ?? false,
  };
  const areCommitsHalted = () => readiness.areCommitsHalted;
  const engine = createEngine(
    database.url,
    pools,
    environment,
    log,
    areCommitsHalted,
    logs,
    receivers,
  );
  const { replicaUrl = null } = options;
  const watched =
    replicaUrl === null
      ? null
      : openReplica(replicaUrl, interactive, environment.readLagMsMax, log);
  const replica = watched?.replica ?? null;
  const unwatchPooler = watchPooler(database.url, poolerWatchIntervalMs, log);
  const unwatchHosts = watchHosts(database.url, log);
  let isStopping = false;
  const counts = new HttpCounts();
  counts.certificateExpiresAtMs = certificate && expiresAtMs(certificate);
  const own = processMetrics({
    ...engine,
    http: counts,
    readiness,
    get pools() {
      const ofNodes = [...engine.nodes.pools].map(
        ([node, pool]) => [`write ${node}`, pool] as const,
      );
      return {
        ...{ interactive, "long-running": longRunning, write, probe },
        ...Object.fromEntries(ofNodes),
        ...(replica && { replica: replica.pool }),
      };
    },
    replica,
    version,
  });
  const metrics = options.gatherMetrics(own);
  const dispatcher = createDispatcher(options, pools, replica, engine);
  const unlisten = hostsOf(database.url).onTakeover(() => {
    dispatcher.authenticator.forget();
    dispatcher.ledgers.forget();
    engine.walletHub.forget();
    engine.journalHub.forget();
  });
  const server = createHttpServer({
    dispatcher,
    walletHub: engine.walletHub,
    journalHub: engine.journalHub,
    log,
    version,
    counts,
    certificate,
    metrics: options.areMetricsElsewhere === true ? null : metrics,
    bodyBytesMax: environment.bodyBytesMax,
    connectionsMax: environment.connectionsMax,
    clockWindowSeconds: environment.clockWindowSeconds,
    readiness: () => ({
      ...readiness.state,
      ...(isStopping ? { ready: false, reason: "the server is stopping" } : {}),
      replica,
    }),
  });
  return {
    listen: async (host, port) => {
      await readiness.start();
      const url = await server.listen(host, port);
      if (environment.nodeConnectionsMax > 0) engine.nodes.start();
      engine.poster.start();
      engine.digests.start();
      engine.daySums.start();
      engine.checkpoints?.start();
      engine.witnesses.start();
      engine.deliverer.start();
      return url;
    },
    metrics,
    useCertificate: (next) => {
      server.useCertificate(next);
      counts.certificateExpiresAtMs = expiresAtMs(next);
    },
    stop: async () => {
      isStopping = true;
      const cutReads = () => Promise.all([pools.longRunning.cut(), watched?.stop()]);
      await stopInOrder(server, engine, pools, cutReads, environment.graceMs);
      unlisten();
      unwatchPooler();
      await Promise.all([unwatchHosts(), readiness.stop()]);
    },
  };
}

function createDispatcher(
  {
    environment,
    masterKeys,
    logSettings = null,
    logPolicy = null,
    rateLimit = null,
  }: ServiceOptions,
  { interactive, longRunning, write }: Pools,
  replica: Replica | null,
  { journal, closes, wallets, administration, deliveries }: Engine,
) {
  const readable = (pool: Pool) => (replica === null ? pool : new ReplicatedPool(pool, replica));
  return {
    services: {
      interactive,
      longRunning,
      longReads: readable(longRunning),
      pages: readable(interactive),
      journal,
      closes,
      wallets,
      administration,
      deliveries,
      walletReader: new WalletReader(write),
      logs: new LogReader(interactive, {
        settings: logSettings,
        policy: logPolicy,
        intervalMs: environment.checkpointIntervalMs,
      }),
    },
    // What every request needs: a write that outlasts a broken connection must not fail for another one before it.
    authenticator: new Authenticator({
      findApiKey: (apiKey) => repeatRead(() => findApiKey(interactive, apiKey)),
      masterKeys,
      clockWindowSeconds: environment.clockWindowSeconds,
      nowMs: () => Date.now(),
    }),
    ledgers: new LedgerDirectory((ledgerId) => repeatRead(() => findLedger(interactive, ledgerId))),
    rateLimiter: rateLimit && new RateLimiter(rateLimit, () => performance.now()),
  };
}

/** Before the grace period is over, what runs long is cut: who asked for it gets 503 while there is time to. */
const answerMs = 1_000;

/** Requests first, since they need all else; then what was accepted; connections to the database last. */
async function stopInOrder(
  server: HttpServer,
  engine: Engine,
  { write }: Pools,
  cutLongRunning: () => Promise<unknown>,
  graceMs: number,
): Promise<void> {
  const { journal, wallets, closes, poster, digests, daySums, checkpoints, witnesses } = engine;
  // A close is stored whole or not at all, and the others change nothing.
  let cancelled: Promise<unknown> | null = null;
  const cancelSums = () => {
    closes.stop();
    return (cancelled ??= cutLongRunning());
  };
  // They work for nobody who waits, on a pool that may be cut.
  const inBackground = Promise.all([
    digests.stop(),
    daySums.stop(),
    checkpoints?.stop(),
    witnesses.stop(),
    engine.deliverer.stop(),
    engine.nodes.stop(),
  ]);
  const timer = setTimeout(() => void cancelSums(), Math.max(graceMs / 2, graceMs - answerMs));
  await server.close(graceMs);
  clearTimeout(timer);
  await Promise.all([journal.lanes.drain(), wallets.lanes.drain()]);
  await poster.stop();
  engine.walletHub.stop();
  engine.journalHub.stop();
  await Promise.all([write.end(), cancelSums(), inBackground.then(() => engine.nodes.end())]);
}
