// `log verify` on files of every kind, as somebody runs it who has nothing but them and keys.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import { formatVerifierKey, type NoteSigner } from "../../src/core/note.ts";
import { bundleOf, bundleText, closeDocuments, entryDocuments } from "../support/close-vectors.ts";
import { runHere } from "../support/program.ts";
import { closesOrigin, cosignedAt, journalOrigin, TestLog, witnessOf } from "../support/tlog.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-log-verify-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const entries = entryDocuments();
const journal = new TestLog(journalOrigin, entries.map(canonicalJson));
const closes = new TestLog(
  closesOrigin,
  closeDocuments().map(({ closeHash, ...close }) => canonicalJson(close)),
);
const [north, south] = [witnessOf("north.example.com/w"), witnessOf("south.example.com/w")];
const keyOf = ({ verifierKey }: NoteSigner) => formatVerifierKey(verifierKey);

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const trusted = ["--verifier-key", keyOf(journal.signer)];
const verify = (...args: string[]) => runHere(["log", "verify", ...args]);

async function verifyJson(...args: string[]) {
  const { code, stdout, stderr } = await verify(...args, "--json");
  expect(stderr).toBe("");
  return { code, ...(JSON.parse(stdout) as { ok: boolean; files: Record<string, unknown>[] }) };
}

test("a proof names the log, the entry, and who signed it when", async () => {
  const path = file("entry.tlog-proof", journal.proof(1, journal.size, [north]));
  const args = [path, ...trusted, "--witness-key", keyOf(north)];
  const { code, stdout } = await verify(...args);
  expect(code).toBe(0);
  const root = journal.rootHash(0, journal.size).toString("hex");
  for (const line of [
    `origin       ${journalOrigin}`,
    `size         ${journal.size}`,
    `root         ${root}`,
    "index        1",
    `signed by    ${journalOrigin}`,
    "cosigned by  north.example.com/w at 2026-01-01T00:00:00.000Z",
    `entry        ${entries[1]?.["journalId"] as string}, sequence 2`,
    "verified: 1 file, ",
  ]) {
    expect(stdout).toContain(line);
  }
  const { files } = await verifyJson(...args);
  expect(files).toEqual([
    {
      file: path,
      kind: "proof",
      ok: true,
      origin: journalOrigin,
      size: journal.size,
      rootHash: root,
      index: 1,
      record: JSON.parse(canonicalJson(entries[1] ?? {})) as unknown,
      signers: [
        { name: journalOrigin, time: null },
        { name: north.verifierKey.name, time: cosignedAt },
      ],
      finding: null,
    },
  ]);
});

test("a checkpoint has no index and no record", async () => {
  const { code, ok, files } = await verifyJson(file("note", journal.note(2)), ...trusted);
  expect([code, ok]).toEqual([0, true]);
  expect(files).toMatchObject([
    { kind: "checkpoint", ok: true, size: 2, index: null, record: null, finding: null },
  ]);
});

test("a close, with a policy of both logs and a quorum", async () => {
  const policy = file(
    "ledger.policy",
    `log ${keyOf(journal.signer)}\nlog ${keyOf(closes.signer)}\nwitness n ${keyOf(north)}\n` +
      `witness s ${keyOf(south)}\ngroup both any n s\nquorum both\n`,
  );
  const proof = file("close.tlog-proof", closes.proof(0, closes.size, [south]));
  const { code, stdout } = await verify(proof, "--policy", policy);
  expect(stdout).toContain(`closeHash    ${closeDocuments()[0]?.["closeHash"] as string}`);
  expect(stdout).toContain("close        1, closed at ");
  expect(code).toBe(0);
  // The policy's quorum, and this one besides.
  const strict = await verify(proof, "--policy", policy, "--witness-key", keyOf(north));
  expect(strict.stdout).toContain("too few witnesses cosigned; missing: north.example.com/w");
  expect(strict.code).toBe(3);
  const bare = await verify(file("bare.tlog-proof", closes.proof(0)), "--policy", policy);
  expect(bare.code).toBe(3);
});

describe("exit code 3", () => {
  const proof = journal.proof(1);
  const other = new TestLog(`${journalOrigin}.2`, ["one", "two"]);
  test.each([
    ["a proof of another index", proof.replace("index 1", "index 0"), /leads to the root/],
    ["a proof that is cut off", proof.slice(0, -20), /end with lines of signatures/],
    ["a proof without its record", proof.replace(/^extra .*\n/m, ""), /does not have its record/],
    ["a checkpoint of another size", journal.note(2).replace("\n2\n", "\n3\n"), /not valid/],
    ["a checkpoint of a log that is not trusted", other.note(), /no trusted key of the log/],
    ["carriage returns", journal.note().replaceAll("\n", "\r\n"), /control characters/],
    ["a byte order mark", `\ufeff${journal.note()}`, /is not valid/],
    ["nothing", "", /no empty line/],
    ["NUL", "\0".repeat(100), /control characters/],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0x0a]), /is not UTF-8/],
    ["a bundle", bundleText(bundleOf(0)), /it is a bundle: `ledgerctl merkle verify --bundle`/],
    ["more than any proof has", Buffer.alloc(33 << 20, "a"), /is larger than any proof/],
  ])("for %s", async (_, content, finding) => {
    const found = await verifyJson(file("wrong", content), ...trusted);
    expect([found.code, found.ok]).toEqual([3, false]);
    expect(found.files).toMatchObject([{ ok: false, origin: null, record: null, signers: [] }]);
    expect(found.files[0]?.["finding"]).toMatch(finding);
  });

  test("where one of several does not hold; the others are told all the same", async () => {
    const [good, bad] = [file("good", journal.note()), file("bad", other.note())];
    const { code, stdout } = await verify(bad, good, ...trusted);
    expect(stdout).toContain(`${bad}\nMISMATCH     no trusted key of the log ${journalOrigin}.2`);
    expect(stdout).toContain(`${good}\norigin       ${journalOrigin}\n`);
    expect(stdout).toContain("FAILED: 1 of 2 files");
    expect(code).toBe(3);
    const missing = join(folder, "missing");
    expect((await verify(missing, bad, ...trusted)).code).toBe(3);
  });
});

test("a file that can't be read is exit code 1, and the others are told", async () => {
  const [good, missing] = [file("good", journal.note()), join(folder, "missing")];
  const { code, stdout } = await verify(missing, good, ...trusted);
  expect(stdout).toContain(`${missing} can't be read: there is no such file`);
  expect(stdout).toContain("FAILED: 1 of 2 files");
  expect(stdout).toContain(`origin       ${journalOrigin}`);
  expect(code).toBe(1);
  const { files } = await verifyJson(folder, good, ...trusted);
  expect(files).toMatchObject([
    { kind: null, ok: false },
    { kind: "checkpoint", ok: true },
  ]);
});

describe("exit code 2", () => {
  const note = file("note", journal.note());
  const [logKey, witnessKey] = [keyOf(journal.signer), keyOf(north)];
  const policy = file("short.policy", `log ${logKey}\n`);
  test.each([
    ["nobody who is trusted", [], /say whom you trust: --policy FILE, or --verifier-key VKEY/],
    ["a witness alone", ["--witness-key", witnessKey], /--witness-key goes with --policy or /],
    ["a witness's key as the log's", ["--verifier-key", witnessKey], /--verifier-key: .*0x01/],
    [
      "the log's key as a witness's",
      [...trusted, "--witness-key", logKey],
      /--witness-key: .*0x04/,
    ],
    ["a key that is none", ["--verifier-key", "abc"], /--verifier-key: "abc" is no verifier key/],
    [
      "a key with another key ID",
      ["--verifier-key", logKey.replace(/\+[0-9a-f]{8}/, "+00000000")],
      /key ID/,
    ],
    ["a policy and a key", ["--policy", policy, ...trusted], /either --policy or --verifier-key/],
    [
      "a policy without a quorum",
      ["--policy", policy],
      /short\.policy: the policy has no line quorum/,
    ],
    ["no such policy", ["--policy", join(folder, "none")], /--policy .*none can't be read/],
  ])("for %s", async (_, flags, message) => {
    const { code, stdout, stderr } = await verify(note, ...flags);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });
});
