// `restore`: the file is checked first, then loaded into an empty database, then audited.
import { requireWhole, type WholeFile } from "../../../backup/backup-file.ts";
import { DamagedBackup, UnreadableBackup } from "../../../backup/backup-format.ts";
import { checkBackup, type BackupContent } from "../../../backup/read-backup.ts";
import {
  requireKnownMigrations,
  restoreBackup,
  UnfinishedRestore,
} from "../../../backup/restore-backup.ts";
import type { AuditReport } from "../../../audit/audit-log.ts";
import type { Environment } from "../../../config.ts";
import { messageOf } from "../../../core/thrown.ts";
import { whenReachable, type Database } from "../../../server/database.ts";
import { requireEmptyDatabase, UnfitDatabase } from "../../../store/backup/load.ts";
import { DistributedDatabase } from "../../../store/backup/tables.ts";
import {
  isConnectionLost,
  isDatabaseTrouble,
  isRowRefused,
} from "../../../store/database/errors.ts";
import { usingDatabase } from "../../connection/database-context.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import { CommandFailure, exitCodes, type ExitCode } from "../../failure.ts";
import { describeAuditorsFile, kindOfAuditorsFile } from "../../input/auditors-file.ts";
import { counted } from "../../terminal/counted.ts";
import { untilInterrupted } from "../../terminal/interrupts.ts";
import { Output } from "../../terminal/output.ts";
import { describeShare, withProgress } from "../../terminal/progress-line.ts";
import { auditDatabase, describeReport } from "../audit/audit.ts";
import { distributedFailure } from "../backup/backup.ts";
import { openSource } from "./backup-source.ts";
import { keepSecretKeys } from "./secret-keys.ts";

export interface RestoreFlags extends DatabaseFlags {
  /** False with `--no-audit`. */
  audit: boolean;
}

export async function restore(
  file: string,
  flags: RestoreFlags,
  environment: Environment,
): Promise<ExitCode> {
  const output = new Output(flags, environment.isColorRefused);
  const { source, whole, content } = await untilInterrupted(() => check(file, output));
  try {
    return await usingDatabase(flags, environment, true, async (database) => {
      const advice = await load(whole, content, { file, database, environment, output });
      const report = flags.audit ? await auditDatabase(database, null, output) : null;
      tell(file, (await source.stat()).size, content, report, output);
      for (const note of advice) output.note(note);
      output.note(
        "Its logs are halted, since more may have been shown of them than the backup has: `ledgerctl log resume --all` " +
          "if you know better, else `ledgerctl log restart --all`",
      );
      return report === null || report.ok ? exitCodes.done : exitCodes.verificationFailed;
    });
  } finally {
    await source.close();
  }
}

/** Reads all of the file before anything is written. */
async function check(file: string, output: Output) {
  let rows = 0;
  let share = 0;
  const describe = () =>
    share < 1 ? `checking, ${Math.floor(share * 100)} %` : `checking, ${counted(rows, "row")}`;
  return withProgress(!output.isQuiet, describe, async () => {
    const source = await openSource(file);
    try {
      const whole = await requireWhole(source, (read) => {
        share = read;
      });
      const content = await checkBackup(whole, (read) => {
        rows = read;
      });
      await requireKnownMigrations(content.manifest);
      return { source, whole, content };
    } catch (error) {
      const start = await source.read({ position: 0, length: 4096 });
      await source.close();
      const found = kindOfAuditorsFile(start.buffer.subarray(0, start.bytesRead));
      if (!(error instanceof DamagedBackup) || found === null) throw explain(error, file);
      const message = `${file} is no backup but ${describeAuditorsFile(found)}. Nothing was restored`;
      throw new CommandFailure(message, exitCodes.verificationFailed, error);
    }
  });
}

/** Resolves with advice for the user. */
async function load(
  whole: WholeFile,
  content: BackupContent,
  place: { file: string; database: Database; environment: Environment; output: Output },
): Promise<readonly string[]> {
  const { file, database, environment, output } = place;
  const total = content.tables.reduce((sum, table) => sum + table.rows, 0);
  let done = 0;
  const describe = (elapsedMs: number) => describeShare({ done, total, unit: "rows", elapsedMs });
  try {
    await whenReachable(() => requireEmptyDatabase(database.url));
    // Before the rows: a restore that was ended in between can be repeated.
    const advice = await keepSecretKeys(content.secrets, database, environment);
    await withProgress(!output.isQuiet, describe, () =>
      restoreBackup(whole, content, database.url, (rows) => {
        done = rows;
      }),
    );
    return advice;
  } catch (error) {
    throw explain(error, file);
  }
}

/** What the failures of a restore are to its user. */
function explain(error: unknown, file: string): unknown {
  if (error instanceof DamagedBackup) {
    const message = `${file} is damaged: ${error.message}. Nothing was restored; use another copy or another backup`;
    return new CommandFailure(message, exitCodes.verificationFailed, error);
  }
  if (error instanceof UnreadableBackup) {
    const message = `${file} can't be restored: ${error.message}. Nothing was restored`;
    return new CommandFailure(message, exitCodes.failed, error);
  }
  if (error instanceof UnfitDatabase) {
    const message = `${error.message}. Nothing was restored: name a new --data-dir, or a database that was just created`;
    return new CommandFailure(message, exitCodes.conflict, error);
  }
  if (error instanceof DistributedDatabase) return distributedFailure(error);
  if (error instanceof UnfinishedRestore) {
    const message = `all rows were restored, but then the database failed: ${error.message}. Mend that, and run \`ledgerctl migrate\` and \`ledgerctl audit\``;
    return new CommandFailure(message, exitCodes.unavailable, error);
  }
  if (isRowRefused(error)) {
    const message = `${file} can't be restored: ${messageOf(error)}. Nothing was restored. The file was changed, or the database that it was taken of had lost a constraint; use another backup`;
    return new CommandFailure(message, exitCodes.verificationFailed, error);
  }
  if (isDatabaseTrouble(error)) {
    const message = `the database could not take the rows: ${messageOf(error)}. Nothing was restored; look at its disk and memory`;
    return new CommandFailure(message, exitCodes.unavailable, error);
  }
  if (isConnectionLost(error)) {
    const message = `the connection to the database broke while rows were loaded: ${messageOf(error)}. Most often its disk is full, and its log says so. Rows are loaded all or not at all: make space, and restore again`;
    return new CommandFailure(message, exitCodes.unavailable, error);
  }
  return error;
}

function tell(
  file: string,
  bytes: number,
  { manifest, tables }: BackupContent,
  audit: AuditReport | null,
  output: Output,
): void {
  const { migrations, takenAt } = manifest;
  output.result({ file, bytes, tables, migrations, takenAt, audit }, () => {
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    const restored = `${counted(rows, "row")} of ${counted(tables.length, "table")} restored, as of ${takenAt}`;
    return audit === null ? restored : `${restored}\n\n${describeReport(audit, output)}`;
  });
}
