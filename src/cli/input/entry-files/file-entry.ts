// What a file of entries turns into, one after the other: bodies to post, or what is wrong and where.
import type { JsonObject } from "../../../core/journal.ts";

/** An entry as it stands in the file. Only its syntax was looked at: the service judges the rest. */
export interface FoundEntry {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** Of a CSV: on which line of the file each line of the entry stands. */
  readonly rowLines?: readonly number[];
  readonly body: JsonObject;
  readonly fault?: never;
}

/** Something that can't be read as an entry. */
export interface FoundFault {
  readonly line: number;
  /** One sentence that names line, and column or member. */
  readonly fault: string;
  readonly body?: never;
  readonly externalId?: never;
}

export type Found = FoundEntry | FoundFault;

/** Four times what the service takes unless it is told otherwise. */
export const entryBytesMax = 4 * 1024 * 1024;
export const entryTooLong = `the entry is longer than ${entryBytesMax / 1024 / 1024} MiB`;
