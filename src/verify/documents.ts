// Documents of proofs and bundles as they are read: exactly their members, each of its type.
import * as z from "zod";
import { canonicalEntry } from "../core/canonical.ts";
import type { BalanceRow } from "../core/close.ts";
import { parseTimestamp, type Timestamp } from "../core/time.ts";
import { balanceRowReply, closeReply, entryDocumentReply } from "../contract/replies.ts";
import type { CloseBalance } from "../contract/types.ts";

/** A file that is no bundle or no proof at all: there is nothing to check. */
export class MalformedFile extends Error {
  override readonly name = "MalformedFile";
}

/** A document, or what is wrong with it. */
export type ReadDocument<Document> = { readonly document: Document } | { readonly fault: string };

/** The canonical form of a moment of the years 0001 to 9999. */
const moment = z.custom<Timestamp>(
  (value) => typeof value === "string" && parseTimestamp(value) === value,
  "is no timestamp",
);

export const entryDocument = entryDocumentReply.extend({
  transactionDate: moment,
  persistedAt: moment,
});

export const closeDocument = closeReply.extend({
  startsAt: moment.nullable(),
  endsAt: moment,
  closedAt: moment,
});

export const balanceDocument = balanceRowReply.transform(balanceRowOf);

/** An entry as far as a check looks at it; its hash is taken over the whole document. */
export type CheckedEntry = Readonly<z.output<typeof entryDocument>>;

export function readDocument<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): ReadDocument<z.output<Schema>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { document: parsed.data };
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  const what = issue?.message ?? "is wrong";
  return { fault: place === "" ? what : `${place}: ${what}` };
}

/**
 * Reads an entry document that is in canonical form, which can't be read in two ways. null for any other
 * text, which may still be an entry document. Far faster than reading text of any form.
 */
export function readCanonicalEntry(text: string): CheckedEntry | null {
  // What JSON escapes as a lone surrogate is the only thing that canonical form does not rule out.
  if (text.includes("\\ud")) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { data } = entryDocument.safeParse(value);
  return data !== undefined && canonicalEntry(data) === text ? data : null;
}

/** A row as it travels, with amounts to count with. */
export function balanceRowOf(row: CloseBalance): BalanceRow {
  return {
    ...row,
    opening: BigInt(row.opening),
    debits: BigInt(row.debits),
    credits: BigInt(row.credits),
    closing: BigInt(row.closing),
  };
}
