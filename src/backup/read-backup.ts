// Reading a backup from its first line to its last; whatever is not as it was written is found on the way.
import type { z } from "zod";
import { contentOf, type WholeFile } from "./backup-file.ts";
import {
  DamagedBackup,
  formatVersion,
  headingSchema,
  manifestSchema,
  secretsSchema,
  tableSchema,
  trailerSchema,
  UnreadableBackup,
  type Manifest,
  type Secrets,
  type TableHeading,
  type TableSum,
  type Trailer,
} from "./backup-format.ts";
import { ContentReader } from "./content-reader.ts";
import { TableSumming } from "./table-summing.ts";

export interface BackupContent extends Trailer {
  readonly manifest: Manifest;
  readonly secrets: Secrets | null;
}

/**
 * Reads everything; `takeRows` gets the rows of each table and reads all of them, `onRows` the number of rows so far.
 * Throws DamagedBackup unless tables, rows and sums are those of the last line.
 */
export async function readBackup(
  whole: WholeFile,
  takeRows: (heading: TableHeading, rows: AsyncIterable<Buffer>) => Promise<void>,
  onRows: (rows: number) => void,
): Promise<BackupContent> {
  const reader = new ContentReader(contentOf(whole));
  const manifest = parseManifest(parseLine(await reader.line()));
  const secrets = manifest.hasSecrets
    ? requireShape(secretsSchema, parseLine(await reader.line()))
    : null;
  const sums: TableSum[] = [];
  let rowsBefore = 0;
  for (;;) {
    const document = parseLine(await reader.line());
    const heading = tableSchema.safeParse(document);
    if (!heading.success) {
      const trailer = requireShape(trailerSchema, document);
      if (
        JSON.stringify(sums) !== JSON.stringify(trailer.tables) ||
        (await reader.line()) !== null
      ) {
        throw new DamagedBackup("its tables are not those that its last line names");
      }
      return { manifest, secrets, ...trailer };
    }
    const summing = new TableSumming(heading.data.table);
    const onChunk = (chunk: Buffer) => {
      summing.add(chunk);
      onRows(rowsBefore + summing.rows);
    };
    await takeRows(heading.data, watched(reader.rows(), onChunk));
    rowsBefore += summing.rows;
    sums.push(summing.sum());
  }
}

/** Reads everything, and keeps no rows. */
export function checkBackup(
  whole: WholeFile,
  onRows: (rows: number) => void,
): Promise<BackupContent> {
  const drain = async (_: TableHeading, rows: AsyncIterable<Buffer>) => {
    const pieces = rows[Symbol.asyncIterator]();
    while ((await pieces.next()).done !== true);
  };
  return readBackup(whole, drain, onRows);
}

async function* watched(
  rows: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of rows) {
    onChunk(chunk);
    yield chunk;
  }
}

function parseManifest(document: unknown): Manifest {
  const { version } = requireShape(headingSchema, document);
  if (version > formatVersion) {
    throw new UnreadableBackup(
      `a newer ledgerctl wrote it (format ${version}; this one reads ${formatVersion}): use that version`,
    );
  }
  return requireShape(manifestSchema, document);
}

function parseLine(line: string | null): unknown {
  if (line === null) throw new DamagedBackup("it ends before its last line");
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new DamagedBackup("one of its lines is no JSON", { cause: error });
  }
}

function requireShape<Schema extends z.ZodType>(
  schema: Schema,
  document: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(document);
  if (!parsed.success) {
    throw new DamagedBackup("one of its lines has other members than it should", {
      cause: parsed.error,
    });
  }
  return parsed.data;
}
