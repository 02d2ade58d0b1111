// Both verifiers on files in which something was changed that may be of no matter, or that was signed with the change: they
// agree on each, whatever the verdict is.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import { formatSignatureLine, formatVerifierKey, NoteSigner } from "../../src/core/note.ts";
import { closeDocuments, entryDocuments } from "../support/close-vectors.ts";
import { hasPython } from "../support/python.ts";
import { secondVerdicts } from "../support/second-verifier.ts";
import { caseOf, firstVerdict, type SignedCase } from "../support/signed-cases.ts";
import { log, witness } from "../support/tlog-cases.ts";
import { mutationOf } from "../support/tlog-mutations.ts";
import { quorums, witnessesNamed } from "../support/tlog-policy-cases.ts";
import { closesOrigin, journalOrigin } from "../support/tlog.ts";

const strangers = ["a", "b", "é"].map((name) =>
  formatSignatureLine(new NoteSigner(`stranger/${name}`, Buffer.alloc(32, 5)).sign(log.text())),
);

/** Changes of a file, the same each time. */
function changesOf(file: string, count: number): string[] {
  return fc.sample(mutationOf(file), { seed: 3, numRuns: count }).map((mutation) => mutation.file);
}

/** Each byte in place of others, and one of these bytes before each. */
function editsOf(text: string): Buffer[] {
  const data = Buffer.from(text);
  return Array.from(data.keys()).flatMap((at) =>
    Array.from(` 0"1-A\\}],\xff`, (character) => Buffer.from(character, "latin1")).flatMap(
      (byte) => [
        Buffer.concat([data.subarray(0, at), byte, data.subarray(at)]),
        Buffer.concat([data.subarray(0, at), byte, data.subarray(at + 1)]),
      ],
    ),
  );
}

/** Expects the same verdicts, and how many of them say that all is well. */
function expectAgreement(cases: readonly SignedCase[], okMin: number): void {
  const first = cases.map(firstVerdict);
  const second = secondVerdicts(cases);
  const differing = cases.filter((_, index) => {
    const [one, other] = [first[index], second[index]];
    return JSON.stringify([one?.ok, one?.signers]) !== JSON.stringify([other?.ok, other?.signers]);
  });
  expect(differing.map(({ data, policy }) => [data, policy].map(String))).toEqual([]);
  const count = first.filter(({ ok }) => ok).length;
  expect(count).toBeGreaterThanOrEqual(okMin);
  expect(count).toBeLessThan(cases.length);
}

describe.runIf(hasPython)("both verifiers agree", () => {
  it("on notes with signatures of unknown keys", () => {
    const note = log.note(7, [witness]) + strangers.join("");
    expectAgreement(changesOf(note, 2_000).map(caseOf), 100);
  });

  it("on proofs with signatures of unknown keys", () => {
    const proof = log.proof(4, 7, [witness]) + strangers.join("");
    expectAgreement(changesOf(proof, 1_000).map(caseOf), 20);
  });

  it("on policies", () => {
    const data = Buffer.from(log.note(7, witnessesNamed("ab")));
    const policies = quorums.flatMap(({ policy }) => changesOf(policy.toString("latin1"), 60));
    expectAgreement(
      policies.map((policy) => ({ data, policy: Buffer.from(policy) })),
      100,
    );
  });

  it("on verifier keys", () => {
    const data = Buffer.from(log.note(7));
    const key = formatVerifierKey(log.signer.verifierKey);
    const keys = editsOf(key).map((edit) => edit.toString("utf8"));
    expectAgreement(
      [key, ...keys].map((each) => ({ data, verifierKeys: [each] })),
      1,
    );
  });

  const [, entry] = entryDocuments().map(canonicalJson);
  const [, close] = closeDocuments().map(({ closeHash, ...hashed }) => canonicalJson(hashed));

  it.each([
    ["entries", journalOrigin, entry ?? ""],
    ["closes", closesOrigin, close ?? ""],
  ])("on %s that are changed", (_, origin, record) => {
    expectAgreement(
      editsOf(record).map((data) => ({ data, origin, index: 1 })),
      20,
    );
  });
});
