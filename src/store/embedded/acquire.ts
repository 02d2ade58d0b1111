// From a data folder to a lease on its running database: adopt what runs, start what does not, wait for what
// is just starting or ending. The loop only ever looks again, so any number of processes may run it at once.
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../../core/thrown.ts";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import type { Installation } from "./binaries.ts";
import { superuser } from "./cluster.ts";
import type { DataFolder } from "./data-folder.ts";
import { takeLease, type DatabaseConnection, type Lease } from "./lease.ts";
import { findPostmaster, type Postmaster } from "./postmaster.ts";
import { explainFailedStart, startPostgres, stopPostgres } from "./run-postgres.ts";

const databaseName = "ledgerctl";

const pollMs = 15;
const retryMs = 200;
// Sessions of a killed PostgreSQL notice at their next wait; until then its memory is "still in use".
const crashPatienceMs = 15_000;
// A faster starter holds the files that ours failed over, and may end or be killed the next moment.
const startPatienceMs = 3_000;
// Replaying a few GB of log takes minutes; the checkpoint at the end, seconds; a socket is there or is not.
const patienceByStatusMs = { starting: 600_000, stopping: 120_000, ready: 30_000 };
const stoppingPatienceMs = 5_000;

/** Rejects with DatabaseUnavailable when it cannot work, with an AbortError once `signal` says so. */
export async function acquireLease(folder: Installation, signal: AbortSignal): Promise<Lease> {
  /** Of the PostgreSQL that was started here. */
  let ownPid: number | null = null;
  // How long one and the same situation has lasted.
  let status: Postmaster["status"] | null = null;
  let sinceMs = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { running } = await findPostmaster(folder.cluster);
      if (running === undefined) {
        ownPid = await startAndWait(folder, signal);
        continue;
      }
      const attempt = await tryLease(folder, running);
      if ("lease" in attempt) return attempt.lease;
      if (status !== running.status) {
        status = running.status;
        sinceMs = Date.now();
      }
      if (Date.now() - sinceMs >= patienceByStatusMs[status]) {
        throw unusable(folder, running, attempt.trouble);
      }
      await sleep(attempt.trouble === undefined ? pollMs : retryMs, undefined, { signal });
    }
  } catch (error) {
    if (ownPid !== null) await stopForNobody(folder, ownPid, error);
    throw error;
  }
}

/**
 * Stops a PostgreSQL that was started for a lease which is not to be had, where nobody else would: nobody gets in, or its
 * starter ends while it replays its log.
 */
async function stopForNobody(folder: DataFolder, pid: number, error: unknown): Promise<void> {
  const { running } = await findPostmaster(folder.cluster);
  if (running?.pid !== pid) return;
  if (error instanceof DatabaseUnavailable || running.status === "starting") {
    await stopPostgres(folder);
  }
}

/**
 * A lease for somebody who lost theirs and wants to end: what they started again may run by now with nobody's lease on it.
 * Undefined where nothing is left to stop, or somebody else is at it: starts it, or stops it.
 */
export async function leaseForStopping(folder: DataFolder): Promise<Lease | undefined> {
  const deadline = Date.now() + stoppingPatienceMs;
  while (Date.now() < deadline) {
    const { running } = await findPostmaster(folder.cluster);
    if (running?.status !== "ready") return undefined;
    const attempt = await tryLease(folder, running);
    if ("lease" in attempt) return attempt.lease;
    if (attempt.trouble === undefined) return undefined;
    await sleep(retryMs);
  }
  return undefined;
}

/** postgresql://user:password@%2Fsocket%2Fdirectory:5432/database */
export function connectionUrl(connection: DatabaseConnection): string {
  const { user, password, host, port, database } = connection;
  const account = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  return `postgresql://${account}@${encodeURIComponent(host)}:${port}/${database}`;
}

/** `trouble` is undefined when there is only something to wait for: a start, or another's stop. */
async function tryLease(
  folder: DataFolder,
  running: Postmaster,
): Promise<{ lease: Lease } | { trouble: unknown }> {
  if (running.status !== "ready") return { trouble: undefined };
  const connection = {
    host: running.socketDirectory,
    port: running.port,
    user: superuser,
    password: folder.password,
    database: databaseName,
  };
  try {
    const lease = await takeLease(connection);
    return lease ? { lease } : { trouble: undefined };
  } catch (error) {
    // 28P01 invalid_password, 28000 invalid_authorization_specification
    if (!["28P01", "28000"].includes(errorCode(error) ?? "")) return { trouble: error };
    throw new DatabaseUnavailable(
      `The database in ${folder.cluster} does not accept the password in ${folder.path}/database-password. ` +
        "Restore that file from the backup that the database is from.",
      { cause: error },
    );
  }
}

/** Resolves once some PostgreSQL runs or has to be looked at again: with the pid of ours, or null for a faster starter's. */
async function startAndWait(folder: Installation, signal: AbortSignal): Promise<number | null> {
  const begun = Date.now();
  let patienceMs = startPatienceMs;
  for (;;) {
    const finding = await findPostmaster(folder.cluster);
    if (finding.running) return null;
    if (finding.leftPidFile) patienceMs = crashPatienceMs;
    const { pid, said } = await startedOrEnded(folder);
    if (said === undefined) return pid;
    if (Date.now() - begun > patienceMs) {
      throw new DatabaseUnavailable(
        `PostgreSQL did not start in ${folder.cluster}: ${await explainFailedStart(folder, said)}`,
      );
    }
    await sleep(retryMs, undefined, { signal });
  }
}

/**
 * `said` is undefined when a PostgreSQL runs, whose pid is null where it is not ours; else the last words of ours. Not to be
 * interrupted: it would be lost.
 */
async function startedOrEnded(
  folder: Installation,
): Promise<{ pid: number | null; said: string | undefined }> {
  const { pid, ended } = await startPostgres(folder);
  for (;;) {
    const said = await Promise.race([ended, sleep(pollMs, undefined)]);
    const { running } = await findPostmaster(folder.cluster);
    if (running) return { pid: running.pid === pid ? pid : null, said: undefined };
    if (said !== undefined) return { pid: null, said };
  }
}

function unusable(
  { cluster }: DataFolder,
  { pid, status, socketDirectory }: Postmaster,
  trouble: unknown,
): DatabaseUnavailable {
  const reason = trouble instanceof Error ? `: ${trouble.message}` : "";
  return new DatabaseUnavailable(
    `PostgreSQL (process ${pid}) is "${status}" in ${cluster} but cannot be used through ${socketDirectory}${reason}. ` +
      `Its log is in ${cluster}/log.`,
    { cause: trouble },
  );
}
