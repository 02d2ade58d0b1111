// Reads entry documents in canonical form (RFC 8785) as the text that they are: the form prescribes every byte but those
// of the values. To parse the JSON, check it against its schema and write it again takes four times as long.
import { canonicalJson } from "../core/canonical.ts";
import { entryTypes, type JsonValue } from "../core/journal.ts";
import { parseTimestamp, type Timestamp } from "../core/time.ts";

/** An entry as far as a check looks at it; its hash is taken over the whole document. */
export interface CheckedEntry {
  readonly journalId: string;
  readonly ledgerId: string;
  readonly sequence: number;
  readonly transactionDate: Timestamp;
  readonly persistedAt: Timestamp;
  readonly lines: readonly CheckedLine[];
}

interface CheckedLine {
  readonly glAccountCode: string;
  readonly functionalAmount: string;
  readonly functionalCurrency: string;
}

const characters = String.raw`[^"\\\x00-\x1f]*`;
const escape = String.raw`\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f]))`;
const text = `"${characters}(?:${escape}${characters})*"`;
const textOrNull = `(?:null|${text})`;
const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
const amount = "(?:0|-?[1-9][0-9]*)";
const time = "[0-9-]{10}T[0-9:.]{12}Z";

/** Up to the first line. */
const start = new RegExp(
  `\\{"description":${textOrNull},"entryType":"(?:${entryTypes.join("|")})",` +
    `"eventType":${textOrNull},"externalId":${textOrNull},` +
    `"journalId":"(${uuid})","ledgerId":"(${uuid})","lines":\\[`,
  "y",
);

/** A line, with what comes behind it. */
const line = new RegExp(
  `\\{"description":${textOrNull},"functionalAmount":"(${amount})","functionalCurrency":(${text}),` +
    `"glAccountCode":(${text}),"spotRate":(null|[0-9.e+-]+),` +
    `"transactionAmount":"${amount}","transactionCurrency":${text}\\}(,|\\])`,
  "y",
);

/** Behind the lines. Wherever the metadata is taken to end, it has to be canonical JSON of its own. */
const end = new RegExp(
  `,"metadata":(\\{[^]*?\\}),"originAccount":${textOrNull},"originSystem":${textOrNull},` +
    `"persistedAt":"(${time})","postingStatus":"POSTED",` +
    `"reversesJournalId":(?:null|"${uuid}"),"sequence":([1-9][0-9]{0,14}),` +
    `"transactionDate":"(${time})"\\}$`,
  "y",
);

/** A member of an object, its name and value the same in canonical form as they are, with what comes behind it. */
const plainMember = new RegExp(
  `"(${characters})":(?:${text}|null|true|false|0|-?[1-9][0-9]{0,14})([,}])`,
  "y",
);

/** Reads an entry document in canonical form. null for any other text, which may still be an entry document. */
export function readCanonicalEntry(document: string): CheckedEntry | null {
  start.lastIndex = 0;
  const begun = start.exec(document);
  if (begun === null || !document.isWellFormed()) return null;
  const lines: CheckedLine[] = [];
  line.lastIndex = start.lastIndex;
  for (let found = line.exec(document); ; found = line.exec(document)) {
    if (found === null) return null;
    const spotRate = groupOf(found, 4);
    if (spotRate !== "null" && String(Number(spotRate)) !== spotRate) return null;
    lines.push({
      functionalAmount: groupOf(found, 1),
      functionalCurrency: valueOf(groupOf(found, 2)),
      glAccountCode: valueOf(groupOf(found, 3)),
    });
    if (groupOf(found, 5) === "]") break;
  }
  end.lastIndex = line.lastIndex;
  const ended = end.exec(document);
  if (ended === null || !isCanonical(groupOf(ended, 1))) return null;
  const persistedAt = timeOf(groupOf(ended, 2));
  const transactionDate = timeOf(groupOf(ended, 4));
  if (persistedAt === null || transactionDate === null) return null;
  return {
    journalId: groupOf(begun, 1),
    ledgerId: groupOf(begun, 2),
    sequence: Number(groupOf(ended, 3)),
    transactionDate,
    persistedAt,
    lines,
  };
}

/** A group that takes part in every match. By its index: a pattern of names takes half as long again as the match. */
function groupOf(match: RegExpExecArray, index: number): string {
  return match[index] as string;
}

/** Of a text as it is written. */
function valueOf(written: string): string {
  return written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
}

/** The moment that a text is the canonical form of; null for none of the years 0001 to 9999. */
function timeOf(value: string): Timestamp | null {
  const moment = parseTimestamp(value);
  return moment === value ? moment : null;
}

function isCanonical(json: string): boolean {
  if (isPlain(json)) return true;
  // What JSON escapes as a lone surrogate is the only thing that writing it again does not rule out.
  if (json.includes("\\ud")) return false;
  try {
    return canonicalJson(JSON.parse(json) as JsonValue) === json;
  } catch {
    return false;
  }
}

/** Whether it is an object of plain members in order, as most metadata is. */
function isPlain(json: string): boolean {
  if (json === "{}") return true;
  let last: string | null = null;
  plainMember.lastIndex = 1;
  for (let found = plainMember.exec(json); found !== null; found = plainMember.exec(json)) {
    const name = groupOf(found, 1);
    if (last !== null && name <= last) return false;
    last = name;
    if (groupOf(found, 2) === "}") return plainMember.lastIndex === json.length;
  }
  return false;
}
