// The record that a proof is about: only the one that belongs at this index of this log, in its one form.
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import type { JsonObject } from "../../src/core/journal.ts";
import { policyOfKeys } from "../../src/core/tlog-policy.ts";
import { UntrustedCheckpoint } from "../../src/verify/checkpoint.ts";
import { readLogRecord, type LogRecord } from "../../src/verify/log-record.ts";
import { verifyTlogProof } from "../../src/verify/tlog-proof.ts";
import { refusedCloses, refusedEntries } from "../support/log-record-cases.ts";
import { closeDocuments, entryDocuments } from "../support/close-vectors.ts";
import { closesOrigin, journalOrigin, ledgerId, TestLog } from "../support/tlog.ts";

const entries = entryDocuments();
const closes = closeDocuments();
const [, second] = entries as [JsonObject, JsonObject];

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

test.each(refusedEntries)("refuses at index 1 of a journal: %s", (_, data, fault) => {
  expect(faultOf(journalOrigin, data)).toMatch(fault);
});

test.each(refusedCloses)("refuses at index 1 of the closes: %s", (_, data, fault) => {
  expect(faultOf(closesOrigin, data)).toMatch(fault);
});

test.each(["ledger.example.com/log", `ledger.example.com/${ledgerId}/other`, "x"])(
  "refuses a record of %s, which is no log of a ledger",
  (origin) => {
    expect(faultOf(origin, canonicalJson(second))).toMatch(/is no journal or closes of a ledger/);
  },
);
