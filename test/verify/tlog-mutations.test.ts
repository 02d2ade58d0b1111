// Notes, proofs and state files that were changed: both verifiers find every change. A state file of `log watch` is a note.
//
// Nothing that could be changed without harm is there to be changed: all signatures are of keys that are known and of
// witnesses who must have signed. A signature of an unknown key would be ignored, whatever is changed in it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import { formatVerifierKey } from "../../src/core/note.ts";
import { closeDocuments, entryDocuments } from "../support/close-vectors.ts";
import { hasPython } from "../support/python.ts";
import { secondVerdicts } from "../support/second-verifier.ts";
import { firstVerdict, type SignedCase } from "../support/signed-cases.ts";
import { mutationOf } from "../support/tlog-mutations.ts";
import { closesOrigin, journalOrigin, TestLog, witnessOf } from "../support/tlog.ts";

const witnesses = ["w1", "é"].map((name) => witnessOf(`witness.example.com/${name}`));
const journal = new TestLog(journalOrigin, entryDocuments().map(canonicalJson));
const closes = new TestLog(
  closesOrigin,
  closeDocuments().map(({ closeHash, ...hashed }) => canonicalJson(hashed)),
);
const files: Readonly<Record<string, string>> = {
  "a note": journal.note(7, witnesses),
  "the note of one leaf": closes.note(1, witnesses),
  "the proof of an entry": journal.proof(1, 7, witnesses),
  "the proof of a close": closes.proof(1, 3, witnesses),
};
const trusted = {
  verifierKeys: [journal, closes].map(({ signer }) => formatVerifierKey(signer.verifierKey)),
  witnessKeys: witnesses.map(({ verifierKey }) => formatVerifierKey(verifierKey)),
  withRecord: true,
};

interface Changed {
  readonly how: string;
  readonly data: Buffer;
}

/** Those that a verifier does not find. */
function missedBy(
  verdicts: (cases: readonly SignedCase[]) => readonly { readonly ok: boolean }[],
  changed: readonly Changed[],
): string[] {
  const found = verdicts(changed.map(({ data }) => ({ data, ...trusted })));
  return changed.filter((_, index) => found[index]?.ok !== false).map(({ how }) => how);
}

const byFirst = (cases: readonly SignedCase[]) => cases.map(firstVerdict);

describe.each(Object.entries(files))("%s", (_, file) => {
  const data = Buffer.from(file);

  /** Each byte with each of these bits the other way. */
  const withBits = (bits: readonly number[]): Changed[] =>
    Array.from(data.keys()).flatMap((at) =>
      bits.map((bit) => {
        const changed = Buffer.from(data);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        return { how: `bit ${bit} of byte ${at}`, data: changed };
      }),
    );

  test("is right as it is", () => {
    expect(firstVerdict({ data, ...trusted }).ok).toBe(true);
    if (hasPython) expect(secondVerdicts([{ data, ...trusted }])[0]?.ok).toBe(true);
  });

  test("has no bit that can be changed", () => {
    expect(missedBy(byFirst, withBits([0, 1, 2, 3, 4, 5, 6, 7]))).toEqual([]);
  });

  test("has no byte that can be removed, doubled or be another line feed", () => {
    expect(missedBy(byFirst, editsOf(data))).toEqual([]);
  });

  test.runIf(hasPython)("has none of these for the second verifier", () => {
    // One bit of each byte: which of them is of no matter, as the first verifier finds all.
    expect(missedBy(secondVerdicts, [...withBits([0]), ...editsOf(data)])).toEqual([]);
  });
});

/** Each byte gone, there twice, replaced by a line feed, and the file cut off in front of it. */
function editsOf(data: Buffer): Changed[] {
  const edits = Array.from(data.keys()).flatMap((at): Changed[] => {
    const [before, byte, after] = [
      data.subarray(0, at),
      data.subarray(at, at + 1),
      data.subarray(at + 1),
    ];
    const newline = Buffer.from("\n");
    return [
      { how: `without byte ${at}`, data: Buffer.concat([before, after]) },
      { how: `byte ${at} twice`, data: Buffer.concat([before, byte, byte, after]) },
      { how: `byte ${at} a line feed`, data: Buffer.concat([before, newline, after]) },
      { how: `up to byte ${at}`, data: before },
    ];
  });
  return edits.filter((edit) => !edit.data.equals(data));
}

/**
 * A thousand generated changes of structure; the seed makes them the same each time. Without what is no change, and what
 * has nothing but the signatures in another order, which is of no matter to anybody.
 */
const generated: readonly Changed[] = fc
  .sample(fc.constantFrom(...Object.values(files)).chain(withOriginal), { seed: 1, numRuns: 1_400 })
  .filter(({ original, changed }) => orderless(changed.file) !== orderless(original))
  .map(({ changed: { how, file } }) => ({ how, data: Buffer.from(file) }));

function withOriginal(original: string) {
  return mutationOf(original).map((changed) => ({ original, changed }));
}

/** A file with the lines behind its last empty line in one order. */
function orderless(file: string): string {
  const signatures = file.lastIndexOf("\n\n") + 2;
  return file.slice(0, signatures) + file.slice(signatures).split("\n").toSorted().join("\n");
}

test("a thousand changes of structure are found", () => {
  expect(generated.length).toBeGreaterThan(1_000);
  expect(missedBy(byFirst, generated)).toEqual([]);
});

test.runIf(hasPython)("a thousand changes of structure are found by the second verifier", () => {
  expect(missedBy(secondVerdicts, generated)).toEqual([]);
});
