// Checkpoints and cosignatures: each line of tlog-checkpoint.md and tlog-cosignature.md that is broken is refused.
import { describe, expect, test } from "vitest";
import { cosign, formatCheckpoint, parseCheckpoint } from "../../src/core/checkpoint.ts";
import { emptyRoot } from "../../src/core/merkle.ts";
import { formatNote } from "../support/format-note.ts";
import { caseOf, expectRefused, firstVerdict } from "../support/signed-cases.ts";
import { log, refusedCheckpoints, refusedCosignatures, witness } from "../support/tlog-cases.ts";
import { cosignedAt } from "../support/tlog.ts";

test.each([0, 1, 7, Number.MAX_SAFE_INTEGER])("a checkpoint of %d leaves", (size) => {
  const checkpoint = { origin: "example.com/log é", size, rootHash: emptyRoot };
  const text = formatCheckpoint(checkpoint);
  expect(text.split("\n")).toHaveLength(4);
  expect(parseCheckpoint(text)).toEqual(checkpoint);
});

test("reads the example of the specification", () => {
  const root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
  expect(parseCheckpoint(`example.com/behind-the-sofa\n20852163\n${root}\n`)).toEqual({
    origin: "example.com/behind-the-sofa",
    size: 20_852_163,
    rootHash: Buffer.from(root, "base64"),
  });
});

test.each([1, cosignedAt, Number.MAX_SAFE_INTEGER])("a cosignature at the time %d", (time) => {
  const text = log.text();
  const note = formatNote({
    text,
    signatures: [cosign(witness, text, time), log.signer.sign(text)],
  });
  // The log is the first to be named, wherever its signature is.
  expect(firstVerdict(caseOf(note))).toEqual({
    ok: true,
    signers: [
      { name: log.origin, time: null },
      { name: witness.verifierKey.name, time },
    ],
  });
});

describe("refuses a checkpoint, which must have", () => {
  test.each(refusedCheckpoints)("%s", (_, text, reason) => {
    expectRefused(text, reason);
  });
});

describe("refuses a cosignature, which must be", () => {
  test.each(refusedCosignatures)("%s", (_, text, reason) => {
    expectRefused(text, reason);
  });
});
