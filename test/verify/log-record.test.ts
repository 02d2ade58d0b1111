// The record that a proof is about: only the one that belongs at this index of this log, in its one form.
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import type { JsonObject } from "../../src/core/journal.ts";
import { policyOfKeys } from "../../src/core/tlog-policy.ts";
import { UntrustedCheckpoint } from "../../src/verify/checkpoint.ts";
import { readLogRecord, type LogRecord } from "../../src/verify/log-record.ts";
import { verifyTlogProof } from "../../src/verify/tlog-proof.ts";
import { closeDocuments, entryDocuments } from "../support/close-vectors.ts";
import { closesOrigin, journalOrigin, ledgerId, TestLog } from "../support/tlog.ts";

const entries = entryDocuments();
const closes = closeDocuments();
const [first, second] = entries as [JsonObject, JsonObject];
const [firstClose, secondClose] = closes as [JsonObject, JsonObject];
const otherLedger = "0190b6a0-0000-7000-8000-000000000002";

/** The record of a leaf of a log, all of whose signatures are right. */
function recordAt(origin: string, data: readonly (string | Buffer)[], index: number): LogRecord {
  const log = new TestLog(origin, data);
  const policy = policyOfKeys([log.signer.verifierKey], []);
  return readLogRecord(verifyTlogProof(log.proof(index), policy));
}

/** What is said of a log's second leaf with this data. */
function faultOf(origin: string, data: string | Buffer): string {
  try {
    recordAt(origin, ["first", data], 1);
  } catch (error) {
    if (error instanceof UntrustedCheckpoint) return error.message;
    throw error;
  }
  return "nothing";
}

test.each(entries.map((entry, index) => ({ entry, index })))(
  "the entry at index $index of a journal",
  ({ entry, index }) => {
    const data = entries.map(canonicalJson);
    // As it is hashed: -0 is 0 there.
    const record = JSON.parse(canonicalJson(entry)) as JsonObject;
    expect(recordAt(journalOrigin, data, index)).toEqual({ kind: "entry", record });
    expect(recordAt(`${journalOrigin}.2`, data, index).record).toEqual(record);
  },
);

test.each(closes.map((close, index) => ({ close, index })))(
  "the close at index $index, with the closeHash that its bytes have",
  ({ close, index }) => {
    const data = closes.map(({ closeHash, ...rest }) => canonicalJson(rest));
    expect(recordAt(closesOrigin, data, index)).toEqual({ kind: "close", record: close });
  },
);

describe("refuses at index 1 of a journal", () => {
  const changed = (more: JsonObject) => canonicalJson({ ...second, ...more });
  const text = canonicalJson(second);

  test.each([
    ["the entry of another sequence", canonicalJson(first), /sequence 1, .* 2 was expected/],
    ["an entry of another ledger", changed({ ledgerId: otherLedger }), /is of the ledger/],
    ["a close", canonicalJson(secondClose), /is no entry: /],
    ["a member too few", text.replace(/"eventType":[^,]*,/, ""), /is no entry: /],
    ["a member too many", changed({ reversedByJournalId: null }), /reversedByJournalId/],
    ["lines that do not sum to zero", unbalanced(second), /lines of the entry sum to 1$/],
    ["no lines", changed({ lines: [] }), /fewer than two lines/],
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
  ])("%s", (_, data, fault) => {
    expect(faultOf(journalOrigin, data)).toMatch(fault);
  });
});

describe("refuses at index 1 of the closes", () => {
  const { closeHash, ...hashed } = secondClose;
  const changed = (more: JsonObject) => canonicalJson({ ...hashed, ...more });

  test.each([
    ["the close of another number", withoutHash(firstClose), /number 1, .* 2 was expected/],
    ["a close of another ledger", changed({ ledgerId: otherLedger }), /is of the ledger/],
    ["an entry", canonicalJson(second), /is no close: /],
    ["a close with its own hash", canonicalJson(secondClose), /closeHash/],
    ["another algorithm", changed({ merkleAlgorithm: "other" }), /merkleAlgorithm is "other"/],
    ["no close before", changed({ previousCloseHash: null }), /no previousCloseHash/],
    ["white space", changed({}).replace(",", ", "), /not in canonical form/],
  ])("%s", (_, data, fault) => {
    expect(faultOf(closesOrigin, data)).toMatch(fault);
  });
});

test.each(["ledger.example.com/log", `ledger.example.com/${ledgerId}/other`, "x"])(
  "refuses a record of %s, which is no log of a ledger",
  (origin) => {
    expect(faultOf(origin, canonicalJson(second))).toMatch(/is no journal or closes of a ledger/);
  },
);

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
