// Leaves of logs that are signed, but are not the record that belongs at their index, or no record at all.
import { canonicalJson } from "../../src/core/canonical.ts";
import type { JsonObject } from "../../src/core/journal.ts";
import { closeDocuments, entryDocuments } from "./close-vectors.ts";

/** What should be there, the leaf that is at index 1, and what is said of it. */
type RefusedRecord = readonly [why: string, data: string | Buffer, fault: RegExp];

const [first, second] = entryDocuments() as [JsonObject, JsonObject];
const [firstClose, secondClose] = closeDocuments() as [JsonObject, JsonObject];
const otherLedger = "0190b6a0-0000-7000-8000-000000000002";
const text = canonicalJson(second);
const { closeHash, ...hashed } = secondClose;

/** Of a journal. */
export const refusedEntries: readonly RefusedRecord[] = [
  ["the entry of another sequence", canonicalJson(first), /sequence 1, .* 2 was expected/],
  ["an entry of another ledger", entryWith({ ledgerId: otherLedger }), /is of the ledger/],
  ["a close", canonicalJson(secondClose), /is no entry: /],
  ["a member too few", text.replace(/"eventType":[^,]*,/, ""), /is no entry: /],
  ["a member too many", entryWith({ reversedByJournalId: null }), /reversedByJournalId/],
  ["lines that do not sum to zero", unbalanced(second), /lines of the entry sum to 1$/],
  ["no lines", entryWith({ lines: [] }), /fewer than two lines/],
  ["white space", text.replace(",", ", "), /not in canonical form/],
  ["a line feed at the end", `${text}\n`, /not in canonical form/],
  ["members in another order", JSON.stringify({ sequence: 2, ...second }), /canonical form/],
  ["another escape", text.replace('"POSTED"', '"\\u0050OSTED"'), /not in canonical form/],
  ["a number in another form", text.replace('"sequence":2', '"sequence":2.0'), /canonical/],
  ["a name that is there twice", text.replace("{", '{"description":null,'), /twice/],
  ["a byte order mark", `\ufeff${text}`, /is not JSON/],
  ["an array", `[${text}]`, /is not a JSON object/],
  ["no JSON", "leaf data 2", /is not JSON/],
  ["nothing", "", /is not JSON/],
  ["bytes that are no UTF-8", notUtf8(second), /not in canonical form/],
];

/** Of the closes. */
export const refusedCloses: readonly RefusedRecord[] = [
  ["the close of another number", withoutHash(firstClose), /number 1, .* 2 was expected/],
  ["a close of another ledger", closeWith({ ledgerId: otherLedger }), /is of the ledger/],
  ["an entry", canonicalJson(second), /is no close: /],
  ["a close with its own hash", canonicalJson(secondClose), /closeHash/],
  ["another algorithm", closeWith({ merkleAlgorithm: "other" }), /merkleAlgorithm is "other"/],
  ["no close before", closeWith({ previousCloseHash: null }), /no previousCloseHash/],
  ["white space", closeWith({}).replace(",", ", "), /not in canonical form/],
];

function entryWith(more: JsonObject): string {
  return canonicalJson({ ...second, ...more });
}

function closeWith(more: JsonObject): string {
  return canonicalJson({ ...hashed, ...more });
}

function withoutHash({ closeHash, ...hashed }: JsonObject): string {
  return canonicalJson(hashed);
}

function unbalanced(entry: JsonObject): string {
  const [line, ...lines] = entry["lines"] as JsonObject[];
  const functionalAmount = String(BigInt(line?.["functionalAmount"] as string) + 1n);
  return canonicalJson({ ...entry, lines: [{ ...line, functionalAmount }, ...lines] });
}

/** With a byte in a text that begins no character. */
function notUtf8(entry: JsonObject): Buffer {
  const data = Buffer.from(canonicalJson({ ...entry, description: "x!x" }));
  data[data.indexOf("x!x") + 1] = 0xff;
  return data;
}
