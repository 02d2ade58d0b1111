// `backup`: the database's content to a file or to stdout, and a note in the database that it was taken.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  takeBackup,
  type BackupProgress,
  type BackupSummary,
} from "../../../backup/take-backup.ts";
import type { Secrets } from "../../../backup/backup-format.ts";
import type { Environment } from "../../../config.ts";
import { errorCode, messageOf } from "../../../core/thrown.ts";
import { whenReachable, type Database } from "../../../server/database.ts";
import { loadLogSettings } from "../../../server/log-settings.ts";
import { loadMasterKeys } from "../../../server/master-keys.ts";
import { DistributedDatabase } from "../../../store/backup/tables.ts";
import { canNoteBackups, insertBackup } from "../../../store/backups.ts";
import { Pool } from "../../../store/database/pool.ts";
import { usingDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
import { refuseJqOfFile } from "../../input/jq-of-file.ts";
import { counted, megabytes } from "../../terminal/counted.ts";
import { Output, toJson } from "../../terminal/output.ts";
import { writeOutputFile } from "../../terminal/output-file.ts";
import { describeShare, withProgress } from "../../terminal/progress-line.ts";
import { programVersion } from "../../version.ts";

export interface BackupFlags extends DatabaseFlags {
  withSecrets?: boolean;
}

const answerTimeoutMs = 30_000;
/** Whoever has a backup can read all of the books. */
const fileMode = 0o600;

export async function backup(
  file: string,
  flags: BackupFlags,
  environment: Environment,
): Promise<void> {
  const output = new Output(flags, environment.isColorRefused);
  refuseJqOfFile(flags, file === "-");
  if (file === "-" && process.stdout.isTTY) {
    throw usageFailure("a backup is nothing for a terminal: name a file, or redirect stdout");
  }
  await usingDatabase(flags, environment, false, async (database) => {
    const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs });
    try {
      const secrets =
        flags.withSecrets === true ? await readSecrets(environment, pool, database) : null;
      const summary = await writeBackup(file, database, secrets, output);
      tell(file, summary, output);
      await note(summary, pool, output);
    } catch (error) {
      if (error instanceof DistributedDatabase) throw distributedFailure(error);
      throw error;
    } finally {
      await pool.end();
    }
  });
}

async function readSecrets(
  environment: Environment,
  pool: Pool,
  { dataDir }: Database,
): Promise<Secrets> {
  const { all } = await whenReachable(() => loadMasterKeys(environment, pool, dataDir));
  const logs = await whenReachable(() => loadLogSettings(environment, pool, dataDir));
  const inBase64 = (key: Uint8Array) => Buffer.from(key).toString("base64");
  return {
    masterKeys: all.map(inBase64),
    ...(logs === null ? {} : { logKeys: logs.logKeys.map(inBase64) }),
  };
}

async function writeBackup(
  file: string,
  database: Database,
  secrets: Secrets | null,
  output: Output,
): Promise<BackupSummary> {
  let progress: BackupProgress = { table: "", rows: 0, rowsExpected: null };
  const options = {
    ledgerctl: programVersion(),
    secrets,
    onProgress: (made: BackupProgress) => {
      progress = made;
    },
  };
  const write = (bytes: AsyncIterable<Buffer>) =>
    file === "-" ? writeToStdout(bytes) : writeOutputFile(file, bytes, fileMode);
  return withProgress(
    !output.isQuiet,
    (elapsedMs) => describeRows(progress, elapsedMs),
    () => whenReachable(() => takeBackup(database.url, options, write)),
  );
}

/** Fails also where the reader goes away: elsewhere that is no failure, but half a backup is none. */
async function writeToStdout(bytes: AsyncIterable<Buffer>): Promise<void> {
  process.stdout.removeAllListeners("error");
  try {
    await pipeline(Readable.from(bytes), process.stdout, { end: false });
  } catch (error) {
    if (errorCode(error) !== "EPIPE") throw error;
    const message = "the backup is not whole: whoever read it stopped before its end";
    throw new CommandFailure(message, exitCodes.failed, error);
  }
}

function describeRows({ rows, rowsExpected }: BackupProgress, elapsedMs: number): string {
  if (rowsExpected === null) return counted(rows, "row");
  return describeShare({
    done: rows,
    total: Math.max(rows, rowsExpected),
    unit: "rows",
    elapsedMs,
  });
}

/** On stdout, unless the backup itself is there. */
function tell(
  file: string,
  { bytes, tables, migrations, takenAt }: BackupSummary,
  output: Output,
): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const render = () =>
    `${file}: ${counted(rows, "row")} of ${counted(tables.length, "table")} as of ${takenAt}, ${megabytes(bytes)}`;
  const document = { file, bytes, tables, migrations, takenAt };
  if (file !== "-") output.result(document, render);
  else if (!output.isJson) output.note(render());
  else if (!output.isQuiet) process.stderr.write(`${toJson(document)}\n`);
}

/** The backup is whole, whatever becomes of the note: a standby, for one, takes none. */
async function note({ takenAt, bytes }: BackupSummary, pool: Pool, output: Output): Promise<void> {
  try {
    if (await canNoteBackups(pool)) await insertBackup(pool, { takenAt, bytes });
  } catch (error) {
    output.warn(
      `the backup is whole, but the database did not note it, and \`doctor\` won't know of it: ${messageOf(error)}`,
    );
  }
}

/** No session of Citus sees all machines at one moment. */
export function distributedFailure(error: DistributedDatabase): CommandFailure {
  return new CommandFailure(
    "the database is spread over several machines by Citus. Back up and restore each of them with PostgreSQL's own " +
      "tools, to one point: SELECT citus_create_restore_point('NAME'), and point-in-time recovery of every machine to " +
      "it (recovery_target_name)",
    exitCodes.failed,
    error,
  );
}
