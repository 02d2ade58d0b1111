// Canonical bytes: JSON after RFC 8785 (JCS), and the document of an entry that is hashed.
import { hashLeaf } from "./merkle.ts";
import type { Entry, JsonValue, Line } from "./journal.ts";

/**
 * The canonical JSON of a value (RFC 8785): members sorted by UTF-16 code units, no white space,
 * numbers in ECMAScript's shortest form. Text must be well-formed and numbers finite; both are
 * checked where input is parsed.
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${text(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(",")}}`;
}

function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * The document of an entry whose hash is its leaf: every member but `reversedByJournalId`, in
 * canonical form. Written out member by member, in order, because this runs for every entry written.
 */
export function canonicalEntry(entry: EntryContent): string {
  return (
    `{"description":${text(entry.description)},"entryType":"${entry.entryType}",` +
    `"eventType":${text(entry.eventType)},"externalId":${text(entry.externalId)},` +
    `"journalId":"${entry.journalId}","ledgerId":"${entry.ledgerId}",` +
    `"lines":[${entry.lines.map(canonicalLine).join(",")}],` +
    `"metadata":${canonicalJson(entry.metadata)},"originAccount":${text(entry.originAccount)},` +
    `"originSystem":${text(entry.originSystem)},"persistedAt":"${entry.persistedAt}",` +
    `"postingStatus":"${entry.postingStatus}","reversesJournalId":${text(entry.reversesJournalId)},` +
    `"sequence":${entry.sequence},"transactionDate":"${entry.transactionDate}"}`
  );
}

/** An entry whose amounts may still be the texts that they are hashed as. */
export type EntryContent = Omit<Entry, "lines" | "transactionDate" | "persistedAt"> & {
  readonly transactionDate: string;
  readonly persistedAt: string;
  readonly lines: readonly LineContent[];
};

/** A line of such an entry. */
export type LineContent = Omit<Line, "functionalAmount" | "transactionAmount"> & {
  readonly functionalAmount: bigint | string;
  readonly transactionAmount: bigint | string;
};

function canonicalLine(line: LineContent): string {
  return (
    `{"description":${text(line.description)},"functionalAmount":"${line.functionalAmount}",` +
    `"functionalCurrency":${text(line.functionalCurrency)},"glAccountCode":${text(line.glAccountCode)},` +
    `"spotRate":${line.spotRate === null ? "null" : JSON.stringify(line.spotRate)},` +
    `"transactionAmount":"${line.transactionAmount}",` +
    `"transactionCurrency":${text(line.transactionCurrency)}}`
  );
}

/** What JSON.stringify may escape. */
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/** RFC 8785 escapes text as JSON.stringify does, as long as it is well-formed. Most needs none: looking takes half the time. */
function text(value: string | null): string {
  if (value === null) return "null";
  return escaped.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** The leaf hash of an entry, 32 bytes: SHA-256(0x00 ‖ UTF-8(canonical document)). */
export function entryLeaf(entry: Entry): Buffer {
  return hashLeaf(canonicalEntry(entry));
}
