// The verifier in Python on checkpoints, tlog-proofs and policies: it says of each case what ours says. Why each case is
// refused is a matter of test/core.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import { formatVerifierKey } from "../../src/core/note.ts";
import { closeDocuments, entryDocuments } from "../support/close-vectors.ts";
import { refusedCloses, refusedEntries } from "../support/log-record-cases.ts";
import { hasPython } from "../support/python.ts";
import { secondVerdicts } from "../support/second-verifier.ts";
import {
  caseOf,
  firstVerdict,
  type SignedCase,
  type SignedVerdict,
} from "../support/signed-cases.ts";
import {
  log,
  refusedCheckpoints,
  refusedCosignatures,
  refusedNotes,
} from "../support/tlog-cases.ts";
import {
  quorums,
  refusedKeys,
  refusedPolicies,
  witnessesNamed,
} from "../support/tlog-policy-cases.ts";
import { refusedProofs } from "../support/tlog-proof-cases.ts";
import { tlogVectors, vectorCase } from "../support/tlog-vectors.ts";
import { closesOrigin, journalOrigin, TestLog } from "../support/tlog.ts";

type NamedCase = readonly [name: string, asked: SignedCase];

/** Expects that both say the same of each case, but for the words in which they refuse it, and that it is `ok` or not. */
function expectAgreement(cases: readonly NamedCase[], ok: boolean): void {
  const withoutWords = ({ finding, ...verdict }: SignedVerdict) => verdict;
  const first = cases.map(([name, asked]) => [name, withoutWords(firstVerdict(asked))]);
  const second = secondVerdicts(cases.map(([, asked]) => asked)).map(withoutWords);
  expect(cases.map(([name], index) => [name, second[index]])).toEqual(first);
  expect(second.filter((verdict) => verdict.ok !== ok)).toEqual([]);
}

/** The proof of a leaf of a log in which everything is signed. */
function recordCase(origin: string, data: readonly (string | Buffer)[], index: number): SignedCase {
  const records = new TestLog(origin, data);
  return {
    data: Buffer.from(records.proof(index)),
    verifierKeys: [formatVerifierKey(records.signer.verifierKey)],
    withRecord: true,
  };
}

describe.runIf(hasPython)("the second verifier agrees", () => {
  it("on the vectors", () => {
    const { logs, cosignature, mustFail } = tlogVectors;
    const right = Object.values(logs).flatMap(({ verifierKey, checkpoints, proofs }) => [
      ...checkpoints.map(({ size, note }) => [`${size}`, vectorCase(note, [verifierKey])] as const),
      ...proofs.map(({ index, proof }) => [`${index}`, vectorCase(proof, [verifierKey])] as const),
    ]);
    const keys = [logs.journal.verifierKey, cosignature.verifierKey];
    expectAgreement([...right, ["cosigned", vectorCase(cosignature.note, keys)]], true);
    expectAgreement(
      mustFail.map(({ why, text, verifierKeys }) => [why, vectorCase(text, verifierKeys)]),
      false,
    );
  });

  it.each([
    ["notes", refusedNotes],
    ["checkpoints", refusedCheckpoints],
    ["cosignatures", refusedCosignatures],
    ["proofs", refusedProofs],
  ])("on %s that are refused", (_, cases) => {
    expectAgreement(
      cases.map(([why, text]) => [why, caseOf(text)]),
      false,
    );
  });

  it("on policies and keys that are refused", () => {
    expectAgreement(
      [
        ...refusedPolicies.map(([why, text]) => [why, { policy: Buffer.from(text) }] as const),
        ...refusedKeys.map(([why, key]) => [why, { verifierKeys: [key.toString()] }] as const),
      ],
      false,
    );
  });

  it("on who is enough for a policy", () => {
    const asked = (of: "enough" | "tooFew") =>
      quorums.flatMap((quorum) =>
        quorum[of].map((names): [string, SignedCase] => {
          const data = Buffer.from(log.note(7, witnessesNamed(names)));
          return [`${quorum.why}: ${names}`, { data, policy: Buffer.from(quorum.policy) }];
        }),
      );
    expectAgreement(asked("enough"), true);
    expectAgreement(asked("tooFew"), false);
  });

  it("on records", () => {
    const entries = entryDocuments().map(canonicalJson);
    const closes = closeDocuments().map(({ closeHash, ...hashed }) => canonicalJson(hashed));
    expectAgreement(
      [
        ...entries.map((_, index) => recordCase(journalOrigin, entries, index)),
        ...entries.map((_, index) => recordCase(`${journalOrigin}.12`, entries, index)),
        ...closes.map((_, index) => recordCase(closesOrigin, closes, index)),
      ].map((asked, index) => [`${index}`, asked]),
      true,
    );
    const origins = [
      "x",
      "a/journal",
      `${journalOrigin}.1`,
      `${journalOrigin}.02`,
      `/${journalOrigin}/`,
    ];
    expectAgreement(
      [
        ...refusedEntries.map(
          ([why, data]) => [why, recordCase(journalOrigin, ["first", data], 1)] as const,
        ),
        ...refusedCloses.map(
          ([why, data]) => [why, recordCase(closesOrigin, ["first", data], 1)] as const,
        ),
        ...origins.map((origin) => [origin, recordCase(origin, entries, 1)] as const),
      ],
      false,
    );
  });

  it("on signatures at the edges of Ed25519", () => {
    const signatures = JSON.parse(
      readFileSync(new URL("../vectors/ed25519.json", import.meta.url), "utf8"),
    ) as readonly (Record<"why" | "text" | "publicKey" | "signature", string> & {
      valid: boolean;
    })[];
    const asked = (valid: boolean) =>
      signatures
        .filter((each) => each.valid === valid)
        .map(({ why, text, publicKey, signature }): [string, SignedCase] => [
          why,
          {
            data: Buffer.from(text),
            publicKey: Buffer.from(publicKey, "hex"),
            signature: Buffer.from(signature, "hex"),
          },
        ]);
    expectAgreement(asked(true), true);
    expectAgreement(asked(false), false);
  });
});
