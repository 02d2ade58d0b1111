// Checkpoints, cosignatures, consistency and proofs against vectors, both ways.
import { describe, expect, test } from "vitest";
import { cosign, formatCheckpoint } from "../../src/core/checkpoint.ts";
import { formatOrigin, logSigner, parseOrigin } from "../../src/core/log-origin.ts";
import {
  auditRanges,
  consistencyRanges,
  hashLeaf,
  isConsistent,
  perfectSubtreesOf,
  rootOf,
  rootOverSubtrees,
  type Hash,
  type LeafRange,
} from "../../src/core/merkle.ts";
import {
  formatSignatureLine,
  formatVerifierKey,
  NoteSigner,
  parseVerifierKey,
  signatureTypes,
} from "../../src/core/note.ts";
import { formatTlogProof, isTlogProof } from "../../src/core/tlog-proof.ts";
import { verifyCheckpoint } from "../../src/verify/checkpoint.ts";
import { verifyTlogProof } from "../../src/verify/tlog-proof.ts";
import { formatNote } from "../support/format-note.ts";
import { policyOf } from "../support/signed-cases.ts";
import { leafDataOf, tlogVectors, vectorCase } from "../support/tlog-vectors.ts";

const logKey = Buffer.from(tlogVectors.logKeyBase64, "base64");

const policyOfTexts = (keys: readonly string[]) => policyOf(vectorCase("", keys));

/** By perfect subtrees, as a server that stores them does. */
function rootOfRange(leaves: readonly Hash[], range: LeafRange): Hash {
  return rootOverSubtrees(
    perfectSubtreesOf(range).map(({ level, index }) =>
      rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
    ),
  );
}

describe.each(["journal", "closes"] as const)("the log %s", (log) => {
  const expected = tlogVectors.logs[log];
  const leafData = leafDataOf(expected);
  const leaves = leafData.map((data) => hashLeaf(data));
  const signer = logSigner(logKey, expected.origin);
  const policy = policyOfTexts([expected.verifierKey]);

  test("its origin and key follow from the names and the log key", () => {
    const identity = { ledgerId: tlogVectors.ledgerId, log, generation: 1 };
    expect(formatOrigin(tlogVectors.logName, identity)).toBe(expected.origin);
    expect(parseOrigin(expected.origin)).toEqual({ logName: tlogVectors.logName, ...identity });
    expect(formatVerifierKey(signer.verifierKey)).toBe(expected.verifierKey);
    expect(signer.verifierKey.publicKey.toString("hex")).toBe(expected.publicKey);
    expect(formatVerifierKey(parseVerifierKey(expected.verifierKey))).toBe(expected.verifierKey);
    const fromSeed = new NoteSigner(expected.origin, Buffer.from(expected.seed, "hex"));
    expect(formatVerifierKey(fromSeed.verifierKey)).toBe(expected.verifierKey);
  });

  test.each(expected.checkpoints)("a checkpoint of $size leaves", ({ size, root, note }) => {
    const rootHash = rootOf(leaves.slice(0, size));
    expect(rootHash.toString("hex")).toBe(root);
    const text = formatCheckpoint({ origin: expected.origin, size, rootHash });
    expect(formatNote({ text, signatures: [signer.sign(text)] })).toBe(note);
    expect(verifyCheckpoint(note, policy)).toEqual({
      ...{ origin: expected.origin, size, rootHash },
      signers: [{ name: expected.origin, time: null }],
    });
  });

  test.each(expected.consistency)("consistency from $from to $to", ({ from, to, hashes }) => {
    const made = consistencyRanges(from, to).map((range) => rootOfRange(leaves, range));
    expect(made.map((hash) => hash.toString("base64"))).toEqual(hashes);
    const fromRoot = rootOf(leaves.slice(0, from));
    const toRoot = rootOf(leaves.slice(0, to));
    expect(isConsistent(from, fromRoot, to, toRoot, made)).toBe(true);
    const other = hashLeaf("another");
    expect(isConsistent(from, other, to, toRoot, made)).toBe(false);
    expect(isConsistent(from, fromRoot, to, other, made)).toBe(false);
    expect(isConsistent(from, fromRoot, to, toRoot, [...made, other])).toBe(false);
    made.forEach((_, index) => {
      expect(isConsistent(from, fromRoot, to, toRoot, made.with(index, other))).toBe(false);
      expect(isConsistent(from, fromRoot, to, toRoot, made.toSpliced(index, 1))).toBe(false);
    });
  });

  test.each(expected.proofs)("a proof of leaf $index of $size", ({ index, size, proof }) => {
    const data = leafData[index] ?? "";
    const checkpoint = expected.checkpoints.find((one) => one.size === size)?.note ?? "";
    const path = auditRanges(index, size).map((range) => rootOfRange(leaves, range));
    expect(formatTlogProof({ extra: Buffer.from(data), index, path, checkpoint })).toBe(proof);
    const verified = verifyTlogProof(proof, policy);
    expect(verified.index).toBe(index);
    expect(verified.data.toString()).toBe(data);
    expect(verified.checkpoint.size).toBe(size);
  });
});

test("a cosignature, and the note with it", () => {
  const { name, seed, verifierKey, line, note, time } = tlogVectors.cosignature;
  const witness = new NoteSigner(name, Buffer.from(seed, "hex"), signatureTypes.cosignature);
  expect(formatVerifierKey(witness.verifierKey)).toBe(verifierKey);
  const text = note.slice(0, note.indexOf("\n\n") + 1);
  expect(formatSignatureLine(cosign(witness, text, time))).toBe(line);
  const { origin, verifierKey: logVerifierKey } = tlogVectors.logs.journal;
  expect(verifyCheckpoint(note, policyOfTexts([logVerifierKey, verifierKey])).signers).toEqual([
    { name: origin, time: null },
    { name, time },
  ]);
});

test.each(tlogVectors.mustFail)("refused: $why", ({ text, verifierKeys }) => {
  const policy = policyOfTexts(verifierKeys);
  const check = isTlogProof(text) ? verifyTlogProof : verifyCheckpoint;
  expect(() => check(text, policy)).toThrow();
});
