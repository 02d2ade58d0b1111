// Starts a server on an open database: the schema, checks, master keys, then the processes that serve.
import type { Environment } from "../config.ts";
import { errorCode, messageOf } from "../core/thrown.ts";
import { listenForMetrics, type MetricsServer } from "../http/metrics-server.ts";
import type { RateLimit } from "../http/rate-limit.ts";
import type { Log } from "../log.ts";
import type { Pool } from "../store/database/pool.ts";
import { metricsOfOneProcess, openBooksMetrics } from "./books-metrics.ts";
import { namedUrl, reloadCertificate, type LoadedCertificate } from "./certificate.ts";
import { whenReachable, type Database } from "./database.ts";
import type { LogPolicy } from "./log-policy.ts";
import { loadLogSettings, warnWithoutLogKey } from "./log-settings.ts";
import { loadMasterKeys, type MasterKeys } from "./master-keys.ts";
import { openInteractivePool } from "./pools.ts";
import { prepareSchema, requireConnections, warnAboutUnsafeSettings } from "./prepare-database.ts";
import { requireReplica } from "./replica.ts";
import { createService, type Service } from "./service.ts";
import { WorkerService } from "./workers.ts";

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServerOptions {
  readonly environment: Environment;
  readonly database: Database;
  /** Of a replica that long reads may go to; null for none. */
  readonly replicaUrl: string | null;
  readonly log: Log;
  readonly version: string;
  /** Applies missing migrations; else they are a failure. */
  readonly migrates: boolean;
  /** Processes that share the port. */
  readonly workers: number;
  /** Port 0 takes a free one. */
  readonly address: Address;
  /** Where `/metrics` is served alone; null: with the API. */
  readonly metricsAddress: Address | null;
  /** What TLS shows on the address of the API; null for plain HTTP. */
  readonly certificate: LoadedCertificate | null;
  /** The witnesses of the logs; null for none. */
  readonly logPolicy: LogPolicy | null;
  /** Of each API key; null for none. */
  readonly rateLimit: RateLimit | null;
  /** Whether events are delivered to addresses that are not of the public internet. */
  readonly allowsPrivateDeliveries: boolean;
}

export interface RunningServer {
  readonly url: string;
  /** Null where `/metrics` is served with the API. */
  readonly metricsUrl: string | null;
  /** The first process's own, for cheap reads. */
  readonly pool: Pool;
  readonly masterKeys: MasterKeys;
  /** Reads the certificate again. The log has what became of it. */
  reloadCertificate(): Promise<void>;
  /** Drains, and ends all but the database. */
  stop(): Promise<void>;
}

/** Resolves once the server answers. Rejects with what is wrong and what to do, and leaves nothing open. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { environment, database, replicaUrl, log, workers, address, metricsAddress, certificate } =
    options;
  await prepareSchema(database.url, options);
  const pool = openInteractivePool(database.url);
  const books = openBooksMetrics(database.url, pool);
  let service: Service | null = null;
  let metricsServer: MetricsServer | null = null;
  let reloading = Promise.resolve();
  const reload = async (served: Service) => {
    if (certificate === null) return;
    const use = served.useCertificate.bind(served);
    await reloadCertificate(certificate.files, use, log);
  };
  const stop = async () => {
    await service?.stop();
    await metricsServer?.close();
    await Promise.all([pool.end(), books.end()]);
  };
  try {
    await warnAboutUnsafeSettings(pool, log);
    await requireConnections(pool, workers, database);
    if (replicaUrl !== null) await whenReachable(() => requireReplica(replicaUrl, pool, log));
    const masterKeys = await loadMasterKeys(environment, pool, database.dataDir);
    const logSettings = await loadLogSettings(environment, pool, database.dataDir);
    warnWithoutLogKey(logSettings, log);
    const common = {
      ...options,
      masterKeys: masterKeys.all,
      logSettings,
      areMetricsElsewhere: metricsAddress !== null,
    };
    const served =
      workers > 1
        ? new WorkerService({ ...common, booksMetrics: books.metrics })
        : createService({
            ...common,
            logPolicy: options.logPolicy?.policy ?? null,
            pool,
            gatherMetrics: metricsOfOneProcess(books.metrics),
          });
    service = served;
    if (metricsAddress !== null) {
      metricsServer = await listening(metricsAddress, "--metrics-", () =>
        listenForMetrics(metricsAddress, () => served.metrics()),
      );
    }
    const url = await listening(address, "--", () => served.listen(address.host, address.port));
    return {
      url: certificate === null ? url : namedUrl(url, address.host, certificate),
      metricsUrl: metricsServer?.url ?? null,
      pool,
      masterKeys,
      reloadCertificate: () =>
        // One after the other: the files as they were last are those that stay.
        (reloading = reloading.then(() => reload(served))),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Resolves with what `listen` does; its failure names the address and the flag that names another, which begins with
 * `flags`.
 */
async function listening<Result>(
  { host, port }: Address,
  flags: "--" | "--metrics-",
  listen: () => Promise<Result>,
): Promise<Result> {
  try {
    return await listen();
  } catch (error) {
    const reason = {
      EADDRINUSE: `something else is listening there; choose another ${flags}port, or 0 for a free one`,
      EADDRNOTAVAIL: `this machine does not have that address; choose another ${flags}host, or 0.0.0.0 for all that it has`,
      ENOTFOUND: `no address is known for that name; choose another ${flags}host`,
      EACCES: `this user may not have that port; choose a ${flags}port from 1024 on, with a proxy in front for a lower one`,
    }[errorCode(error) ?? ""];
    throw new Error(`can't listen on ${host}:${port}: ${reason ?? messageOf(error)}`, {
      cause: error,
    });
  }
}
