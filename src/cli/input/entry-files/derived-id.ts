// The externalId of an entry that has none in its file: made from its content, so that posting the file
// again posts nothing twice.
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../core/canonical.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../core/journal.ts";
import { parseTimestamp } from "../../../core/time.ts";
import { Occurrences } from "./occurrences.ts";

/**
 * Derives ids for the entries of one file in its order: `sha256-<hash>-<n>`, the hash over the canonical
 * JSON (RFC 8785) of the normal form, n the number of entries like it that came before.
 */
export class DerivedIds {
  readonly #occurrences = new Occurrences();

  next(entry: JsonObject): string {
    const digest = createHash("sha256")
      .update(canonicalJson(normalForm(entry)), "utf8")
      .digest();
    return `sha256-${digest.toString("hex")}-${this.#occurrences.add(digest)}`;
  }
}

/**
 * What an entry says, whichever way a file says it: nulls and stated defaults are left out, and the date
 * is in its canonical form. Defaults that depend on the ledger stay as they are.
 */
export function normalForm(entry: JsonObject): JsonObject {
  const { lines, metadata, transactionDate, ...rest } = withoutNulls(entry);
  const date = typeof transactionDate === "string" ? parseTimestamp(transactionDate) : null;
  const hasMetadata = !isJsonObject(metadata) || Object.keys(metadata).length > 0;
  return withoutNulls({
    ...rest,
    externalId: null,
    entryType: rest["entryType"] === "STANDARD" ? null : (rest["entryType"] ?? null),
    postingStatus: rest["postingStatus"] === "POSTED" ? null : (rest["postingStatus"] ?? null),
    metadata: hasMetadata ? (metadata ?? null) : null,
    transactionDate: date ?? transactionDate ?? null,
    lines: Array.isArray(lines) ? lines.map(normalLine) : (lines ?? null),
  });
}

function normalLine(line: JsonValue): JsonValue {
  if (!isJsonObject(line)) return line;
  const members = withoutNulls(line);
  const { functionalAmount, functionalCurrency, transactionAmount, transactionCurrency } = members;
  // Both currencies stated and equal is the same as the transaction's left out.
  const isOneCurrency =
    transactionCurrency === undefined || transactionCurrency === functionalCurrency;
  return withoutNulls({
    ...members,
    transactionCurrency: isOneCurrency ? null : transactionCurrency,
    transactionAmount:
      isOneCurrency && transactionAmount === functionalAmount ? null : (transactionAmount ?? null),
  });
}

function withoutNulls(members: JsonObject): JsonObject {
  if (!Object.values(members).includes(null)) return members;
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
