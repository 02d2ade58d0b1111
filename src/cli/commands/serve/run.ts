// Running the server until it is told to stop.
import { errorCode, messageOf } from "../../../core/thrown.ts";
import { connectionsOf, isWorker, serveAsWorker, WorkerService } from "../../../server/workers.ts";
import type { Environment } from "../../../config.ts";
import { createLog, type Log } from "../../../log.ts";
import { getConnectionLimit, listUnsafeSettings } from "../../../store/database-settings.ts";
import { listMigrations, migrate } from "../../../store/migrate.ts";
import type { ReadPool } from "../../../store/read-pool.ts";
import {
  loadMasterKeys,
  openDatabase,
  whenReachable,
  type DatabaseHandle,
  stopSignals,
} from "../../connection/database-context.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import { Output, toJson } from "../../terminal/output.ts";
import {
  composeService,
  metricsOfOneProcess,
  openBooksMetrics,
  openServiceReads,
  serviceConnectionsMax,
  type Service,
} from "../../../server/service.ts";
import { listenForMetrics, type MetricsServer } from "../../../http/metrics-server.ts";
import { programVersion } from "../../version.ts";
import { bootstrap } from "./bootstrap.ts";
import type { DatabaseFlags } from "../../options.ts";

export interface ServeFlags extends DatabaseFlags {
  host: string;
  port: number;
  bootstrap?: boolean;
  migrate: boolean;
  workers: number;
  metricsHost?: string;
  metricsPort?: number;
}

const workersMax = 64;
/** Of an embedded database, for the admin commands and a second server. */
const spareConnections = 50;
const nothingToBootstrap =
  "--bootstrap made nothing: the database has an organization already. `ledgerctl key create --org ID` makes " +
  "a key, and `ledgerctl org list` shows the ids.";

/** Serves until SIGTERM or SIGINT, then drains; resolves with the exit code. */
export async function serve(flags: ServeFlags, environment: Environment): Promise<number> {
  requirePort("--port", flags.port);
  if (flags.metricsPort !== undefined) requirePort("--metrics-port", flags.metricsPort);
  else if (flags.metricsHost !== undefined) {
    throw usageFailure("--metrics-host goes with --metrics-port");
  }
  if (!Number.isInteger(flags.workers) || flags.workers < 1 || flags.workers > workersMax) {
    throw usageFailure(`--workers must be a whole number from 1 to ${workersMax}`);
  }
  const log = createLog(environment.logLevel);
  const stopRequested = stopSignal();
  // A worker is told to stop by the first process; signals that its group gets are not for it.
  if (isWorker()) return serveAsWorker(environment, log);
  const database = await openDatabase(flags, environment, {
    supervise: true,
    mayMake: true,
    connectionsMax: connectionsOf(flags.workers) + spareConnections,
    onEvent: ({ message, error }) => {
      log.warn(error === undefined ? {} : { err: error }, message);
    },
  });
  try {
    return await serveOn(database, flags, environment, log, stopRequested);
  } finally {
    await database.stop();
  }
}

async function serveOn(
  database: DatabaseHandle,
  flags: ServeFlags,
  environment: Environment,
  log: Log,
  stopRequested: Promise<string>,
): Promise<number> {
  await whenReachable(() => prepareSchema(database.url, flags, log));
  const pool = openServiceReads(database.url);
  const areMetricsElsewhere = flags.metricsPort !== undefined;
  const books = openBooksMetrics(database.url, pool);
  const output = new Output(flags, environment.isColorRefused);
  // With --json stderr is the log alone.
  const say = (text: string) => {
    if (output.isJson) log.info(text);
    else output.note(text);
  };
  let service: Service | null = null;
  let metricsServer: MetricsServer | null = null;
  try {
    const { dataDir, homeElsewhere = null } = database;
    if (dataDir !== null && homeElsewhere !== null) {
      say(
        `The database of ${dataDir} is in ${homeElsewhere}: the user who runs it for root can't reach the folder.`,
      );
    }
    await warnAboutUnsafeSettings(pool, log);
    await requireConnections(pool, flags.workers, dataDir);
    const masterKeys = await loadMasterKeys(environment, pool, database.dataDir);
    service =
      flags.workers > 1
        ? new WorkerService({
            count: flags.workers,
            databaseUrl: database.url,
            dataDir: database.dataDir,
            masterKeys: masterKeys.all,
            booksMetrics: books.metrics,
            areMetricsElsewhere,
            log,
          })
        : composeService({
            environment,
            database,
            pool,
            masterKeys: masterKeys.all,
            log,
            version: programVersion(),
            gatherMetrics: metricsOfOneProcess(books.metrics),
            areMetricsElsewhere,
          });
    const served = service;
    metricsServer = await serveMetrics(flags, () => served.metrics());
    const url = await service.listen(flags.host, flags.port).catch((error: unknown) => {
      throw listenFailure(flags.host, flags.port, "--port", error);
    });
    if (flags.bootstrap === true) {
      const isMade = await bootstrap(pool, masterKeys.current, environment, url, output);
      if (!isMade) say(nothingToBootstrap);
    }
    if (metricsServer !== null) say(`metrics are at ${metricsServer.url}`);
    output.line(output.isJson ? toJson({ event: "ready", url }) : `ledgerctl is ready at ${url}`);
    const signal = await stopRequested;
    log.info({ signal }, "stopping");
  } finally {
    await service?.stop();
    await metricsServer?.close();
    await Promise.all([pool.end(), books.end()]);
  }
  return exitCodes.done;
}

async function prepareSchema(databaseUrl: string, flags: ServeFlags, log: Log): Promise<void> {
  if (flags.migrate) {
    const applied = await migrate(databaseUrl);
    if (applied.length > 0) log.info({ migrations: applied }, "migrated");
    return;
  }
  const missing = (await listMigrations(databaseUrl)).filter(({ applied }) => !applied);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(", ");
    throw new CommandFailure(
      `the database lacks migrations (${names}); run \`ledgerctl migrate\``,
      exitCodes.failed,
    );
  }
}

async function warnAboutUnsafeSettings(pool: ReadPool, log: Log): Promise<void> {
  for (const { name, setting } of await listUnsafeSettings(pool)) {
    log.error(
      { setting: name, value: setting },
      `the database runs with ${name} = ${setting}: a crash can lose writes that were acknowledged`,
    );
  }
}

/** Workers that get no connection would answer 503 under load, and nobody would know why. */
async function requireConnections(
  pool: ReadPool,
  workers: number,
  dataDir: string | null,
): Promise<void> {
  const needed = connectionsOf(workers);
  const allowed = await getConnectionLimit(pool);
  // One process gets along with fewer while there is little to do.
  if (workers === 1 || needed <= allowed) return;
  const enoughFor = Math.max(1, Math.floor((allowed - connectionsOf(0)) / serviceConnectionsMax));
  const remedy =
    dataDir === null
      ? `Raise its max_connections (or the limit of the role), or use --workers ${enoughFor}.`
      : "It was started for fewer: end what else uses it, and start this server again.";
  throw new CommandFailure(
    `--workers ${workers} needs ${needed} connections to the database, which allows ${allowed}. ${remedy}`,
    exitCodes.failed,
  );
}

function requirePort(flag: string, port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw usageFailure(`${flag} must be a whole number from 0 to 65535`);
  }
}

/** On an address of their own, where one was asked for. */
async function serveMetrics(
  { metricsHost: host = "127.0.0.1", metricsPort: port }: ServeFlags,
  render: () => Promise<string>,
): Promise<MetricsServer | null> {
  if (port === undefined) return null;
  return listenForMetrics({ host, port }, render).catch((error: unknown) => {
    throw listenFailure(host, port, "--metrics-port", error);
  });
}

function listenFailure(host: string, port: number, flag: string, error: unknown): CommandFailure {
  const reason =
    errorCode(error) === "EADDRINUSE"
      ? `something else is listening there; choose another ${flag}, or 0 for a free one`
      : messageOf(error);
  return new CommandFailure(`can't listen on ${host}:${port}: ${reason}`, exitCodes.failed, error);
}

/** What supervisors and terminals send to a process and to its group may arrive twice. */
const repeatMs = 1_000;

/** Resolves with the first SIGTERM, SIGINT or SIGHUP. One that comes later still ends the process at once. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const signal of stopSignals) {
      process.on(signal, () => {
        firstAtMs ??= performance.now();
        if (performance.now() - firstAtMs > repeatMs) process.exit(exitCodes.interrupted);
        resolve(signal);
      });
    }
  });
}
