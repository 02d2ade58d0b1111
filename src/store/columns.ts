// Columns that several tables have, as they are read from a row.
import * as z from "zod";
import { isJsonObject, type JsonObject } from "../core/journal.ts";
import type { Hash } from "../core/merkle.ts";
import type { Timestamp } from "../core/time.ts";

export const timestampColumn = z.string() as unknown as z.ZodType<Timestamp>;

/** The 32 bytes of a hash. */
export const hashColumn = z.custom<Hash>((value) => Buffer.isBuffer(value));

export const jsonObjectColumn = z.custom<JsonObject>(isJsonObject);

/** The row of a statement that counts. Like all schemas of rows it is made once: each is compiled when it is first used. */
export const countRow = z.object({ count: z.number() });

export const ledgerIdRow = z.object({ ledgerId: z.string() });

export const assetCodeRow = z.object({ assetCode: z.string() });
