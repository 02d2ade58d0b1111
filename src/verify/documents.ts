// Documents of proofs and bundles as they are read: exactly their members, each of its type.
import type { z } from "zod";
import { canonicalEntry } from "../core/canonical.ts";
import type { BalanceRow, CloseRecord } from "../core/close.ts";
import type { JsonObject } from "../core/journal.ts";
import type { Timestamp } from "../core/time.ts";
import { balanceRowReply, closeReply, entryDocumentReply } from "../contract/replies.ts";
import type { CloseBalance, EntryDocument } from "../contract/types.ts";

/** A document, or what is wrong with it. */
export type ReadDocument<Document> = { readonly document: Document } | { readonly fault: string };

/** An entry as far as a check looks at it; its hash is taken over the whole document. */
export type CheckedEntry = Omit<EntryDocument, "transactionDate" | "persistedAt"> & {
  readonly transactionDate: Timestamp;
  readonly persistedAt: Timestamp;
};

export function readEntryDocument(value: unknown): ReadDocument<CheckedEntry> {
  const read = readBy(entryDocumentReply, value);
  if ("fault" in read) return read;
  const { transactionDate, persistedAt } = read.document;
  if (!isTimestamp(transactionDate)) return { fault: "transactionDate is no timestamp" };
  if (!isTimestamp(persistedAt)) return { fault: "persistedAt is no timestamp" };
  return { document: { ...read.document, transactionDate, persistedAt } };
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
  const read = readEntryDocument(value);
  return "document" in read && canonicalEntry(read.document) === text ? read.document : null;
}

export function readCloseRecord(value: unknown): ReadDocument<CloseRecord> {
  const read = readBy(closeReply, value);
  if ("fault" in read) return read;
  const { startsAt, endsAt, closedAt } = read.document;
  if (startsAt !== null && !isTimestamp(startsAt)) return { fault: "startsAt is no timestamp" };
  if (!isTimestamp(endsAt)) return { fault: "endsAt is no timestamp" };
  if (!isTimestamp(closedAt)) return { fault: "closedAt is no timestamp" };
  return { document: { ...read.document, startsAt, endsAt, closedAt } };
}

export function readBalanceRow(value: unknown): ReadDocument<BalanceRow> {
  const read = readBy(balanceRowReply, value);
  return "fault" in read ? read : { document: balanceRowOf(read.document) };
}

/** A row as it travels, with amounts to count with. */
export function balanceRowOf(row: CloseBalance): BalanceRow {
  const { glAccountCode, opening, debits, credits, closing, entryCount } = row;
  return {
    glAccountCode,
    opening: BigInt(opening),
    debits: BigInt(debits),
    credits: BigInt(credits),
    closing: BigInt(closing),
    entryCount,
  };
}

/** A document without `reversedByJournalId`, which a list of entries has besides. */
export function hashedPart(entry: JsonObject): JsonObject {
  const { reversedByJournalId, ...document } = entry;
  return document;
}

function readBy<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): ReadDocument<z.output<Schema>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { document: parsed.data };
  const [issue] = parsed.error.issues;
  return { fault: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}` };
}

/** The canonical form of a moment of the years 0001 to 9999. */
function isTimestamp(text: string): text is Timestamp {
  if (text.length !== 24 || text.startsWith("0000")) return false;
  const epochMs = Date.parse(text);
  return !Number.isNaN(epochMs) && new Date(epochMs).toISOString() === text;
}
