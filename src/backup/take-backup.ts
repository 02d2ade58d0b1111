// Taking a backup: one snapshot of the database as a stream of compressed bytes.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Timestamp } from "../core/time.ts";
import { withSnapshot, type Snapshot } from "../store/backup/snapshot.ts";
import type { BackupTable } from "../store/backup/tables.ts";
import {
  endOfRows,
  formatVersion,
  toLine,
  type Manifest,
  type Secrets,
  type TableSum,
} from "./backup-format.ts";
import { createCompressor, sealed } from "./compression.ts";
import { TableSumming } from "./table-summing.ts";

export interface BackupOptions {
  /** The version of this program. */
  readonly ledgerctl: string;
  /** Null leaves them out. */
  readonly secrets: Secrets | null;
  readonly onProgress: (progress: BackupProgress) => void;
}

/** How far a backup has come. */
export interface BackupProgress {
  readonly table: string;
  /** Of all tables, so far. */
  readonly rows: number;
  /** About how many there will be; null where the database has not counted them. */
  readonly rowsExpected: number | null;
}

/** What a backup is of. */
export interface BackupSummary {
  /** How many bytes the file has. */
  readonly bytes: number;
  readonly tables: readonly TableSum[];
  readonly migrations: readonly string[];
  readonly takenAt: Timestamp;
}

/** Takes a backup; `write` gets the bytes of the file, and resolves when they are where they belong. */
export function takeBackup(
  databaseUrl: string,
  options: BackupOptions,
  write: (bytes: AsyncIterable<Buffer>) => Promise<void>,
): Promise<BackupSummary> {
  return withSnapshot(databaseUrl, async (snapshot) => {
    const tables: TableSum[] = [];
    let bytes = 0;
    const counted = async function* () {
      for await (const chunk of compressed(contentOf(snapshot, options, tables))) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    await write(counted());
    const { migrations, takenAt } = snapshot;
    return { bytes, tables, migrations, takenAt };
  });
}

/** Fills `tables` on the way. */
async function* contentOf(
  snapshot: Snapshot,
  { ledgerctl, secrets, onProgress }: BackupOptions,
  tables: TableSum[],
): AsyncGenerator<Buffer> {
  const { postgresql, takenAt, migrations } = snapshot;
  const manifest: Manifest = {
    format: "ledgerctl backup",
    version: formatVersion,
    ledgerctl,
    postgresql,
    takenAt,
    migrations: [...migrations],
    hasSecrets: secrets !== null,
  };
  yield toLine(manifest);
  if (secrets !== null) yield toLine(secrets);
  const rowsExpected = expectedRows(snapshot.tables);
  let rowsBefore = 0;
  for (const table of snapshot.tables) {
    yield toLine({ table: table.name, columns: table.columns });
    const summing = new TableSumming(table.name);
    for await (const chunk of snapshot.copyRows(table)) {
      summing.add(chunk);
      onProgress({ table: table.name, rows: rowsBefore + summing.rows, rowsExpected });
      yield chunk;
    }
    yield Buffer.from(endOfRows);
    rowsBefore += summing.rows;
    tables.push(summing.sum());
  }
  yield toLine({ tables, sequences: await snapshot.listSequences() });
}

/** Compressed and sealed. Whoever stops reading early ends `content` too. */
async function* compressed(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { compression, writer } = createCompressor();
  const written = pipeline(Readable.from(content), writer);
  // What fails there fails the reading below as well, and is reported once.
  written.catch(() => undefined);
  yield* sealed(compression, writer as AsyncIterable<Buffer>);
  await written;
}

/** Tables that were never counted have few rows, unless none was. */
function expectedRows(tables: readonly BackupTable[]): number | null {
  const rows = tables.reduce((sum, { rowsEstimate }) => sum + (rowsEstimate ?? 0), 0);
  return rows === 0 ? null : rows;
}
