// Restoring a backup that was read and found whole: its schema, its rows in one transaction, and later migrations.
import { analyzeTables } from "../store/analyze-tables.ts";
import {
  haltRestoredLogs,
  loadTables,
  requireEmptyDatabase,
  UnfitDatabase,
} from "../store/backup/load.ts";
import { messageOf } from "../core/thrown.ts";
import { listMigrationFiles, listMigrations, migrate } from "../store/migrate.ts";
import type { WholeFile } from "./backup-file.ts";
import { DamagedBackup, UnreadableBackup, type Manifest } from "./backup-format.ts";
import { readBackup, type BackupContent } from "./read-backup.ts";

/** Throws UnreadableBackup where a newer version made the tables. */
export async function requireKnownMigrations({ migrations, ledgerctl }: Manifest): Promise<void> {
  const files = await listMigrationFiles();
  if (migrations.every((name, index) => name === files[index])) return;
  const unknown = migrations.filter((name) => !files.includes(name));
  throw new UnreadableBackup(
    `its tables are those of ledgerctl ${ledgerctl}, with migrations that this version does not know ` +
      `(${(unknown.length > 0 ? unknown : migrations).join(", ")}): use that version or a newer one`,
  );
}

/** All rows are in the database for good, and something that comes after them failed. */
export class UnfinishedRestore extends Error {
  override readonly name = "UnfinishedRestore";
}

/**
 * Loads a backup into a database without rows: all of it or nothing. `content` is what a first reading found.
 * Throws UnfitDatabase where the database can't take it, UnfinishedRestore where it has taken it. `onRows` gets the
 * number of rows so far.
 */
export async function restoreBackup(
  whole: WholeFile,
  content: BackupContent,
  databaseUrl: string,
  onRows: (rows: number) => void,
): Promise<void> {
  const { manifest, sequences } = content;
  await requireEmptyDatabase(databaseUrl);
  await makeSchema(databaseUrl, manifest.migrations);
  const expected = {
    migrations: manifest.migrations,
    tables: content.tables.map(({ name }) => name),
    haltReason: `the ledger was restored from a backup of ${manifest.takenAt}: more may have been shown of the log before`,
  };
  await loadTables(databaseUrl, expected, async ({ copyRows }) => {
    let loaded = 0;
    const again = await readBackup(
      whole,
      async ({ table, columns }, rows) => {
        loaded += await copyRows(table, columns, rows);
      },
      onRows,
    );
    if (JSON.stringify(again) !== JSON.stringify(content)) {
      throw new DamagedBackup("it was changed while it was being restored");
    }
    const rows = content.tables.reduce((sum, table) => sum + table.rows, 0);
    if (loaded !== rows) {
      throw new Error(`the database took ${loaded} of ${rows} rows: nothing was restored`);
    }
    return sequences;
  });
  try {
    await migrate(databaseUrl);
    if (!expected.tables.includes("log_states")) {
      await haltRestoredLogs(databaseUrl, expected.haltReason);
    }
    await analyzeTables(databaseUrl, "restore");
  } catch (error) {
    throw new UnfinishedRestore(messageOf(error), { cause: error });
  }
}

/** The tables as the backup has them. A database may have them already, or some, as long as nothing later is there. */
async function makeSchema(databaseUrl: string, migrations: readonly string[]): Promise<void> {
  const applied = (await listMigrations(databaseUrl)).filter((migration) => migration.applied);
  const later = applied.map(({ name }) => name).filter((name) => !migrations.includes(name));
  if (later.length > 0) {
    throw new UnfitDatabase(
      `the database has later migrations than the backup (${later.join(", ")}): restore makes the tables itself`,
    );
  }
  await migrate(databaseUrl, migrations.length);
}
