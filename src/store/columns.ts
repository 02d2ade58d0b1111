// Columns that several tables have, as they are read from a row.
import { z } from "zod";
import type { JsonObject } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";

export const timestampColumn = z.custom<Timestamp>((value) => typeof value === "string");

export const jsonObjectColumn = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);
