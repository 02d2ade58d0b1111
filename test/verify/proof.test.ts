// Checking proofs: true ones are found true, and nothing in one can be changed without being found.
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import type { JsonObject, JsonValue } from "../../src/core/journal.ts";
import { MalformedFile } from "../../src/verify/documents.ts";
import { checkProof } from "../../src/verify/proof.ts";
import { closeVectors, documentsOf, proofOf } from "../support/close-vectors.ts";

const record = closeVectors.closes[0]?.record;
if (record === undefined) throw new Error("the vectors have closes");
const { closeHash, merkleRoot } = record;

describe.each(documentsOf(record).map((_, index) => index))("the proof of leaf %d", (index) => {
  const text = canonicalJson(proofOf(0, index));

  test("is consistent, and anchored by what is expected", () => {
    expect(checkProof(text, null)).toMatchObject({
      ok: true,
      anchored: false,
      merkleRoot,
      closeHash,
    });
    expect(checkProof(text, closeHash)).toMatchObject({ ok: true, anchored: true });
    expect(checkProof(text, merkleRoot)).toMatchObject({ ok: true, anchored: true });
    expect(checkProof(text, "00".repeat(32))).toMatchObject({ ok: false, anchored: false });
  });
});

test("no member of a proof can be another one", () => {
  const proof = proofOf(0, 1);
  const replace = ([name]: readonly [string], value: JsonValue): JsonObject => ({
    ...proof,
    [name]: value,
  });
  const entry = proof["entry"] as JsonObject;
  const close = proof["close"] as JsonObject;
  const forged: JsonObject[] = [
    replace(["leafIndex"], 0),
    replace(["leafIndex"], 3),
    replace(["leafIndex"], 4),
    replace(["treeSize"], 3),
    replace(["treeSize"], 5),
    replace(["auditPath"], []),
    replace(["auditPath"], [...(proof["auditPath"] as readonly JsonValue[])].reverse()),
    ...Object.keys(entry).map((name) =>
      replace(["entry"], { ...entry, [name]: entry[name] === null ? "x" : null }),
    ),
    replace(["entry"], { ...entry, description: "another" }),
    replace(["entry"], { ...entry, transactionDate: "2026-02-01T00:00:00.000Z" }),
    ...Object.keys(close).map((name) =>
      replace(["close"], { ...close, [name]: close[name] === null ? "x" : null }),
    ),
    replace(["close"], { ...close, reason: "another" }),
    replace(["close"], { ...close, entryCount: 5 }),
  ];
  for (const each of forged) {
    let isFound: boolean;
    try {
      isFound = !checkProof(canonicalJson(each), closeHash).ok;
    } catch (error) {
      isFound = error instanceof MalformedFile;
    }
    expect(isFound, canonicalJson(each)).toBe(true);
  }
});

test.each(["", "x", "{}", "[]", '{"format":"ledgerctl-proof-v2"}'])("%j is no proof", (text) => {
  expect(() => checkProof(text, null)).toThrow(MalformedFile);
});
