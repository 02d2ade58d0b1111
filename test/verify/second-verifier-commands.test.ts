// The command line of the verifier in Python for checkpoints and tlog-proofs: arguments, output, exit codes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import { formatVerifierKey } from "../../src/core/note.ts";
import { bundleOf, bundleText, closeDocuments, entryDocuments } from "../support/close-vectors.ts";
import { hasPython } from "../support/python.ts";
import { runSecondVerifier } from "../support/second-verifier.ts";
import { closesOrigin, cosignedAt, journalOrigin, TestLog, witnessOf } from "../support/tlog.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-second-logs-"));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A file of a test. */
function write(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const closes = closeDocuments();
const entries = entryDocuments();
const witness = witnessOf("witness.example.com/w1");
const journal = new TestLog(journalOrigin, entries.map(canonicalJson));
const closesLog = new TestLog(
  closesOrigin,
  closes.map(({ closeHash, ...hashed }) => canonicalJson(hashed)),
);
const journalKey = formatVerifierKey(journal.signer.verifierKey);
const closesKey = formatVerifierKey(closesLog.signer.verifierKey);
const witnessKey = formatVerifierKey(witness.verifierKey);
const policy = write(
  "policy",
  `log ${journalKey}\nlog ${closesKey}\nwitness W ${witnessKey}\nquorum W\n`,
);
const keys = ["--verifier-key", journalKey, "--verifier-key", closesKey];
const checkpoint = write("checkpoint", journal.note(7, [witness]));
const unwitnessed = write("unwitnessed", journal.note(7));
const entryProof = write("entry.tlog-proof", journal.proof(4, 7, [witness]));
const closeProof = write("close.tlog-proof", closesLog.proof(0, 3, [witness]));
const bundle = write("2026-01.ndjson", bundleText(bundleOf(0)));
const closeHash = closes[0]?.["closeHash"] as string;

describe.runIf(hasPython)("the second verifier's command line", () => {
  it("says of each file what it shows, and who signed it", () => {
    const { code, output } = runSecondVerifier(checkpoint, entryProof, closeProof, ...keys);
    const root = journal.rootHash(0, 7).toString("hex");
    const { journalId, transactionDate } = entries[4] as Record<string, string>;
    expect(code).toBe(0);
    expect(output.split("\n")).toEqual([
      `${checkpoint}: a checkpoint`,
      `Checkpoint of ${journalOrigin},`,
      `size 7, root ${root}`,
      `  signed by ${journalOrigin}`,
      `${entryProof}: a tlog-proof`,
      `Checkpoint of ${journalOrigin},`,
      `size 7, root ${root}`,
      `  signed by ${journalOrigin}`,
      expect.stringMatching(
        `^  index 4: entry '${journalId}' \\(sequence 5\\), dated ${transactionDate}, \\d+ lines$`,
      ),
      `${closeProof}: a tlog-proof`,
      `Checkpoint of ${closesOrigin},`,
      `size 3, root ${closesLog.rootHash(0, 3).toString("hex")}`,
      `  signed by ${closesOrigin}`,
      `  index 0: close 1, period '2026-01', closeHash ${closeHash}`,
      "verified: 3 files",
      "",
    ]);
  });

  it.each([
    ["a policy", ["--policy", policy]],
    ["the key of a witness", [...keys, "--witness-key", witnessKey]],
    ["a policy and the key of a witness", ["--policy", policy, "--witness-key", witnessKey]],
  ])("demands the witnesses of %s", (_, args) => {
    const { code, output } = runSecondVerifier(...args, checkpoint);
    expect(code).toBe(0);
    expect(output).toContain(`  cosigned by ${witness.verifierKey.name} at 2026-01-01T00:00:00Z\n`);
    const refused = runSecondVerifier(checkpoint, ...args, unwitnessed);
    expect(refused.code).toBe(3);
    expect(refused.output).toContain(
      `${unwitnessed}: too few witnesses cosigned; missing: ${witness.verifierKey.name}\n` +
        "NOT verified: 1 of 2 files\n",
    );
  });

  it("prints one JSON document", () => {
    const { code, output } = runSecondVerifier(
      ...[closeProof, checkpoint, unwitnessed, "--policy", policy, "--json"],
    );
    const signers = (name: string) => [
      { name, time: null },
      { name: witness.verifierKey.name, time: cosignedAt },
    ];
    expect(code).toBe(3);
    expect(JSON.parse(output)).toEqual({
      ok: false,
      files: [
        {
          file: closeProof,
          kind: "proof",
          ok: true,
          origin: closesOrigin,
          size: 3,
          rootHash: closesLog.rootHash(0, 3).toString("hex"),
          index: 0,
          record: closes[0],
          signers: signers(closesOrigin),
          finding: null,
        },
        {
          file: checkpoint,
          kind: "checkpoint",
          ok: true,
          origin: journalOrigin,
          size: 7,
          rootHash: journal.rootHash(0, 7).toString("hex"),
          index: null,
          record: null,
          signers: signers(journalOrigin),
          finding: null,
        },
        {
          ...{ file: unwitnessed, kind: "checkpoint", ok: false, origin: null, size: null },
          ...{ rootHash: null, index: null, record: null, signers: [] },
          finding: `too few witnesses cosigned; missing: ${witness.verifierKey.name}`,
        },
      ],
    });
  });

  it.each([
    ["a file", [bundle]],
    ["--bundle", ["--bundle", bundle]],
  ])("anchors the bundle of %s by its proof", (_, file) => {
    const { code, output } = runSecondVerifier(...file, "--proof", closeProof, "--policy", policy);
    expect(code).toBe(0);
    expect(output).toContain(`  cosigned by ${witness.verifierKey.name} at `);
    expect(output).toMatch(
      new RegExp(`\nverified: closeHash ${closeHash} is at index 0 of the log, .*\n$`),
    );
  });

  it.each([
    ["of another close", () => closesLog.proof(1), /--proof: closeHash: expected '.*', found/],
    ["of an entry", () => journal.proof(0), /--proof: the proof: expected that of a close/],
    [
      "that is a checkpoint",
      () => closesLog.note(),
      /expected that of a close, found a checkpoint/,
    ],
    [
      "of another log",
      () => closesLog.proof(0).replace("ledger.", "other."),
      /--proof: the signature of/,
    ],
    ["that is a bundle", () => bundleText(bundleOf(0)), /--proof: has no|--proof: does not have/],
    ["that is empty", () => "", /--proof: does not have a text/],
  ])("does not take a proof %s", (_, content, says) => {
    const { code, output } = runSecondVerifier(
      bundle,
      "--proof",
      write("proof", content()),
      ...keys,
    );
    expect(code).toBe(3);
    expect(output).toMatch(says);
    expect(output).toMatch(/\nNOT verified: 1 finding\n$/);
  });

  it("compares --expect, too", () => {
    const { code, output } = runSecondVerifier(
      ...[bundle, "--proof", closeProof, ...keys, "--expect", "00".repeat(32)],
    );
    expect(code).toBe(3);
    expect(output).toContain("--expect: closeHash or merkleRoot of the record: expected 0000");
  });

  it.each([
    ["no file", [...keys], /required: FILE/],
    ["a key that is none", [checkpoint, "--verifier-key", "x"], /'x' is no verifier key/],
    ["a witness's key for a log", [checkpoint, "--verifier-key", witnessKey], /type 0x01/],
    ["a log's key for a witness", [checkpoint, ...keys, "--witness-key", journalKey], /type 0x04/],
    ["a policy and a key", [checkpoint, ...keys, "--policy", policy], /not both/],
    ["no key of a log", [checkpoint, "--witness-key", witnessKey], /need --policy or/],
    ["a proof without keys", [bundle, "--proof", closeProof], /need --policy or/],
    ["--json without keys", [bundle, "--json"], /need --policy or/],
    ["--json with --proof", [bundle, "--proof", closeProof, ...keys, "--json"], /--json is for/],
    ["--bundle without --proof", ["--bundle", bundle, ...keys], /together with its --proof/],
    ["--expect with a checkpoint", [checkpoint, ...keys, "--expect", closeHash], /--expect is for/],
    ["two bundles", [bundle, bundle], /one bundle or proof at a time, not 2/],
    ["standard input twice", ["-", "-", ...keys], /only be one file/],
    ["no such file", [join(folder, "none"), ...keys], /can't read .*none: No such file/],
    ["a folder", [folder, ...keys], /can't read .*: Is a directory/],
    ["no such policy", [checkpoint, "--policy", join(folder, "none")], /can't read .*none/],
    ["a policy that is none", [bundle, "--policy", checkpoint], /is no policy: line 1: /],
  ])("refuses %s as bad usage", (_, args, says) => {
    const { code, output } = runSecondVerifier(...args);
    expect(code).toBe(2);
    expect(output).toMatch(says);
  });
});
