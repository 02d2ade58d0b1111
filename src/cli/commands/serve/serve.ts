// `serve`: runs the server until it is told to stop.
import type { Environment } from "../../../config.ts";
import { createLog, type Log } from "../../../log.ts";
import { listUrlsForOthers } from "../../../server/addresses.ts";
import { loadCertificate, type LoadedCertificate } from "../../../server/certificate.ts";
import { loadLogPolicy, type LogPolicy } from "../../../server/log-policy.ts";
import { openDatabase, type Database } from "../../../server/database.ts";
import { connectionsOf } from "../../../server/prepare-database.ts";
import { startServer } from "../../../server/start.ts";
import {
  keepHangups,
  stopsOnHangup,
  stopSignal,
  stopSignals,
} from "../../../server/stop-signals.ts";
import { isWorker, serveAsWorker } from "../../../server/worker.ts";
import { databasePlace } from "../../connection/database-context.ts";
import { exitCodes, type ExitCode } from "../../failure.ts";
import { nearest } from "../../input/suggestion.ts";
import { Output, toJson } from "../../terminal/output.ts";
import { programVersion } from "../../version.ts";
import { bootstrap } from "./bootstrap.ts";
import { readServeSettings, type ServeFlags, type ServeSettings } from "./serve-settings.ts";

/** Of an embedded database, for the admin commands and a second server. */
const spareConnections = 50;
const nothingToBootstrap =
  "--bootstrap made nothing: the database has an organization already. `ledgerctl key create --org ID` makes " +
  "a key, and `ledgerctl org list` shows the ids.";

/** Serves until SIGTERM or SIGINT, then drains; resolves with the exit code. */
export async function serve(flags: ServeFlags, environment: Environment): Promise<ExitCode> {
  const settings = readServeSettings(flags, environment);
  const log = createLog(environment.logLevel);
  const doesHangupStop = stopsOnHangup(settings.certificateFiles !== null);
  const stopRequested = stopSignal(
    () => process.exit(exitCodes.interrupted),
    stopSignals.filter((signal) => signal !== "SIGHUP" || doesHangupStop),
  );
  // Workers take none: the first process sends them the certificate.
  const onHangup = doesHangupStop ? null : keepHangups();
  // A worker is told to stop by the first process; signals that its group gets are not for it.
  if (isWorker()) {
    return (await serveAsWorker(environment, log)) ? exitCodes.done : exitCodes.failed;
  }
  const { names } = environment;
  for (const name of names.unknown) {
    const text = `${name} is set in the environment and has no effect: there is no such setting`;
    const [meant] = nearest(name, names.known);
    log.warn(meant === undefined ? text : `${text}. Did you mean ${meant}?`);
  }
  const { certificateFiles } = settings;
  // Before anything is started.
  const certificate = certificateFiles && (await loadCertificate(certificateFiles));
  const logPolicy =
    environment.logPolicy === null ? null : await loadLogPolicy(environment.logPolicy);
  const database = await openDatabase(databasePlace(flags, environment), {
    supervise: true,
    mayMake: true,
    connectionsMax: connectionsOf(settings.workers) + spareConnections,
    onEvent: (message, error) => {
      log.warn(error === undefined ? {} : { err: error }, message);
    },
  });
  try {
    await serveOn(database, {
      flags,
      settings,
      certificate,
      logPolicy,
      environment,
      log,
      stopRequested,
      onHangup,
    });
    return exitCodes.done;
  } finally {
    await database.stop();
  }
}

interface Serving {
  readonly flags: ServeFlags;
  readonly settings: ServeSettings;
  readonly certificate: LoadedCertificate | null;
  readonly logPolicy: LogPolicy | null;
  readonly environment: Environment;
  readonly log: Log;
  readonly stopRequested: Promise<string>;
  /** Hands on each SIGHUP; null where that stops the server. */
  readonly onHangup: ReturnType<typeof keepHangups> | null;
}

async function serveOn(
  database: Database,
  { flags, settings, certificate, logPolicy, environment, log, stopRequested, onHangup }: Serving,
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
  const server = await startServer({
    ...settings,
    certificate,
    logPolicy,
    environment,
    database,
    log,
    version: programVersion(),
  });
  onHangup?.(() => {
    if (certificate !== null) void server.reloadCertificate();
    else log.warn("SIGHUP has no effect: without --tls-cert there is no certificate to read again");
  });
  try {
    const { url, metricsUrl, pool, masterKeys } = server;
    if (flags.bootstrap === true) {
      const isMade = await bootstrap(pool, masterKeys.current, environment, url, output);
      if (!isMade) note(nothingToBootstrap);
    }
    if (metricsUrl !== null) note(`metrics are at ${metricsUrl}`);
    const others = await listUrlsForOthers(url, settings.address.host);
    if (certificate === null) warnWithoutTls(others, output, log);
    output.line(output.isJson ? toJson({ event: "ready", url }) : readyLine(url, others));
    const signal = await stopRequested;
    log.info({ signal }, "stopping");
  } finally {
    await server.stop();
  }
}

/** `url`: where this machine reaches the server, which is not all that it listens on. */
export function readyLine(url: string, urlsForOthers: readonly string[]): string {
  const others = urlsForOthers.filter((each) => each !== url);
  const more = others.length === 0 ? "" : `, for other machines at ${others.join(", ")}`;
  return `ledgerctl is ready at ${url}${more}`;
}

/** Where others than this machine can reach the server, what they send can be read on its way. */
function warnWithoutTls(urls: readonly string[], output: Output, log: Log): void {
  if (urls.length === 0) return;
  const warning =
    "without TLS, requests can be read on their way and sent again. Use --tls-cert and --tls-key, or a proxy with " +
    "TLS in front of a server on 127.0.0.1.";
  if (output.isJson)
    log.warn({ urls }, `the server can be reached from other machines; ${warning}`);
  else output.warn(`warning: others can reach the server at ${urls.join(", ")}; ${warning}`);
}
