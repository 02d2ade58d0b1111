// Columns that several tables have, as they are read from a row.
import * as z from "zod";
import { isJsonObject, type JsonObject } from "../core/journal.ts";
import type { Hash } from "../core/merkle.ts";
import type { Timestamp } from "../core/time.ts";

export const timestampColumn = z.custom<Timestamp>((value) => typeof value === "string");

/** The 32 bytes of a hash. */
export const hashColumn = z.custom<Hash>((value) => Buffer.isBuffer(value));

export const jsonObjectColumn = z.custom<JsonObject>(isJsonObject);
