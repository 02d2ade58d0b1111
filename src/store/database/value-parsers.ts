// How values of PostgreSQL become values of ours, the same on every connection. The drivers' own
// parsers are not used: one that turned numeric into a float would be a bug here.
import { Buffer } from "node:buffer";
import type { Timestamp } from "../../core/time.ts";

/** Object ids of the built-in types that our columns have (pg_type.dat). */
const typeIds = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  json: 114,
  float8: 701,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
  textArray: 1009,
} as const;

type Parser = (text: string) => unknown;

/** By the name of the type: what its text becomes. Types that are not named stay text. */
const valueParsers: Readonly<Record<Exclude<keyof typeof typeIds, "textArray">, Parser>> = {
  bool: (text) => text === "t",
  bytea: (text) => Buffer.from(text.slice(2), "hex"),
  int2: Number,
  int4: Number,
  int8: parseSafeInteger,
  float8: Number,
  numeric: BigInt,
  timestamptz: parseTimestamptz,
  json: JSON.parse,
  jsonb: JSON.parse,
};

const parsersById = new Map<number, Parser>([
  ...Object.entries(valueParsers).map(([name, parser]): [number, Parser] => [
    typeIds[name as keyof typeof valueParsers],
    parser,
  ]),
  [typeIds.textArray, parseTextArray],
]);

/** The type parsers for a client of `pg`. */
export const pgTypes = {
  getTypeParser: (typeId: number): Parser => parsersById.get(typeId) ?? ((text: string) => text),
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error("a bigint column holds more than 2^53");
  return value;
}

/** What PostgreSQL writes where DateStyle is ISO and TimeZone is UTC: `2026-01-31 23:59:59.9+00`. */
const timestamptz = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d{1,3})\d{0,3})?\+00$/;

/** The database has seen to it that it is a time: only its form is changed. */
function parseTimestamptz(text: string): Timestamp {
  const match = timestamptz.exec(text);
  if (match === null) throw new Error(`not a timestamp in UTC: ${text}`);
  const [, date, time, milliseconds = ""] = match;
  return `${date}T${time}.${milliseconds.padEnd(3, "0")}Z` as Timestamp;
}

/** Arrays of text are only read where their elements are plain words (scopes). */
function parseTextArray(text: string): string[] {
  return text === "{}" ? [] : text.slice(1, -1).split(",");
}
