// The closes of test/vectors/close.json, as bundles and proofs.
import { readFileSync } from "node:fs";
import { canonicalJson } from "../../src/core/canonical.ts";
import type { CloseRecord } from "../../src/core/close.ts";
import type { JsonObject, JsonValue } from "../../src/core/journal.ts";
import { auditRanges, hashLeaf, rootOf } from "../../src/core/merkle.ts";
import { holds } from "../../src/core/period.ts";
import type { Timestamp } from "../../src/core/time.ts";

interface CloseVectors {
  readonly entries: readonly JsonObject[];
  readonly closes: readonly {
    readonly record: CloseRecord;
    readonly balances: readonly JsonObject[];
  }[];
}

export const closeVectors = JSON.parse(
  readFileSync(new URL("../vectors/close.json", import.meta.url), "utf8"),
) as CloseVectors;

/** All entry documents, by sequence. */
export function entryDocuments(): JsonObject[] {
  return closeVectors.entries.map(({ reversedByJournalId, ...document }) => document);
}

/** All records, by number. */
export function closeDocuments(): JsonObject[] {
  return closeVectors.closes.map(({ record }) => ({ ...record }));
}

/** The entry documents that a close covers. */
export function documentsOf(record: CloseRecord): JsonObject[] {
  return entryDocuments()
    .filter(({ sequence }) => Number(sequence) <= record.lastSequence)
    .filter(({ transactionDate }) => holds(record, transactionDate as Timestamp));
}

/** A bundle as lines of objects; tests change them before they are written. */
export function bundleOf(index: number): JsonObject[] {
  const close = closeVectors.closes[index];
  if (close === undefined) throw new Error(`there is no close ${index}`);
  const documents = documentsOf(close.record);
  return structuredClone([
    { kind: "close", format: "ledgerctl-bundle-v1", close: close.record as unknown as JsonObject },
    ...close.balances.map((account) => ({ kind: "account", account })),
    ...documents.map((entry) => ({ kind: "entry", entry })),
    { kind: "trailer", accounts: close.balances.length, entries: documents.length },
  ]);
}

export function bundleText(lines: readonly JsonObject[]): string {
  return lines.map((line) => `${canonicalJson(line)}\n`).join("");
}

/** The proof of the entry at a place in the tree of a close. */
export function proofOf(index: number, leafIndex: number): JsonObject {
  const record = closeVectors.closes[index]?.record;
  if (record === undefined) throw new Error(`there is no close ${index}`);
  const documents = documentsOf(record);
  const leaves = documents.map((document) => hashLeaf(canonicalJson(document)));
  return {
    format: "ledgerctl-proof-v1",
    leafIndex,
    treeSize: documents.length,
    auditPath: auditRanges(leafIndex, documents.length).map(({ from, to }) =>
      rootOf(leaves.slice(from, to)).toString("hex"),
    ),
    entry: documents[leafIndex] as JsonValue,
    close: record as unknown as JsonObject,
  };
}
