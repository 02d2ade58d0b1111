// Signed notes, inclusion and consistency against Go's sumdb/note and transparency-dev/merkle: what we sign and prove, they
// accept, and what they refuse, we refuse. We refuse more than they do; test/core says what.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  auditRanges,
  consistencyRanges,
  hashLeaf,
  isConsistent,
  rootFromPath,
  type Hash,
} from "../../src/core/merkle.ts";
import { formatSignatureLine, formatVerifierKey, NoteSigner } from "../../src/core/note.ts";
import { parseTlogProof } from "../../src/core/tlog-proof.ts";
import { verifyTlogProof } from "../../src/verify/tlog-proof.ts";
import { askGo, hasGo, type GoQuestion } from "../support/go-tlog.ts";
import { caseOf, firstVerdict, policyOf } from "../support/signed-cases.ts";
import {
  log,
  logKeyText,
  refusedCosignatures,
  refusedNotes,
  witness,
  witnessKeyText,
} from "../support/tlog-cases.ts";
import { refusedKeys, witnessesNamed } from "../support/tlog-policy-cases.ts";
import { mutationOf } from "../support/tlog-mutations.ts";
import { leafDataOf, tlogVectors, vectorCase } from "../support/tlog-vectors.ts";
import { TestLog } from "../support/tlog.ts";

const verifierKeys = [logKeyText, witnessKeyText];

/** Whether Go accepts each. */
function isAcceptedByGo(questions: readonly GoQuestion[]): boolean[] {
  return askGo(questions).map((fault) => fault === "");
}

/** A tree of so many leaves: small ones, powers of two and their neighbours. */
const sizes = [
  ...Array.from({ length: 34 }, (_, index) => index + 1),
  63,
  64,
  65,
  100,
  127,
  128,
  129,
];
const tree = new TestLog(
  "example.com/logé",
  Array.from({ length: 129 }, (_, index) => `leaf ${index}`),
);
const treeKey = formatVerifierKey(tree.signer.verifierKey);
const otherHash = hashLeaf("other");

function pathOf(index: number, size: number): Hash[] {
  return auditRanges(index, size).map(({ from, to }) => tree.rootHash(from, to));
}

describe.runIf(hasGo)("Go's modules", () => {
  it("accept the vectors", () => {
    const questions = Object.values(tlogVectors.logs).flatMap((vectors): GoQuestion[] => {
      const keys = [vectors.verifierKey];
      const data = new TestLog(vectors.origin, leafDataOf(vectors));
      return [
        ...vectors.checkpoints.map(({ note }) => ({ note: Buffer.from(note), verifierKeys: keys })),
        ...vectors.consistency.map(({ from, to, hashes }) => ({
          ...{ from, size: to, hashes: hashes.map((hash) => Buffer.from(hash, "base64")) },
          ...{ fromRoot: data.rootHash(0, from), root: data.rootHash(0, to) },
        })),
        ...vectors.proofs.flatMap(({ proof }) => {
          const {
            data: leaf,
            index,
            checkpoint,
          } = verifyTlogProof(proof, policyOf(vectorCase(proof, keys)));
          const { path, checkpoint: note } = parseTlogProof(proof);
          const { size, rootHash: root } = checkpoint;
          return [
            { note: Buffer.from(note), verifierKeys: keys },
            { leaf, index, size, root, hashes: path },
          ];
        }),
      ];
    });
    const { note, verifierKey } = tlogVectors.cosignature;
    const keys = [tlogVectors.logs.journal.verifierKey, verifierKey];
    const cosigned = { note: Buffer.from(note), verifierKeys: keys };
    expect(askGo([...questions, cosigned]).filter((fault) => fault !== "")).toEqual([]);
  });

  it("accept what we sign, of logs of any size, with many cosignatures", () => {
    const witnesses = witnessesNamed("abcdefghijklmnopé");
    const keys = [treeKey, ...witnesses.map(({ verifierKey }) => formatVerifierKey(verifierKey))];
    const questions = sizes.map((size) => ({
      note: Buffer.from(tree.note(size, witnesses)),
      verifierKeys: keys,
    }));
    expect(askGo(questions).filter((fault) => fault !== "")).toEqual([]);
  });

  it("say what we say of inclusion", () => {
    const cases = sizes.flatMap((size) =>
      [...new Set([0, 1, size >> 1, size - 2, size - 1])]
        .filter((index) => index >= 0 && index < size)
        .flatMap((index) => {
          const path = pathOf(index, size);
          const root = tree.rootHash(0, size);
          const right = { leaf: Buffer.from(`leaf ${index}`), index, size, root, hashes: path };
          return [
            right,
            { ...right, leaf: Buffer.from("other") },
            { ...right, index: index + 1 },
            { ...right, size: size + 1 },
            { ...right, root: otherHash },
            { ...right, hashes: [...path, otherHash] },
            { ...right, hashes: path.slice(1) },
            { ...right, hashes: path.toReversed() },
            ...path.map((_, level) => ({ ...right, hashes: path.with(level, otherHash) })),
          ];
        }),
    );
    const ours = cases.map(
      ({ leaf, index, size, root, hashes }) =>
        rootFromPath(hashLeaf(leaf), index, size, hashes)?.equals(root) ?? false,
    );
    expect(ours.filter((isRight) => isRight).length).toBeGreaterThan(sizes.length);
    expect(isAcceptedByGo(cases)).toEqual(ours);
  });

  it("say what we say of consistency", () => {
    const cases = sizes.flatMap((size) =>
      sizes
        .filter((from) => from <= size)
        .flatMap((from) => {
          const hashes = consistencyRanges(from, size).map((range) =>
            tree.rootHash(range.from, range.to),
          );
          const roots = { fromRoot: tree.rootHash(0, from), root: tree.rootHash(0, size) };
          const right = { from, size, ...roots, hashes };
          return [
            right,
            { ...right, fromRoot: otherHash },
            { ...right, root: otherHash },
            { ...right, size: size + 1 },
            { ...right, from: Math.max(1, from - 1), fromRoot: tree.rootHash(0, from) },
            { ...right, hashes: [...hashes, otherHash] },
            { ...right, hashes: hashes.slice(1) },
            { ...right, hashes: hashes.toReversed() },
            ...hashes
              .slice(0, 2)
              .map((_, at) => ({ ...right, hashes: hashes.with(at, otherHash) })),
          ];
        }),
    );
    const ours = cases.map(({ from, fromRoot, size, root, hashes }) =>
      isConsistent(from, fromRoot, size, root, hashes),
    );
    expect(isAcceptedByGo(cases)).toEqual(ours);
  });

  it("refuse the notes and keys that we refuse, but where we are stricter", () => {
    const notes = [...refusedNotes, ...refusedCosignatures].map(([why, text]) => ({
      why,
      question: { note: Buffer.from(text), verifierKeys },
    }));
    const keys = refusedKeys.map(([why, key]) => ({
      why,
      question: { note: Buffer.from(log.note()), verifierKeys: [key.toString()] },
    }));
    const cases = [...notes, ...keys];
    const isAccepted = isAcceptedByGo(cases.map(({ question }) => question));
    // Go ignores spare bits and line feeds in base64, reads key IDs in capitals, has no limit but of signatures, and takes
    // the first of several signatures of a key. What a time may be is a matter of this program's own verifier.
    expect(cases.filter((_, index) => isAccepted[index]).map(({ why }) => why)).toEqual([
      "no spare bits in base64",
      "at most a megabyte",
      "a known key signs once",
      "at a time",
      "once",
      "a key ID in lower case",
      "no newline",
    ]);
  });

  it("accept every note that we accept, however it was changed", () => {
    const signatures = ["", "two", "three"].map((name) =>
      formatSignatureLine(new NoteSigner(`stranger${name}`, Buffer.alloc(32, 5)).sign(log.text())),
    );
    const note = log.note(7, [witness]) + signatures.join("");
    const notes = fc
      .sample(mutationOf(note), { seed: 2, numRuns: 2_000 })
      .map(({ file }) => Buffer.from(file));
    const accepted = notes.filter((each) => firstVerdict(caseOf(each)).ok);
    expect(accepted.length).toBeGreaterThan(100);
    const faults = askGo(accepted.map((each) => ({ note: each, verifierKeys })));
    expect(faults.filter((fault) => fault !== "")).toEqual([]);
  });
});
