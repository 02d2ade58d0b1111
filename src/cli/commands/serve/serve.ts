// `serve`: runs the server until it is told to stop.
import type { Environment } from "../../../config.ts";
import { createLog, type Log } from "../../../log.ts";
import { openDatabase, type Database } from "../../../server/database.ts";
import { connectionsOf } from "../../../server/prepare-database.ts";
import { startServer } from "../../../server/start.ts";
import { stopSignal } from "../../../server/stop-signals.ts";
import { isWorker, serveAsWorker } from "../../../server/worker.ts";
import { databasePlace } from "../../connection/database-context.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { requireWholeNumber } from "../../input/arguments.ts";
import { Output, toJson } from "../../terminal/output.ts";
import { programVersion } from "../../version.ts";
import { bootstrap } from "./bootstrap.ts";

export interface ServeFlags extends DatabaseFlags {
  host: string;
  port: number;
  bootstrap?: boolean;
  migrate: boolean;
  workers: number;
  metricsHost?: string;
  metricsPort?: number;
}

const portMax = 65_535;
const workersMax = 64;
/** Of an embedded database, for the admin commands and a second server. */
const spareConnections = 50;
const nothingToBootstrap =
  "--bootstrap made nothing: the database has an organization already. `ledgerctl key create --org ID` makes " +
  "a key, and `ledgerctl org list` shows the ids.";

/** Serves until SIGTERM or SIGINT, then drains; resolves with the exit code. */
export async function serve(flags: ServeFlags, environment: Environment): Promise<ExitCode> {
  requireWholeNumber("--port", String(flags.port), 0, portMax);
  if (flags.metricsPort !== undefined) {
    requireWholeNumber("--metrics-port", String(flags.metricsPort), 0, portMax);
  } else if (flags.metricsHost !== undefined) {
    throw usageFailure("--metrics-host goes with --metrics-port");
  }
  requireWholeNumber("--workers", String(flags.workers), 1, workersMax);
  const log = createLog(environment.logLevel);
  const stopRequested = stopSignal(() => process.exit(exitCodes.interrupted));
  // A worker is told to stop by the first process; signals that its group gets are not for it.
  if (isWorker()) {
    return (await serveAsWorker(environment, log)) ? exitCodes.done : exitCodes.failed;
  }
  const database = await openDatabase(databasePlace(flags, environment), {
    supervise: true,
    mayMake: true,
    connectionsMax: connectionsOf(flags.workers) + spareConnections,
    onEvent: (message, error) => {
      log.warn(error === undefined ? {} : { err: error }, message);
    },
  });
  try {
    await serveOn(database, flags, environment, log, stopRequested);
    return exitCodes.done;
  } finally {
    await database.stop();
  }
}

async function serveOn(
  database: Database,
  flags: ServeFlags,
  environment: Environment,
  log: Log,
  stopRequested: Promise<string>,
): Promise<void> {
  const output = new Output(flags, environment.isColorRefused);
  // With --json stderr is the log alone.
  const note = (text: string) => {
    if (output.isJson) log.info(text);
    else output.note(text);
  };
  const { dataDir, homeElsewhere } = database;
  if (dataDir !== null && homeElsewhere !== null) {
    note(
      `The database of ${dataDir} is in ${homeElsewhere}: the user who runs it for root can't reach the folder.`,
    );
  }
  const { host, port, metricsHost = "127.0.0.1", metricsPort } = flags;
  const server = await startServer({
    environment,
    database,
    log,
    version: programVersion(),
    migrates: flags.migrate,
    workers: flags.workers,
    address: { host, port },
    metricsAddress: metricsPort === undefined ? null : { host: metricsHost, port: metricsPort },
  });
  try {
    const { url, metricsUrl, pool, masterKeys } = server;
    if (flags.bootstrap === true) {
      const isMade = await bootstrap(pool, masterKeys.current, environment, url, output);
      if (!isMade) note(nothingToBootstrap);
    }
    if (metricsUrl !== null) note(`metrics are at ${metricsUrl}`);
    output.line(output.isJson ? toJson({ event: "ready", url }) : `ledgerctl is ready at ${url}`);
    const signal = await stopRequested;
    log.info({ signal }, "stopping");
  } finally {
    await server.stop();
  }
}
