// What is in a backup, decompressed: a line of JSON that describes it; perhaps one with secrets; for each table a line
// of JSON and its rows in COPY's text format up to a line `\.`; and a last line of JSON with what was written.
// docs/operations.md describes it for readers.
import * as z from "zod";
import type { Timestamp } from "../core/time.ts";

/** The version of the format that is written; readers refuse later ones. */
export const formatVersion = 1;

/** The line behind the rows of a table. In COPY's format no row is equal to it. */
export const endOfRows = "\\.\n";

/** Enough to tell what the file is, whatever its version. */
export const headingSchema = z.object({ format: z.literal("ledgerctl backup"), version: z.int() });

/** The first line. */
export const manifestSchema = headingSchema.extend({
  /** The version of ledgerctl that wrote it, and of PostgreSQL that it was read from. */
  ledgerctl: z.string(),
  postgresql: z.string(),
  /** Everything that was committed before is in it. */
  takenAt: z.string() as unknown as z.ZodType<Timestamp>,
  /** Names of the migrations that made its tables, in order. */
  migrations: z.array(z.string()),
  hasSecrets: z.boolean(),
});

export type Manifest = z.infer<typeof manifestSchema>;

/** The second line, where there are secrets. */
export const secretsSchema = z.object({
  /** In base64; the current one first. */
  masterKeys: z.array(z.string()).min(1),
  /** In base64; the current one first. Left out where there is none. */
  logKeys: z.array(z.string()).min(1).optional(),
});

export type Secrets = z.infer<typeof secretsSchema>;

/** The line before the rows of a table. */
export const tableSchema = z.object({ table: z.string(), columns: z.array(z.string()) });

export type TableHeading = z.infer<typeof tableSchema>;

/** The last line. */
export const trailerSchema = z.object({
  tables: z.array(
    z.object({
      name: z.string(),
      rows: z.int(),
      /** Over its rows as they are in the file. */
      sha256: z.string(),
    }),
  ),
  sequences: z.array(z.object({ name: z.string(), lastValue: z.string() })),
});

export type Trailer = z.infer<typeof trailerSchema>;

export type TableSum = Trailer["tables"][number];

/** A document as a line of the file. */
export function toLine(document: object): Buffer {
  return Buffer.from(`${JSON.stringify(document)}\n`);
}

/** A file is no backup, or not as it was written. */
export class DamagedBackup extends Error {
  override readonly name = "DamagedBackup";
}

/** A backup that this program, or this Node, can't read although it may be whole. */
export class UnreadableBackup extends Error {
  override readonly name = "UnreadableBackup";
}
