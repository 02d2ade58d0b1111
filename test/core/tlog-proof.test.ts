// Proofs: each line of tlog-proof.md that is broken is refused for that reason.
import { describe, expect, test } from "vitest";
import { formatTlogProof, isTlogProof, parseTlogProof } from "../../src/core/tlog-proof.ts";
import { caseOf, expectRefused, firstVerdict } from "../support/signed-cases.ts";
import { log, witness } from "../support/tlog-cases.ts";
import { refusedProofs } from "../support/tlog-proof-cases.ts";

test.each([
  [0, 1],
  [0, 7],
  [4, 7],
  [6, 7],
])("a proof of leaf %d of %d", (index, size) => {
  const text = log.proof(index, size, [witness]);
  const proof = parseTlogProof(text);
  expect(isTlogProof(text)).toBe(true);
  expect(formatTlogProof(proof)).toBe(text);
  expect(proof.extra?.toString()).toBe(`leaf ${index}`);
  expect(proof.checkpoint).toBe(log.note(size, [witness]));
  expect(firstVerdict(caseOf(text)).ok).toBe(true);
});

test("a proof without its record is read, and an empty record is one", () => {
  const proof = parseTlogProof(log.proof(4));
  const without = { ...proof, extra: null };
  const empty = { ...proof, extra: Buffer.alloc(0) };
  expect(parseTlogProof(formatTlogProof(without))).toEqual(without);
  expect(parseTlogProof(formatTlogProof(empty))).toEqual(empty);
});

test("a checkpoint is no proof", () => {
  expect(isTlogProof(log.note())).toBe(false);
});

describe("refuses a proof, which must have", () => {
  test.each(refusedProofs)("%s", (_, text, reason) => {
    expectRefused(text, reason);
  });
});
