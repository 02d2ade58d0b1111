// Canonical JSON and leaf hashes a second time, from the contract (section 7) and RFC 8785 alone, as
// anybody could write them who has nothing but the API's replies.
import { createHash } from "node:crypto";

/** An entry as the API returns it. */
export interface LeafDocument {
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly [member: string]: unknown;
}

const entryMembers = [
  "description",
  "entryType",
  "eventType",
  "externalId",
  "journalId",
  "ledgerId",
  "lines",
  "metadata",
  "originAccount",
  "originSystem",
  "persistedAt",
  "postingStatus",
  "reversesJournalId",
  "sequence",
  "transactionDate",
];

const lineMembers = [
  "description",
  "functionalAmount",
  "functionalCurrency",
  "glAccountCode",
  "spotRate",
  "transactionAmount",
  "transactionCurrency",
];

/** JSON with sorted members. What it is given was read by JSON.parse. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join()}}`;
}

/** The leaf of an entry, in hex, from the API's reply. */
export function leafOf(entry: LeafDocument): string {
  const document = {
    ...pick(entry, entryMembers),
    lines: entry.lines.map((line) => pick(line, lineMembers)),
  };
  const bytes = Buffer.concat([Buffer.from([0]), Buffer.from(canonicalText(document), "utf8")]);
  return createHash("sha256").update(bytes).digest("hex");
}

function pick(from: Readonly<Record<string, unknown>>, members: readonly string[]) {
  return Object.fromEntries(
    members.map((member) => {
      if (!Object.hasOwn(from, member)) throw new Error(`the reply has no member ${member}`);
      return [member, from[member]];
    }),
  );
}
