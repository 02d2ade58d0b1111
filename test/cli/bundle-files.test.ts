// What commands show of bundles: an auditor's files, with nobody to ask.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { CloseRecord } from "../../src/core/close.ts";
import { bundleOf, bundleText } from "../support/close-vectors.ts";
import { makeBundles, monthClose, sales } from "../support/made-closes.ts";
import { beancount, hasBeancount, hasHledger, hledger } from "../support/other-books.ts";
import { runHere } from "../support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-bundle-files-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const made = makeBundles(sales(1, 2, 2, 4), [monthClose(1, 4), monthClose(2, 4), monthClose(3, 4)]);
const texts = made.map(({ text }) => text) as [string, string, string];
const [jan, feb, mar] = texts.map((text, index) => file(`2026-0${index + 1}.ndjson`, text)) as [
  string,
  string,
  string,
];
/** One figure of February is another, and nothing else. */
const forged = file("forged.ndjson", texts[1].replace('"debits":"4000"', '"debits":"4001"'));
/** Four currencies, revaluations, and texts that are hard to write. */
const foreign = file("foreign.ndjson", bundleText(bundleOf(0)));

const inOrder = (text: string) =>
  text.split("\n").map((line) => line.replace(/ {2,}/g, "  ").trim());

describe("bundle show", () => {
  test("has the close, its trial balance and a row for each line of its entries", async () => {
    const { code, stdout, stderr } = await runHere(["bundle", "show", feb]);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = inOrder(stdout);
    for (const line of [
      'period  "2026-02", from 2026-02-01T00:00:00.000Z up to 2026-03-01T00:00:00.000Z',
      "debits  40.00 USD",
      `closeHash  ${made[1]?.record.closeHash}`,
      "1000  10.00 USD  40.00 USD  0.00 USD  50.00 USD  2",
      "total  0.00 USD  40.00 USD  -40.00 USD  0.00 USD",
    ]) {
      expect(lines).toContain(line);
    }
    expect(lines.filter((line) => line.startsWith("2  2026-02-15  1000  20.00 USD"))).toHaveLength(
      1,
    );
    expect(lines.filter((line) => line === "4000  -20.00 USD")).toHaveLength(2);
    expect(stdout).toContain("consistent, NOT anchored: ");
  });

  test("shows foreign amounts beside those in functional currency", async () => {
    const { stdout } = await runHere(["bundle", "show", foreign]);
    expect(stdout).toMatch(/^SEQ +DATE +ACCOUNT +AMOUNT +FOREIGN +ID +DESCRIPTION$/m);
    expect(stdout).toMatch(/ USD +-?[0-9.]+ EUR /);
  });

  test("shows so many entries, and says how many more there are", async () => {
    const { stdout } = await runHere(["bundle", "show", feb, "--limit", "1"]);
    expect(stdout).toContain("\n\nand 1 more entry: see --limit\n");
    const none = await runHere(["bundle", "show", feb, "--limit", "0", "--json"]);
    expect(JSON.parse(none.stdout)).toMatchObject({ ok: true, entries: [] });
    expect((await runHere(["bundle", "show", feb, "--limit", "-1"])).code).toBe(2);
  });

  test("shows smallest units with --minor", async () => {
    const { stdout } = await runHere(["bundle", "show", feb, "--minor"]);
    const lines = inOrder(stdout);
    for (const line of ["debits  4000 USD", "1000  1000 USD  4000 USD  0 USD  5000 USD  2"]) {
      expect(lines).toContain(line);
    }
    expect(lines.filter((line) => line === "4000  -2000 USD")).toHaveLength(2);
    expect(stdout).not.toContain("smallest units");
  });

  test("says which amounts are in smallest units as nobody can be asked, and so do others", async () => {
    const inPoints = [{ ...sales(1)[0], functionalCurrency: "POINTS", currency: "GEMS" }];
    const [bundle] = makeBundles(inPoints as ReturnType<typeof sales>, [monthClose(1, 1)]);
    const points = file("points.ndjson", bundle?.text ?? "");
    const told = (codes: string) =>
      `\namounts      of ${codes} in smallest units: the file has no rules of assets\n`;
    const shown = await runHere(["bundle", "show", points]);
    expect(shown.stdout).toContain(told("GEMS, POINTS"));
    expect(inOrder(shown.stdout)).toContain("debits  1000 POINTS");
    const verified = await runHere(["merkle", "verify", points]);
    expect(verified.stdout).toContain(`debits       1000 POINTS${told("POINTS")}`);
    const balances = await runHere(["trial-balance", "--bundle", points]);
    expect(balances.stdout).toContain(told("POINTS"));
    const other = makeBundles(inPoints as ReturnType<typeof sales>, [monthClose(2, 1)])[0];
    const later = file("later-points.ndjson", other?.text ?? "");
    const diff = await runHere(["period", "diff", points, later]);
    expect(diff.stdout).toContain(told("POINTS"));
    for (const command of ["bundle show", "merkle verify", "trial-balance --bundle"]) {
      const asked = await runHere([...command.split(" "), points, "--minor"]);
      expect([asked.code, asked.stdout]).toEqual([0, expect.not.stringContaining("amounts  ")]);
    }
  });

  test("is one JSON document with the records as they are", async () => {
    const { stdout } = await runHere(["bundle", "show", jan, "--json"]);
    const lines = made[0]?.lines ?? [];
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      close: made[0]?.record,
      functionalCurrency: "USD",
      accounts: lines.flatMap(({ account }) => (account === undefined ? [] : [account])),
      entries: lines.flatMap(({ entry }) => (entry === undefined ? [] : [entry])),
      findings: [],
    });
  });

  test("of a period without entries has its openings", async () => {
    const { code, stdout } = await runHere(["bundle", "show", mar]);
    expect(code).toBe(0);
    expect(inOrder(stdout)).toContain("1000  5000  0  0  5000  0");
    expect(stdout).toContain(
      "\namounts      in smallest units: without entries, a bundle does not name its currency\n",
    );
    expect(stdout).not.toContain("SEQ");
  });

  test("ends with 3 where the file does not match itself, and says where", async () => {
    const { code, stdout } = await runHere(["bundle", "show", forged]);
    expect(code).toBe(3);
    expect(stdout).toContain('MISMATCH     account "1000" debits is 4001, but comes to 4000');
    expect(stdout).toContain("FAILED: the file does not match itself.");
    const json = await runHere(["bundle", "show", forged, "--json"]);
    expect([json.code, (JSON.parse(json.stdout) as { ok: boolean }).ok]).toEqual([3, false]);
  });

  test("ends with 3 on what is no bundle, and with 1 on what can't be read", async () => {
    expect((await runHere(["bundle", "show", file("junk", "junk\n")])).code).toBe(3);
    expect((await runHere(["bundle", "show", join(folder, "none")])).code).toBe(1);
  });
});

describe("bundle", () => {
  test("still needs --out for itself, and only for itself", async () => {
    const { code, stderr } = await runHere(["bundle", "2026-03"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("required option '--out <file>' not specified"),
    ]);
    expect((await runHere(["bundle", "export", feb])).stderr).toContain("--format <format>");
  });
});

const exported = async (from: string, format: string) => {
  const out = join(folder, `out.${format}`);
  rmSync(out, { force: true });
  const args = ["bundle", "export", from, "--format", format];
  const written = await runHere([...args, "--out", out]);
  const printed = await runHere(args);
  return { out, written, printed };
};

describe("bundle export", () => {
  test("writes to a file what it prints", async () => {
    for (const format of ["hledger", "beancount", "csv", "ndjson"]) {
      const { out, written, printed } = await exported(feb, format);
      const told = `${out} is written, entries: 2, of the close with the closeHash ${made[1]?.record.closeHash}\n`;
      expect(written).toEqual({ code: 0, stdout: "", stderr: told });
      expect(printed).toEqual({ code: 0, stdout: readFileSync(out, "utf8"), stderr: "" });
      const { stdout } = await runHere(["bundle", "export", feb, "--format", format]);
      expect(stdout).toContain(format === "csv" || format === "ndjson" ? "4000" : ":4000");
    }
    const json = ["bundle", "export", feb, "--format", "csv", "--out", join(folder, "j"), "--json"];
    expect(JSON.parse((await runHere(json)).stdout)).toMatchObject({ format: "csv", entries: 2 });
  });

  test("says in its first line which close it is of", async () => {
    const { printed } = await exported(feb, "hledger");
    const [first] = printed.stdout.split("\n");
    expect(first).toContain(made[1]?.record.closeHash);
    expect(first).toContain(made[1]?.record.ledgerId);
  });

  test("leaves no file of a bundle that does not match itself", async () => {
    const { out, written, printed } = await exported(forged, "csv");
    expect(written.code).toBe(3);
    expect(written.stderr).toContain("does not match itself: close balancesRoot is ");
    expect(existsSync(out)).toBe(false);
    expect(printed.code).toBe(3);
    const cut = file("cut.ndjson", texts[1].replace(/[^\n]*"kind":"trailer"[^\n]*\n$/, ""));
    expect((await exported(cut, "hledger")).written).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("there is no trailer") as string,
    });
    expect((await exported(file("junk", "junk\n"), "csv")).written.code).toBe(3);
    expect((await exported(join(folder, "none"), "csv")).written.code).toBe(1);
    expect((await exported(feb, "xml")).written.code).toBe(2);
  });

  test("says which amounts are in smallest units", async () => {
    const [points] = makeBundles(
      sales(1).map((sale) => ({ ...sale, currency: "POINTS" })),
      [monthClose(1, 1)],
    );
    const from = file("points.ndjson", points?.text ?? "");
    const told = "amounts of POINTS are in smallest units: a bundle has no rules of assets\n";
    const { written, printed } = await exported(from, "hledger");
    expect(written.stderr).toContain(told);
    expect([printed.stderr, (await exported(from, "csv")).printed.stderr]).toEqual([told, ""]);
    expect(printed.stdout).toContain("1000 POINTS @@ 10.00 USD");
  });

  test.runIf(hasHledger)("is read by hledger, which finds what moved", async () => {
    const { out } = await exported(feb, "hledger");
    hledger.check(out);
    expect(Object.fromEntries(hledger.balances(out))).toEqual({
      "Equity:X-untyped:1000\nUSD": "40.00",
      "Equity:X-untyped:4000\nUSD": "-40.00",
    });
    for (const each of [foreign, mar]) hledger.check((await exported(each, "hledger")).out);
  });

  test.runIf(hasBeancount)("is read by beancount, which finds what moved", async () => {
    const { out } = await exported(feb, "beancount");
    beancount.check(out);
    expect(beancount.balances(out).get("Equity:X-untyped:1000\nUSD")).toBe("40.00");
    for (const each of [foreign, mar]) beancount.check((await exported(each, "beancount")).out);
  });
});

describe("trial-balance --bundle", () => {
  test("is the trial balance that was closed, with its totals", async () => {
    const { code, stdout, stderr } = await runHere(["trial-balance", "--bundle", feb]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^from 2026-02-01T00:00:00.000Z up to 2026-03-01T00:00:00.000Z\n/);
    expect(inOrder(stdout)).toContain("4000  -10.00 USD  0.00 USD  -40.00 USD  -50.00 USD  2");
    expect(inOrder(stdout)).toContain("total  0.00 USD  40.00 USD  -40.00 USD  0.00 USD");
  });

  test("has the rows in accounts as JSON, and the amounts as CSV", async () => {
    const { stdout } = await runHere(["trial-balance", "--bundle", feb, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ ok: true, balanced: true, functionalCurrency: "USD", periodId: "2026-02" },
      accounts: made[1]?.lines.flatMap(({ account }) => (account === undefined ? [] : [account])),
      totals: { opening: "0", debits: "4000", credits: "-4000", closing: "0" },
    });
    const csv = await runHere(["trial-balance", "--bundle", feb, "--csv"]);
    expect(csv.stdout.split("\n")[1]).toBe("1000,,,USD,1000,4000,0,5000");
  });

  test("ends with 3 where the bundle does not match itself", async () => {
    const { code, stderr } = await runHere(["trial-balance", "--bundle", forged]);
    expect(code).toBe(3);
    expect(stderr).toContain("does not match itself:\nMISMATCH ");
  });

  test("goes with no period and no time", async () => {
    for (const other of [
      ["--period", "2026-02"],
      ["--as-of", "2026-02-01"],
    ]) {
      expect((await runHere(["trial-balance", "--bundle", feb, ...other])).code).toBe(2);
    }
  });
});

interface Diff {
  ok: boolean;
  a: CloseRecord & { source: string };
  b: CloseRecord & { source: string };
  accounts: { glAccountCode: string; a: object; b: object }[];
}

describe("period diff", () => {
  test("of two bundles has each figure that differs, and its change", async () => {
    const { code, stdout, stderr } = await runHere(["period", "diff", jan, feb]);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = inOrder(stdout);
    expect(lines).toContain(
      'a  "2026-01", from 2026-01-01T00:00:00.000Z up to 2026-02-01T00:00:00.000Z',
    );
    expect(lines.slice(lines.indexOf("ACCOUNT  FIGURE  A  B  CHANGE") + 1, -1)).toEqual([
      "1000  opening  0.00 USD  10.00 USD  10.00 USD",
      "1000  debits  10.00 USD  40.00 USD  30.00 USD",
      "1000  closing  10.00 USD  50.00 USD  40.00 USD",
      "1000  entries  1  2  1",
      "4000  opening  0.00 USD  -10.00 USD  -10.00 USD",
      "4000  credits  -10.00 USD  -40.00 USD  -30.00 USD",
      "4000  closing  -10.00 USD  -50.00 USD  -40.00 USD",
      "4000  entries  1  2  1",
    ]);
  });

  test("leaves out accounts that are alike, and takes the currency from the other side", async () => {
    expect((await runHere(["period", "diff", feb, feb])).stdout).toContain("no account differs");
    const { stdout } = await runHere(["period", "diff", feb, mar]);
    expect(inOrder(stdout)).toContain("1000  opening  10.00 USD  50.00 USD  40.00 USD");
    expect(stdout).not.toMatch(/1000 +closing/);
  });

  test("is one JSON document", async () => {
    const { stdout } = await runHere(["period", "diff", jan, feb, "--json"]);
    const { ok, a, b, accounts } = JSON.parse(stdout) as Diff;
    expect([ok, a.source, b.source]).toEqual([true, jan, feb]);
    expect(a.closeHash).toBe(made[0]?.record.closeHash);
    expect(accounts[0]).toEqual({
      glAccountCode: "1000",
      a: { opening: "0", debits: "1000", credits: "0", closing: "1000", entryCount: 1 },
      b: { opening: "1000", debits: "4000", credits: "0", closing: "5000", entryCount: 2 },
    });
  });

  test("finds what is other in a forged bundle, which is exit code 3", async () => {
    const { code, stdout, stderr } = await runHere(["period", "diff", feb, forged]);
    expect(code).toBe(3);
    expect(inOrder(stdout)).toContain("1000  debits  40.00 USD  40.01 USD  0.01 USD");
    expect(stderr).toContain(`MISMATCH     ${forged}: `);
  });

  test("says where the two are of different ledgers", async () => {
    const [other] = makeBundles(
      sales(1),
      [monthClose(1, 1)],
      "0190b6a0-0009-7000-8000-000000000009",
    );
    const elsewhere = file("other.ndjson", other?.text ?? "");
    const { stdout } = await runHere(["period", "diff", jan, elsewhere]);
    expect(stdout).toContain("OF DIFFERENT LEDGERS: ");
  });

  test("takes a name for a bundle where it ends like one, and stdin once", async () => {
    expect((await runHere(["period", "diff", jan, join(folder, "none.ndjson")])).code).toBe(1);
    expect((await runHere(["period", "diff", "-", "-"])).code).toBe(2);
  });
});
