// Checks, each with what was found and, where it is not well, what to do.
import { request } from "undici";
import { logKinds } from "../../../core/log-origin.ts";
import { messageOf } from "../../../core/thrown.ts";
import type { Environment } from "../../../config.ts";
import {
  LedgerClient,
  ServiceProblem,
  ServiceUnreachable,
  type Ledger,
} from "../../../client/ledger-client.ts";
import { isDataFolder } from "../../../store/embedded/data-folder.ts";
import { findLastBackup } from "../../../store/backups.ts";
import { hostsOf } from "../../../store/database/hosts.ts";
import { Pool } from "../../../store/database/pool.ts";
import { listMigrations } from "../../../store/migrate.ts";
import { listWaitingAssets } from "../../../store/pending-postings.ts";
import { whenReachable } from "../../../server/database.ts";
import { usingDatabase } from "../../connection/database-context.ts";
import { exitCodeOf, exitCodes, unreachableHint, type ExitCode } from "../../failure.ts";
import { failed, noted, passed, type Check } from "./check.ts";
import { checkCurrencies } from "./currencies.ts";
import { checkAllDeliveries, checkDeliveries } from "./deliveries.ts";
import type { DatabaseFlags, ServiceFlags } from "../../definition/options.ts";
import { Output } from "../../terminal/output.ts";
import { requireHttpUrl, resolveConnection, type Connection } from "../../connection/settings.ts";
import { counted, megabytes } from "../../terminal/counted.ts";

export type DoctorFlags = ServiceFlags & DatabaseFlags;

/** What a server allows unless it is told otherwise. */
const clockDifferenceSecondsMax = 300;

/** Prints every check; resolves with 0, or the exit code of the first that is not well. */
export async function doctor(flags: DoctorFlags, environment: Environment): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const connection = await resolveConnection(flags, environment, output);
  const ofDatabase = await checkDatabase(flags, environment);
  const checks = [
    checkConfiguration(connection, environment),
    // Where the database is, those of all ledgers are seen.
    ...(await checkService(connection)).filter(
      ({ name }) => name !== "deliveries" || ofDatabase.every((check) => check.name !== name),
    ),
    ...ofDatabase,
  ];
  const ok = checks.every((check) => check.ok);
  const documents = checks.map(({ exitCode, ...document }) => document);
  output.result({ checks: documents, ok }, () => output.judged(documents.map(describe).join("\n")));
  return checks.find((check) => !check.ok)?.exitCode ?? exitCodes.done;
}

function describe(check: Omit<Check, "exitCode">): string {
  const verdict = check.note ? "note " : check.ok ? "ok   " : "FAIL ";
  const line = `${verdict} ${check.name.padEnd(13)}  ${check.detail}`;
  return check.remedy === null ? line : `${line}\n${" ".repeat(21)}${check.remedy}`;
}

function checkConfiguration(connection: Partial<Connection>, environment: Environment): Check {
  const { url = "", apiKey, apiSecret } = connection;
  if (apiKey === undefined) {
    return failed(
      "configuration",
      `no API key in the environment or in ${environment.configFile}`,
      "Set LEDGERCTL_API_KEY and LEDGERCTL_API_SECRET. `ledgerctl serve --bootstrap` makes a first key on an empty " +
        "database; on any other, `ledgerctl key create --org ID` does, and `ledgerctl org list` shows the ids.",
      exitCodes.usage,
    );
  }
  if (apiSecret === undefined) {
    return failed(
      "configuration",
      `the key ${apiKey} has no secret`,
      "Set LEDGERCTL_API_SECRET; it was shown when the key was made. `ledgerctl key create --org ID` makes another key.",
      exitCodes.usage,
    );
  }
  return passed("configuration", `${url} with key ${apiKey}`);
}

async function checkService(connection: Partial<Connection>): Promise<Check[]> {
  const { url = "", urlSource } = connection;
  let dateHeader: string | undefined;
  const startedMs = performance.now();
  try {
    dateHeader = await askForTime(requireHttpUrl(url, urlSource));
  } catch (error) {
    const unreachable = new ServiceUnreachable(url, error);
    const { message } = unreachable;
    return [failed("connection", message, unreachableHint(unreachable), exitCodes.unavailable)];
  }
  const durationMs = performance.now() - startedMs;
  return [
    passed("connection", `${url} answered in ${durationMs.toFixed(0)} ms`),
    checkClock(dateHeader),
    ...(await checkReadiness(url)),
    ...(await checkCredentials(connection)),
  ];
}

/** The time that the service tells with its answer. Throws where nothing answers that could be the service. */
async function askForTime(url: string): Promise<string | undefined> {
  const health = await getUnsigned(`${url}/healthz`);
  if (health.status === 200) return health.date;
  // A proxy may pass on nothing but /v1/, where a request without a signature is answered 401.
  const api = await getUnsigned(`${url}/v1/ledgers`);
  if (api.status === 401) return api.date;
  throw new Error(`/healthz answered ${health.status}, and /v1/ledgers ${api.status}`);
}

async function getUnsigned(url: string): Promise<{ status: number; date?: string; text: string }> {
  const { statusCode, headers, body } = await request(url, { headersTimeout: 5_000 });
  const text = await body.text();
  const date = Array.isArray(headers.date) ? headers.date[0] : headers.date;
  return { status: statusCode, text, ...(date === undefined ? {} : { date }) };
}

/** A note where a proxy does not pass /readyz on, or what answers is not the service. */
async function checkReadiness(url: string): Promise<Check[]> {
  const unseen = noted(
    "readiness",
    "can't be seen here: /readyz does not lead to the server; ask it on the server's machine",
  );
  try {
    const { status, text } = await getUnsigned(`${url}/readyz`);
    const { reason, replica } = JSON.parse(text) as { reason?: unknown; replica?: ReplicaState };
    const read = replica === undefined ? [] : [checkReplica(replica)];
    if (status === 200) return [passed("readiness", "a write would succeed now"), ...read];
    if (status !== 503 || typeof reason !== "string") return [unseen];
    const remedy = "Until then writes are answered 503. The server's log has the cause.";
    return [failed("readiness", reason, remedy, exitCodes.unavailable), ...read];
  } catch {
    return [unseen];
  }
}

/** As /readyz has it. */
interface ReplicaState {
  readonly reason: string | null;
  readonly lagSeconds: number;
}

/** Told only: the primary answers what the replica does not. */
function checkReplica({ reason, lagSeconds }: ReplicaState): Check {
  return reason === null
    ? passed("replica", `long reads go there; it is ${lagSeconds.toFixed(3)} s behind`)
    : noted("replica", `long reads go to the primary: ${reason}`);
}

function checkClock(dateHeader: string | undefined): Check {
  if (dateHeader === undefined) return passed("clock", "the service does not tell its time");
  const differenceSeconds = Math.round((Date.now() - Date.parse(dateHeader)) / 1000);
  const seconds = Math.abs(differenceSeconds);
  // The service tells its time in whole seconds.
  const detail =
    seconds <= 1
      ? "this machine's clock agrees with the service's"
      : `this machine's clock is ${seconds} s ${differenceSeconds < 0 ? "behind" : "ahead of"} the service's`;
  return seconds <= clockDifferenceSecondsMax
    ? passed("clock", detail)
    : failed(
        "clock",
        detail,
        "Set this machine's clock (NTP): signatures usually hold for 300 s.",
        exitCodes.notPermitted,
      );
}

async function checkCredentials(connection: Partial<Connection>): Promise<Check[]> {
  const { url, apiKey, apiSecret, ledger } = connection;
  if (url === undefined || apiKey === undefined || apiSecret === undefined) return [];
  const client = new LedgerClient({ url, apiKey, apiSecret, retryForMs: 0 });
  try {
    const ledgers = await client.listLedgers();
    const accepted = passed("credentials", `the key may see ${counted(ledgers.length, "ledger")}`);
    if (ledger === null || ledger === undefined) return [accepted];
    const found = findByIdOrName(ledger, ledgers);
    const checked = checkLedger(ledger, found);
    return [accepted, checked, ...(found === null ? [] : await checkContents(client, found.id))];
  } catch (error) {
    const exitCode = exitCodeOf(error);
    const detail = messageOf(error);
    const remedy =
      error instanceof ServiceProblem && error.status === 401
        ? "Check the secret and that the key is not revoked or expired: `ledgerctl key list` where the database is."
        : "Look at the server's log and at /readyz.";
    return [failed("credentials", detail, remedy, exitCode)];
  } finally {
    await client.close();
  }
}

/** The ledger of an id, or the only one of a name. */
function findByIdOrName(ledger: string, ledgers: readonly Ledger[]): Ledger | null {
  const byId = ledgers.find(({ id }) => id === ledger.toLowerCase());
  const [named = null, ...others] = ledgers.filter(({ name }) => name === ledger);
  return byId ?? (others.length === 0 ? named : null);
}

function checkLedger(ledger: string, found: Ledger | null): Check {
  const choose = "set --ledger (LEDGERCTL_LEDGER) or the profile's.";
  if (found === null) {
    return failed(
      "ledger",
      `the key can't see the ledger ${ledger}`,
      `\`ledgerctl ledger list\` shows those it can; ${choose}`,
      exitCodes.notFound,
    );
  }
  if (found.status === "active") return passed("ledger", `${found.name} is active`);
  return failed(
    "ledger",
    `${found.name} is ${found.status}: it takes no writes`,
    found.status === "suspended"
      ? `\`ledgerctl ledger activate ${found.id}\`, where the database is, lets it take them again.`
      : `It can only be read. For another, ${choose}`,
    exitCodes.conflict,
  );
}

async function checkContents(client: LedgerClient, ledgerId: string): Promise<Check[]> {
  return [
    await checkCurrencies(client, ledgerId),
    await checkLogs(client, ledgerId),
    ...(await checkDeliveries(client, ledgerId)),
  ];
}

/** A log that is halted signs nothing until an operator has looked; a key may be unable to read them. */
async function checkLogs(client: LedgerClient, ledgerId: string): Promise<Check> {
  try {
    const logs = await Promise.all(
      logKinds.map(async (log) => ({ log, ...(await client.getLog(ledgerId, log)) })),
    );
    const halted = logs.filter((one) => one.halted !== null);
    if (halted.length > 0) {
      return failed(
        "logs",
        halted.map(({ log, halted: reason }) => `the log ${log} is halted: ${reason}`).join("; "),
        "It signs nothing until an operator runs `ledgerctl log resume` or `ledgerctl log restart`: see docs/operations.md.",
      );
    }
    const sizes = logs.map(({ log, size }) => `${log} up to ${size}`).join(", ");
    return passed("logs", `signed: ${sizes}`);
  } catch (error) {
    if (!(error instanceof ServiceProblem)) throw error;
    return noted(
      "logs",
      error.code === "CHECKPOINT_NOT_FOUND"
        ? "nothing is signed, as the server has no log key: set its LEDGERCTL_LOG_KEY"
        : `can't be seen here: ${error.message}`,
    );
  }
}

/** Only where a database is named or the embedded one exists: checking must not make one. */
async function checkDatabase(flags: DoctorFlags, environment: Environment): Promise<Check[]> {
  const isNamed = flags.databaseUrl !== undefined || environment.databaseUrl !== null;
  const folder = flags.dataDir ?? environment.dataDir;
  if (!isNamed && !(await isDataFolder(folder))) {
    return [passed("migrations", "no database here; checked where the database is")];
  }
  try {
    return await usingDatabase(flags, environment, false, (database) =>
      whenReachable(async () => {
        const migrations = await checkMigrations(database.url);
        const checks = [...checkHosts(database.url), migrations];
        return migrations.ok ? [...checks, ...(await checkContent(database.url))] : checks;
      }),
    );
  } catch (error) {
    const detail = messageOf(error);
    return [failed("migrations", detail, "See --database-url and --data-dir.", exitCodeOf(error))];
  }
}

/** Which of several hosts serves; the migrations were just read from it. */
function checkHosts(databaseUrl: string): Check[] {
  const { all, current } = hostsOf(databaseUrl);
  if (all.length === 1) return [];
  const names = all.map(({ name }) => name).join(", ");
  return [passed("database", `${current.name} serves, of ${names}`)];
}

async function checkMigrations(databaseUrl: string): Promise<Check> {
  const migrations = await listMigrations(databaseUrl);
  const missing = migrations.filter(({ applied }) => !applied);
  return missing.length === 0
    ? passed("migrations", `all ${migrations.length} applied`)
    : failed(
        "migrations",
        `${missing.map(({ name }) => name).join(", ")} not applied`,
        "Run `ledgerctl migrate`.",
      );
}

async function checkContent(databaseUrl: string): Promise<Check[]> {
  const pool = new Pool({
    databaseUrl,
    connectionsMax: 1,
    lockTimeoutMs: 10_000,
    answerTimeoutMs: 30_000,
  });
  try {
    return [await checkPostings(pool), await checkAllDeliveries(pool), await checkBackup(pool)];
  } finally {
    await pool.end();
  }
}

/** What wallets accepted in a currency that has no rate waits until somebody gives it one. */
async function checkPostings(pool: Pool): Promise<Check> {
  const waiting = await listWaitingAssets(pool);
  if (waiting.length === 0) return passed("postings", "no wallet waits for a rate");
  const assets = waiting.map(({ ledgerId, assetCode }) => `${assetCode} in ledger ${ledgerId}`);
  return failed(
    "postings",
    `what wallets accepted waits for a rate: ${assets.join(", ")}`,
    "Set it with `ledgerctl asset set CODE --ledger ID --rate R`.",
  );
}

/** Told only: whoever backs up with PostgreSQL's own tools is well, too. */
async function checkBackup(pool: Pool): Promise<Check> {
  const last = await findLastBackup(pool);
  return last === null
    ? noted("backup", "`ledgerctl backup` was never run on this database")
    : passed("backup", `the last one was taken at ${last.takenAt}, ${megabytes(last.bytes)}`);
}
