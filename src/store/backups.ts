// When backups were taken.
import * as z from "zod";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

const backupRow = z.object({ takenAt: timestampColumn, bytes: z.int() });

export type BackupRecord = z.infer<typeof backupRow>;

/** Notes that a backup is whole. */
export async function insertBackup(
  connection: Connection,
  { takenAt, bytes }: BackupRecord,
): Promise<void> {
  await connection.run(command`
    INSERT INTO backups (taken_at, bytes) VALUES (${takenAt}, ${bytes}) ON CONFLICT DO NOTHING`);
}

/** The last backup that was taken of this database, or of the one that it was restored from; null for none. */
export async function findLastBackup(connection: Connection): Promise<BackupRecord | null> {
  return connection.maybeOne(sql.type(backupRow)`
    SELECT taken_at AS "takenAt", bytes FROM backups ORDER BY taken_at DESC LIMIT 1`);
}

const tableRow = z.object({ exists: z.boolean() });

/** Whether the database has been migrated far enough to note backups. */
export async function canNoteBackups(connection: Connection): Promise<boolean> {
  const { exists } = await connection.one(
    sql.type(tableRow)`SELECT to_regclass('backups') IS NOT NULL AS exists`,
  );
  return exists;
}
