// Schemas of fields that replies of all kinds have.
import * as z from "zod";

export const id = z.uuid();
export const timestamp = z.string().describe("ISO 8601, UTC, milliseconds");
export const amount = z
  .string()
  .regex(/^(0|-?[1-9][0-9]*)$/)
  .describe("integer, smallest unit");
