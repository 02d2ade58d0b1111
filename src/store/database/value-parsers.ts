// How values of PostgreSQL become values of ours, the same on every connection. The drivers' own
// parsers are not used: one that turned numeric into a float would be a bug here.
import { Buffer } from "node:buffer";
import { types } from "pg";
import type { Timestamp } from "../../core/time.ts";

type Parser = (text: string) => unknown;

const { builtins } = types;

/** By the object id of a type: what its text becomes. Types that are not named stay text. */
const parsersById = new Map<number, Parser>([
  [builtins.BOOL, (text) => text === "t"],
  [builtins.BYTEA, (text) => Buffer.from(text.slice(2), "hex")],
  [builtins.INT2, Number],
  [builtins.INT4, Number],
  [builtins.INT8, parseSafeInteger],
  [builtins.FLOAT8, Number],
  [builtins.NUMERIC, BigInt],
  [builtins.TIMESTAMPTZ, parseTimestamptz],
  [builtins.JSON, JSON.parse],
  [builtins.JSONB, JSON.parse],
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
export function parseTimestamptz(text: string): Timestamp {
  const match = timestamptz.exec(text);
  if (match === null) throw new Error(`not a timestamp in UTC: ${text}`);
  const [, date, time, milliseconds = ""] = match;
  return `${date}T${time}.${milliseconds.padEnd(3, "0")}Z` as Timestamp;
}
