// Cursors of registers: where the next page begins, and of what. They mean nothing to clients, and hold no secret.
import { createHash } from "node:crypto";
import { validationRefusal } from "../../core/errors.ts";
import { parseTimestamp, type Timestamp } from "../../core/time.ts";
import type { RegisterPlace } from "../../store/registers.ts";

export interface RegisterCursor {
  /** The bounds of the register, as the first page had them. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** The last sequence of the journal, as the first page had it. */
  readonly upToSequence: number;
  /** The last line of the page before. */
  readonly after: RegisterPlace;
}

const digestBytes = 9;

/** `question`: what was asked for, which every page has in common. */
export function writeCursor(cursor: RegisterCursor, question: readonly unknown[]): string {
  const { from, to, upToSequence, after } = cursor;
  const { transactionDate, sequence, lineNumber } = after;
  const text = JSON.stringify([from, to, upToSequence, transactionDate, sequence, lineNumber]);
  return Buffer.concat([digestOf(text, question), Buffer.from(text)]).toString("base64url");
}

/** Throws `validation` for a text that `writeCursor` did not make for this question. */
export function readCursor(cursor: string, question: readonly unknown[]): RegisterCursor {
  const bytes = Buffer.from(cursor, "base64url");
  const text = bytes.subarray(digestBytes).toString();
  const isOurs =
    bytes.toString("base64url") === cursor &&
    bytes.subarray(0, digestBytes).equals(digestOf(text, question));
  const read = isOurs ? placeIn(text) : null;
  if (read === null) throw cursorRefusal();
  return read;
}

/** The refusal of a cursor that no page of this register has given. */
export function cursorRefusal(): Error {
  const detail =
    "must be the nextCursor of a page of this register, with the same other parameters";
  return validationRefusal([{ parameter: "cursor", detail }]);
}

/** Finds out what was cut or mistyped, and a cursor of another register. Anybody could make one: it opens nothing. */
function digestOf(text: string, question: readonly unknown[]): Buffer {
  const hash = createHash("sha256").update(JSON.stringify([question, text]));
  return hash.digest().subarray(0, digestBytes);
}

function placeIn(text: string): RegisterCursor | null {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parts)) return null;
  const [from, to, upToSequence, date, sequence, lineNumber] = parts as unknown[];
  const transactionDate = timestampOf(date);
  const bounds = [from, to].map((bound) => (bound === null ? null : timestampOf(bound)));
  const hasBounds = bounds.every((bound) => bound !== undefined);
  const numbers = [upToSequence, sequence, lineNumber];
  if (!hasBounds || transactionDate === undefined || !numbers.every(isCount)) return null;
  if ((lineNumber as number) > lineNumberMax) return null;
  return {
    from: bounds[0] ?? null,
    to: bounds[1] ?? null,
    upToSequence: upToSequence as number,
    after: {
      transactionDate,
      sequence: sequence as number,
      lineNumber: lineNumber as number,
    },
  };
}

/** Of a smallint. */
const lineNumberMax = 32_767;

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function timestampOf(value: unknown): Timestamp | undefined {
  return (typeof value === "string" ? parseTimestamp(value) : null) ?? undefined;
}
