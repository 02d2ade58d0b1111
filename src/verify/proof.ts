// Checking a proof: one entry, a close, and the path from one to the other.
import { z } from "zod";
import { canonicalJson } from "../core/canonical.ts";
import { closeHashOf, merkleAlgorithm, type CloseRecord } from "../core/close.ts";
import type { JsonObject } from "../core/journal.ts";
import { hashLeaf, rootFromPath } from "../core/merkle.ts";
import { holds } from "../core/period.ts";
import { verdictOf, whereOf, type CloseVerdict, type Finding } from "./close-check.ts";
import { readCloseRecord, readEntryDocument, type CheckedEntry } from "./documents.ts";
import { readStrictJson } from "./strict-json.ts";

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

type ProofShape = z.output<typeof proofShape>;

/** A proof whose parts have the right form; whether they agree is not checked yet. */
interface Proof extends Pick<ProofShape, "leafIndex" | "treeSize" | "auditPath"> {
  readonly entry: CheckedEntry;
  readonly close: CloseRecord;
  /** From the entry's content and the path; null where there is no such leaf. */
  readonly root: string | null;
}

/**
 * Checks the text of a proof. `expected` is a merkleRoot or closeHash from elsewhere, 64 lower-case hex
 * digits, or null. Throws NoProof where the text is none.
 */
export function checkProof(text: string, expected: string | null): CloseVerdict {
  const proof = readProof(text);
  const { root } = proof;
  const closeHash = closeHashOf(proof.close).toString("hex");
  return verdictOf({ merkleRoot: root, closeHash }, expected, {
    checked: ["the entry's content", "its path to the root", "the close's own hash"],
    notChecked: ["all other entries, and the trial balance"],
    findings: [...entryFindings(proof), ...closeFindings(proof, closeHash)],
  });
}

function entryFindings({ entry, close, leafIndex, treeSize, auditPath, root }: Proof): Finding[] {
  const faults: string[] = [];
  const { ledgerId, transactionDate, sequence } = entry;
  if (ledgerId !== close.ledgerId) faults.push(`is of the ledger ${ledgerId}`);
  if (!holds(close, transactionDate)) {
    faults.push(`is dated ${transactionDate}, outside of the period`);
  }
  if (sequence > close.lastSequence) faults.push(`is beyond lastSequence ${close.lastSequence}`);
  if (root === null) {
    const path = `${auditPath.length} hashes above`;
    faults.push(`a tree of ${treeSize} leaves has no leaf ${leafIndex} with ${path}`);
  } else if (root !== close.merkleRoot) {
    faults.push(`merkleRoot is ${close.merkleRoot}, but its path leads to ${root}`);
  }
  return faults.map((what) => ({ where: whereOf(entry), what }));
}

function closeFindings({ close, treeSize }: Proof, closeHash: string): Finding[] {
  const faults: string[] = [];
  if (treeSize !== close.entryCount) {
    faults.push(`entryCount is ${close.entryCount}, but treeSize ${treeSize}`);
  }
  if (close.merkleAlgorithm !== merkleAlgorithm) {
    faults.push(`merkleAlgorithm is ${close.merkleAlgorithm}, not ${merkleAlgorithm}`);
  }
  if (closeHash !== close.closeHash) {
    faults.push(`closeHash is ${close.closeHash}, but comes to ${closeHash}`);
  }
  return faults.map((what) => ({ where: "close", what }));
}

function readProof(text: string): Proof {
  const read = readStrictJson(text.trim());
  if ("fault" in read) throw new NoProof(read.fault);
  const content = read.document;
  const shape = proofShape.safeParse(content);
  if (!shape.success) {
    const [issue] = shape.error.issues;
    throw new NoProof(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
  }
  const close = readCloseRecord(content["close"]);
  if ("fault" in close) throw new NoProof(`close: ${close.fault}`);
  const entry = readEntryDocument(content["entry"]);
  if ("fault" in entry) throw new NoProof(`entry: ${entry.fault}`);
  const { leafIndex, treeSize, auditPath } = shape.data;
  const root = rootFromPath(
    hashLeaf(canonicalJson(content["entry"] as JsonObject)),
    leafIndex,
    treeSize,
    auditPath.map((hash) => Buffer.from(hash, "hex")),
  );
  return {
    leafIndex,
    treeSize,
    auditPath,
    entry: entry.document,
    close: close.document,
    root: root?.toString("hex") ?? null,
  };
}
