// `merkle verify` on several bundles and on proofs, as an auditor runs it who has nothing but files and keys.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import type { JsonObject } from "../../src/core/journal.ts";
import { formatVerifierKey, type NoteSigner } from "../../src/core/note.ts";
import type { CloseVerdict, Finding } from "../../src/verify/verdict.ts";
import { bundleText } from "../support/close-vectors.ts";
import { makeBundles, monthClose, sales, type MadeBundle } from "../support/made-closes.ts";
import { runHere } from "../support/program.ts";
import { closesOrigin, cosignedAt, journalOrigin, TestLog, witnessOf } from "../support/tlog.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-merkle-verify-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const months = [1, 2, 3, 4, 5] as const;
const made = makeBundles(
  sales(...months),
  months.map((month) => monthClose(month, month)),
);
const [jan, feb, mar, apr, may] = made.map((bundle, index) =>
  file(`2026-0${index + 1}.ndjson`, bundle.text),
) as [string, string, string, string, string];
const hashOf = (index: number) => made[index]?.record.closeHash ?? "";
const rootOf = (index: number) => made[index]?.record.merkleRoot ?? "";

const closes = new TestLog(
  closesOrigin,
  made.map(({ data }) => data),
);
const north = witnessOf("north.example.com/w");
const keyOf = ({ verifierKey }: NoteSigner) => formatVerifierKey(verifierKey);
const trusted = ["--verifier-key", keyOf(closes.signer)];

const verify = (...args: string[]) => runHere(["merkle", "verify", ...args]);

interface Several {
  ok: boolean;
  anchored: boolean;
  bundles: (CloseVerdict & { file: string })[];
  findings: Finding[];
}

async function verifyJson<Shape = Several>(...args: string[]): Promise<Shape & { code: number }> {
  const { code, stdout, stderr } = await verify(...args, "--json");
  expect(stderr).toBe("");
  return { code: code ?? -1, ...(JSON.parse(stdout) as Shape) };
}

/** A bundle with another record, which agrees with itself. */
function changed({ lines }: MadeBundle, change: JsonObject): string {
  const [first, ...rest] = structuredClone(lines) as [JsonObject, ...JsonObject[]];
  const close = { ...(first["close"] as JsonObject), ...change };
  return bundleText([{ ...first, close }, ...rest]);
}

describe("one bundle", () => {
  test("is named by its ledger, bounds, entries and debits", async () => {
    const { code, stdout } = await verify(feb);
    expect(code).toBe(0);
    for (const line of [
      `ledger       ${made[1]?.record.ledgerId}`,
      'period       "2026-02", from 2026-02-01T00:00:00.000Z up to 2026-03-01T00:00:00.000Z',
      "entries      1",
      "debits       20.00 USD",
    ]) {
      expect(stdout.split("\n")).toContain(line);
    }
    expect((await verify(feb, "--minor")).stdout).toContain("\ndebits       2000 USD\n");
    expect(await verifyJson<CloseVerdict>(feb, "--minor")).toMatchObject({
      ...{ code: 0, ok: true, periodId: "2026-02", entries: 1, debits: "2000", signers: [] },
      ...{ functionalCurrency: "USD", startsAt: "2026-02-01T00:00:00.000Z" },
    });
  });

  test("is compared in a line for what was equal, and in none for what was not", async () => {
    const forged = file("forged", (made[1]?.text ?? "").replaceAll('"2000"', '"2001"'));
    const { code, stdout } = await verify(forged, "--expect", hashOf(1));
    expect(code).toBe(3);
    const compared = stdout.split("\n").filter((line) => line.startsWith("compared"));
    expect(compared).toEqual([
      "compared     the close's own hash",
      "compared     the figure that was expected",
    ]);
    expect(stdout).toContain("FAILED: ");
  });

  test("has each figure that is expected, the same as with --bundle", async () => {
    const expected = ["--expect", hashOf(1), "--expect", rootOf(1)];
    const { code, stdout } = await verify("--bundle", feb, ...expected);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("closeHash is the one expected, and"),
    ]);
    expect((await verify(feb, ...expected, "--expect", hashOf(2))).code).toBe(3);
  });
});

describe("several bundles", () => {
  test("are all verified, however they are given and in whatever order", async () => {
    for (const args of [
      [jan, feb, mar],
      ["--bundle", mar, "--bundle", jan, "--bundle", feb],
      [feb, "--bundle", mar, "--bundle", jan],
    ]) {
      const { code, bundles, ...rest } = await verifyJson(...args);
      expect([code, rest]).toEqual([0, { ok: true, anchored: false, findings: [] }]);
      expect(bundles.map(({ file: name, number }) => [name, number])).toEqual([
        [jan, 1],
        [feb, 2],
        [mar, 3],
      ]);
      for (const { checked, notChecked } of bundles.slice(1)) {
        expect(checked).toContain("previousCloseHash, with the close before");
        expect(checked).toContain("the openings, with the closings of the close before");
        expect(notChecked).toEqual(["a figure from elsewhere: nothing was expected"]);
      }
    }
  });

  test("are anchored by one that is expected, and by it those before; not those after", async () => {
    const { code, ok, anchored, bundles } = await verifyJson(
      jan,
      feb,
      mar,
      apr,
      "--expect",
      hashOf(2),
    );
    expect([code, ok, anchored]).toEqual([0, true, false]);
    expect(bundles.map((bundle) => bundle.anchored)).toEqual([true, true, true, false]);
    const { stdout } = await verify(jan, feb, mar, apr, "--expect", hashOf(2));
    expect(stdout).toContain("consistent, NOT anchored (close 4)");
    const all = await verify(jan, feb, mar, "--expect", hashOf(2));
    expect(all.stdout).toContain("verified: 3 bundles, ");
  });

  test("are not anchored over a gap, or by a merkleRoot, which does not cover the hash before", async () => {
    const gap = await verifyJson(jan, feb, apr, may, "--expect", hashOf(4));
    expect(gap.code).toBe(0);
    expect(gap.bundles.map((bundle) => bundle.anchored)).toEqual([false, false, true, true]);
    expect(gap.bundles[2]?.notChecked).toContain("the closes before this one");
    const root = await verifyJson(jan, feb, "--expect", rootOf(1));
    expect(root.bundles.map((bundle) => bundle.anchored)).toEqual([false, true]);
  });

  test("fail where one was tampered with, wherever it is named", async () => {
    const forged = file("forged", (made[0]?.text ?? "").replaceAll('"1000"', '"1001"'));
    for (const args of [
      ["--bundle", forged, "--bundle", feb],
      ["--bundle", feb, "--bundle", forged],
      [forged, feb],
    ]) {
      const { code, bundles } = await verifyJson(...args);
      expect([code, bundles.map(({ ok }) => ok)]).toEqual([3, [false, true]]);
    }
  });

  test("fail where the close before has another hash", async () => {
    const [, reordered] = makeBundles(sales(1, 2).reverse(), [monthClose(1, 2), monthClose(2, 2)]);
    const broken = await verifyJson(jan, file("reordered", reordered?.text ?? ""));
    expect(broken.code).toBe(3);
    expect(broken.bundles[1]?.findings[0]?.what).toMatch(
      /^previousCloseHash is .*, but close 1 comes to/,
    );
  });

  test("fail where one number is two closes; the same close twice is no fault", async () => {
    const forked = file("fork", changed(made[1] as MadeBundle, { reason: "another" }));
    const fork = await verifyJson(feb, forked);
    expect(fork.code).toBe(3);
    expect(fork.bundles[0]?.findings[0]?.what).toMatch(/^2 is two different closes/);
    const twice = await verifyJson(jan, feb, feb, "--expect", hashOf(1));
    expect([twice.code, twice.bundles.map(({ anchored }) => anchored)]).toEqual([
      0,
      [true, true, true],
    ]);
  });

  test("of several ledgers are a chain each", async () => {
    const ledger = "0190b6a0-0000-7000-8000-00000000000f";
    const [first] = makeBundles(sales(1), [monthClose(1, 1)], ledger);
    const elsewhere = file("elsewhere.ndjson", first?.text ?? "");
    const { code, bundles } = await verifyJson(elsewhere, jan, feb, "--expect", hashOf(1));
    expect(code).toBe(0);
    expect(bundles.map(({ ledgerId, anchored }) => [ledgerId === ledger, anchored])).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
    const { stdout } = await verify(elsewhere, jan);
    expect(stdout).toMatch(/^LEDGER +NO +PERIOD/);
  });

  test("tell openings that moved since; where all before was closed, these are findings", async () => {
    const late = { date: "2025-12-31", debit: "1000", credit: "3000", amount: 5 };
    const entries = [...sales(1), late, ...sales(2)];
    const open = makeBundles(entries, [monthClose(1, 1), monthClose(2, 3)]);
    const [one, two] = open.map(({ text }, index) => file(`late-${index}`, text)) as [
      string,
      string,
    ];
    const moved = await verifyJson(one, two);
    expect(moved.code).toBe(0);
    expect(moved.bundles[1]?.notChecked[0]).toMatch(
      /^the openings of "1000", "3000": they are not the closings/,
    );
    const fromBeginning = { ...monthClose(1, 1), startsAt: null };
    const closed = makeBundles(entries, [fromBeginning, monthClose(2, 3)]);
    const files = closed.map(({ text }, index) => file(`closed-${index}`, text));
    const { code, bundles } = await verifyJson(...files);
    expect(code).toBe(3);
    expect(bundles[1]?.findings.map(({ where }) => where)).toEqual([
      'account "1000"',
      'account "3000"',
    ]);
  });

  test("are all told, also beside files that are none or can't be read", async () => {
    const none = file("none", "hello\n");
    const missing = join(folder, "missing");
    const junk = await verifyJson(none, missing, jan);
    expect([junk.code, junk.ok, junk.bundles.length]).toEqual([3, false, 1]);
    expect(junk.findings.map(({ what }) => what)).toEqual([
      expect.stringContaining(`${none} is no bundle`),
      `${missing} can't be read: there is no such file`,
    ]);
    expect((await verify(missing, jan)).code).toBe(1);
    expect((await verify(missing)).code).toBe(1);
  });
});

describe("--proof", () => {
  const proof = file("3.tlog-proof", closes.proof(2, closes.size, [north]));
  const policy = file(
    "ledger.policy",
    `log ${keyOf(closes.signer)}\nwitness n ${keyOf(north)}\nquorum n\n`,
  );

  test("anchors a bundle by the signed log, and says who signed when", async () => {
    for (const flags of [
      trusted,
      [...trusted, "--witness-key", keyOf(north)],
      ["--policy", policy],
    ]) {
      const { code, stdout } = await verify(mar, "--proof", proof, ...flags);
      expect([code, stdout]).toEqual([0, expect.stringContaining("verified: everything matches")]);
      expect(stdout).toContain(`signed by    ${closesOrigin}`);
    }
    const { anchored, signers } = await verifyJson<CloseVerdict>(
      mar,
      "--proof",
      proof,
      "--policy",
      policy,
    );
    expect([anchored, signers]).toEqual([
      true,
      [
        { name: closesOrigin, time: null },
        { name: north.verifierKey.name, time: cosignedAt },
      ],
    ]);
  });

  test("anchors those before in a chain, and several are of several", async () => {
    const { code, bundles } = await verifyJson(jan, feb, mar, "--proof", proof, ...trusted);
    expect([code, bundles.map(({ anchored }) => anchored)]).toEqual([0, [true, true, true]]);
    expect(bundles.map(({ signers }) => signers.length)).toEqual([0, 0, 1]);
    const five = file("5.tlog-proof", closes.proof(4));
    const both = ["--proof", proof, "--proof", five];
    expect((await verifyJson(mar, may, ...both, ...trusted)).anchored).toBe(true);
  });

  const journal = new TestLog(journalOrigin, [canonicalJson({}), "x"]);
  const entry = new TestLog(
    journalOrigin,
    (made[0]?.lines ?? [])
      .filter(({ kind }) => kind === "entry")
      .map(({ entry: document }) => canonicalJson(document as JsonObject)),
  );
  test.each([
    ["of another close", closes.proof(1), trusted, /is of close 2 of ledger .*no bundle here is/],
    [
      "of an entry",
      entry.proof(0),
      ["--verifier-key", keyOf(entry.signer)],
      /is of the entry .*, not of a close/,
    ],
    ["of another key", journal.proof(0), trusted, /no trusted key of the log/],
    [
      "without a witness",
      closes.proof(2),
      [...trusted, "--witness-key", keyOf(north)],
      /too few witnesses/,
    ],
    [
      "that was changed",
      closes.proof(2).replace("index 2", "index 1"),
      trusted,
      /leads to the root/,
    ],
    ["that is a bundle", made[0]?.text ?? "", trusted, /is a bundle: `ledgerctl merkle verify/],
    ["that is empty", "", trusted, /does not begin with the line/],
  ])("%s is a finding", async (_, content, flags, finding) => {
    const { code, findings, anchored } = await verifyJson<CloseVerdict>(
      ...[mar, "--proof", file("wrong.tlog-proof", content), ...flags],
    );
    expect([code, anchored]).toEqual([3, false]);
    expect(findings[0]?.where).toMatch(/^proof .*wrong\.tlog-proof$/);
    expect(findings[0]?.what).toMatch(finding);
    // Nor is it of several.
    expect(
      (await verify(jan, mar, "--proof", join(folder, "wrong.tlog-proof"), ...flags)).code,
    ).toBe(3);
  });

  test("that can't be read is exit code 1", async () => {
    expect((await verify(mar, "--proof", join(folder, "missing"), ...trusted)).code).toBe(1);
  });

  test("of a bundle whose entries were changed does not help it", async () => {
    const forged = file("forged", (made[2]?.text ?? "").replaceAll('"3000"', '"3001"'));
    const { code, anchored } = await verifyJson<CloseVerdict>(forged, "--proof", proof, ...trusted);
    expect([code, anchored]).toEqual([3, false]);
  });
});

test.each([
  [
    "nothing",
    [],
    /say what to verify: bundles, as in .*merkle verify 2026-03\.ndjson.* or --period/,
  ],
  ["a period and a bundle", ["--period", "2026-03", mar], /either --period or bundles/],
  ["stdin twice", ["-", "--bundle", "-"], /- is given twice/],
  ["a figure that is none", [mar, "--expect", "abc"], /--expect must be a hash/],
  [
    "a proof and nobody to trust",
    [mar, "--proof", "x"],
    /--proof needs --policy FILE or --verifier-key/,
  ],
  ["keys without a proof", [mar, ...trusted], /go with --proof/],
  [
    "a witness's key of another type",
    [mar, "--proof", "x", ...trusted, "--witness-key", keyOf(closes.signer)],
    /--witness-key: .*0x04/,
  ],
])("%s is exit code 2", async (_, args, message) => {
  const { code, stdout, stderr } = await verify(...args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});
