// One process that serves: its engine and its HTTP server on its pools, and the order in which they stop.
import type { Environment } from "../config.ts";
import { WalletReader } from "../engine/wallet-reader.ts";
import { Authenticator } from "../http/authenticate.ts";
import { HttpCounts } from "../http/http-counts.ts";
import { LedgerDirectory } from "../http/ledger-directory.ts";
import { ProcessMetrics, type MetricsSnapshot } from "../http/metrics.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";
import type { Log } from "../log.ts";
import { findApiKey } from "../store/api-keys.ts";
import { findLedger } from "../store/ledgers.ts";
import type { ReadPool } from "../store/read-pool.ts";
import type { Database } from "./database.ts";
import { createEngine, type Engine } from "./engine.ts";
import { openPools, type Pools } from "./pools.ts";
import { Readiness } from "./readiness.ts";

export interface Service {
  listen(host: string, port: number): Promise<string>;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** Takes nothing new, finishes what was accepted, and ends its connections to the database. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly environment: Environment;
  readonly database: Database;
  /** Stays open when the service stops. */
  readonly pool: ReadPool;
  readonly masterKeys: readonly Buffer[];
  readonly log: Log;
  readonly version: string;
  /** From how this process reads its own metrics to the text of the whole server's. */
  readonly gatherMetrics: (own: () => Promise<MetricsSnapshot>) => () => Promise<string>;
  /** Whether `/metrics` has an address of its own, and is not on the API's. */
  readonly areMetricsElsewhere?: boolean;
}

/** Opens the pools of a database that is migrated, and puts engine and HTTP server on them. */
export function createService(options: ServiceOptions): Service {
  const { environment, database, log, version } = options;
  const pools = openPools(database.url, options.pool, database.dataDir !== null);
  const engine = createEngine(pools, environment, log);
  const readiness = new Readiness(database, pools.read);
  const counts = new HttpCounts();
  const own = new ProcessMetrics({
    ...engine,
    http: counts,
    pools: metricNames(pools),
    version,
  });
  const metrics = options.gatherMetrics(() => own.snapshot());
  const server = createHttpServer({
    dispatcher: createDispatcher(options, pools, engine),
    hub: engine.hub,
    log,
    version,
    counts,
    metrics: options.areMetricsElsewhere === true ? null : metrics,
    bodyBytesMax: environment.bodyBytesMax,
    connectionsMax: environment.connectionsMax,
    clockWindowSeconds: environment.clockWindowSeconds,
    readiness: () => readiness.check(),
  });
  return {
    listen: async (host, port) => {
      const url = await server.listen(host, port);
      engine.poster.start();
      return url;
    },
    metrics,
    stop: async () => {
      readiness.stop();
      await stopInOrder(server, engine, pools, environment.graceMs);
    },
  };
}

function createDispatcher(
  { environment, masterKeys }: ServiceOptions,
  pools: Pools,
  { journal, closes, wallets }: Engine,
) {
  const { read, search, write, walletLog, report } = pools;
  return {
    services: {
      pool: read,
      searches: search,
      journal,
      closes,
      wallets,
      walletReader: new WalletReader(write),
      walletLogs: walletLog,
      reports: report,
    },
    authenticator: new Authenticator({
      findApiKey: (apiKey) => findApiKey(read, apiKey),
      masterKeys,
      clockWindowSeconds: environment.clockWindowSeconds,
      nowMs: () => Date.now(),
    }),
    ledgers: new LedgerDirectory((ledgerId) => findLedger(read, ledgerId)),
  };
}

/** The pools as `/metrics` names them. */
function metricNames({ walletLog, ...others }: Pools) {
  return { ...others, "wallet-log": walletLog };
}

/**
 * How long a stopping server still works on closes, trial balances and previews: most are done by then, and who
 * asked for one that is not hears 503 while there is time to.
 */
const sumsGraceMs = 5_000;

/** Requests first, since they need all else; then what was accepted; connections to the database last. */
async function stopInOrder(
  server: HttpServer,
  { journal, wallets, closes, poster, hub }: Engine,
  { write, walletLog, search, report }: Pools,
  graceMs: number,
): Promise<void> {
  // A close is stored whole or not at all, and the others change nothing.
  let cancelled: Promise<unknown> | null = null;
  const cancelSums = () => (cancelled ??= Promise.all([closes.stop(), report.cut()]));
  const timer = setTimeout(() => void cancelSums(), Math.min(sumsGraceMs, graceMs / 2));
  await server.close(graceMs);
  clearTimeout(timer);
  await Promise.all([journal.drain(), wallets.drain()]);
  await poster.stop();
  hub.stop();
  await Promise.all([write.end(), walletLog.end(), search.end(), cancelSums()]);
}
