// Checking a proof: one entry, a close, and the path from one to the other.
import type { z } from "zod";
import { canonicalJson } from "../core/canonical.ts";
import { closeHashOf, merkleAlgorithm } from "../core/close.ts";
import type { JsonObject } from "../core/journal.ts";
import { hashLeaf, rootFromPath } from "../core/merkle.ts";
import { holds } from "../core/period.ts";
import { proofReply } from "../contract/replies.ts";
import { closeDocument, entryDocument, MalformedFile, readDocument } from "./documents.ts";
import { readStrictJson } from "./strict-json.ts";
import { expecting, findingsMax, whereOf, type Finding, type ProofVerdict } from "./verdict.ts";

const proofDocument = proofReply.extend({ entry: entryDocument, close: closeDocument });

/** A proof whose parts have the right form; whether they agree is not checked yet. */
type Proof = Readonly<z.output<typeof proofDocument>>;

/**
 * Checks the text of a proof. `expected` is a merkleRoot or closeHash from elsewhere, 64 lower-case hex
 * digits, or null. Throws MalformedFile where the text is none.
 */
export function checkProof(text: string, expected: string | null): ProofVerdict {
  const json = readStrictJson(text.trim());
  if ("fault" in json) throw new MalformedFile(json.fault);
  const read = readDocument(proofDocument, json.document);
  if ("fault" in read) throw new MalformedFile(read.fault);
  const proof = read.document;
  // From the entry's content as it is in the file; null where there is no such leaf.
  const root = rootFromPath(
    hashLeaf(canonicalJson(json.document["entry"] as JsonObject)),
    proof.leafIndex,
    proof.treeSize,
    proof.auditPath.map((hash) => Buffer.from(hash, "hex")),
  );
  const merkleRoot = root?.toString("hex") ?? null;
  const closeHash = closeHashOf(proof.close).toString("hex");
  const ofEntry = entryFindings(proof, merkleRoot);
  const ofClose = closeFindings(proof, closeHash);
  const findings = [...ofEntry, ...ofClose];
  const { entry, close } = proof;
  const { ledgerId, periodId, number, startsAt, endsAt, closedAt } = close;
  const { journalId, sequence, transactionDate, lines } = entry;
  const amounts = lines.map(({ functionalAmount }) => BigInt(functionalAmount));
  const verdict: ProofVerdict = {
    ok: findings.length === 0,
    anchored: false,
    ...{ ledgerId, periodId, number, startsAt, endsAt, closedAt },
    ...{ journalId, sequence, transactionDate, entries: 1 },
    debits: String(amounts.reduce((sum, amount) => (amount > 0n ? sum + amount : sum), 0n)),
    functionalCurrency: lines[0]?.functionalCurrency ?? null,
    ...{ merkleRoot: merkleRoot ?? "", closeHash, signers: [] },
    checked: [
      ...(merkleRoot === close.merkleRoot ? ["the entry's content", "its path to the root"] : []),
      ...(closeHash === close.closeHash ? ["the close's own hash"] : []),
    ],
    notChecked: ["all other entries, and the trial balance"],
    findings: findings.slice(0, findingsMax),
    findingCount: findings.length,
  };
  return expecting(verdict, expected);
}

function entryFindings(
  { entry, close, leafIndex, treeSize, auditPath }: Proof,
  root: string | null,
): Finding[] {
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
