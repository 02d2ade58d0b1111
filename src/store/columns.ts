// Columns that several tables have, as they are read from a row.
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";

export const timestampColumn = z.custom<Timestamp>((value) => typeof value === "string");

export const jsonObjectColumn = z.custom<JsonObject>(isJsonObject);
