// Checking a proof: one entry, a close, and the path from one to the other.
import { z } from "zod";
import { canonicalJson } from "../core/canonical.ts";
import { closeHashOf, merkleAlgorithm } from "../core/close.ts";
import type { JsonObject } from "../core/journal.ts";
import { hashLeaf, rootFromPath } from "../core/merkle.ts";
import { holds } from "../core/period.ts";
import type { CloseVerdict, Finding } from "./close-check.ts";
import { readCloseRecord, readEntryDocument } from "./documents.ts";
import { AmbiguousJson, parseStrictJson } from "./strict-json.ts";

/** A file that is no proof at all: there is nothing to check. */
export class NoProof extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoProof";
  }
}

const proofShape = z.strictObject({
  format: z.literal("ledgerctl-proof-v1"),
  leafIndex: z.int().nonnegative(),
  treeSize: z.int().nonnegative(),
  auditPath: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(64),
  entry: z.unknown(),
  close: z.unknown(),
});

/**
 * Checks the text of a proof. `expected` is a merkleRoot or closeHash from elsewhere, 64 lower-case hex
 * digits, or null. Throws NoProof where the text is none.
 */
export function checkProof(text: string, expected: string | null): CloseVerdict {
  const content = readProof(text);
  const shape = proofShape.safeParse(content);
  if (!shape.success) {
    const [issue] = shape.error.issues;
    throw new NoProof(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
  }
  const record = readCloseRecord(content["close"]);
  if ("fault" in record) throw new NoProof(`close: ${record.fault}`);
  const entry = readEntryDocument(content["entry"]);
  if ("fault" in entry) throw new NoProof(`entry: ${entry.fault}`);
  const { document: close } = record;
  const { document } = entry;
  const { leafIndex, treeSize, auditPath } = shape.data;
  const findings: Finding[] = [];
  const find = (where: string, what: string) => findings.push({ where, what });
  const where = `entry ${document.journalId} (sequence ${document.sequence})`;
  if (document.ledgerId !== close.ledgerId) find(where, `is of the ledger ${document.ledgerId}`);
  if (!holds(close, document.transactionDate)) {
    find(where, `is dated ${document.transactionDate}, outside of the period`);
  }
  if (document.sequence > close.lastSequence) {
    find(where, `is beyond lastSequence ${close.lastSequence}`);
  }
  if (treeSize !== close.entryCount) {
    find("close", `entryCount is ${close.entryCount}, but treeSize ${treeSize}`);
  }
  const root = rootFromPath(
    hashLeaf(canonicalJson(content["entry"] as JsonObject)),
    leafIndex,
    treeSize,
    auditPath.map((hash) => Buffer.from(hash, "hex")),
  )?.toString("hex");
  if (root === undefined) {
    find(
      where,
      `a tree of ${treeSize} leaves has no leaf ${leafIndex} with ${auditPath.length} hashes above`,
    );
  } else if (root !== close.merkleRoot) {
    find(where, `merkleRoot is ${close.merkleRoot}, but its path leads to ${root}`);
  }
  if (close.merkleAlgorithm !== merkleAlgorithm) {
    find("close", `merkleAlgorithm is ${close.merkleAlgorithm}, not ${merkleAlgorithm}`);
  }
  const closeHash = closeHashOf(close).toString("hex");
  if (closeHash !== close.closeHash) {
    find("close", `closeHash is ${close.closeHash}, but comes to ${closeHash}`);
  }
  const isExpected = expected === null || expected === root || expected === closeHash;
  if (!isExpected) {
    find("close", `${expected} was expected; neither the merkleRoot nor the closeHash is it`);
  }
  const ok = findings.length === 0;
  return {
    ok,
    anchored: ok && expected !== null && isExpected,
    merkleRoot: root ?? "",
    closeHash,
    checked: ["the entry's content", "its path to the root", "the close's own hash"],
    notChecked: [
      "all other entries, and the trial balance",
      ...(expected === null ? ["a figure from elsewhere: nothing was expected"] : []),
      ...(expected !== null && expected !== closeHash
        ? ["bounds, balances and reason: a merkleRoot does not cover them"]
        : []),
    ],
    findings,
  };
}

function readProof(text: string): JsonObject {
  try {
    return parseStrictJson(text.trim());
  } catch (error) {
    if (error instanceof AmbiguousJson) throw new NoProof(error.message);
    throw error;
  }
}
