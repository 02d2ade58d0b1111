// Registers, statements, balances of a day and searches: to the cent as hledger has them of our own export.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Account, AccountBalance, Entry, Statement } from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli } from "../support/cli.ts";
import {
  cents,
  expectBalancesOfHledger,
  expectRegistersOfHledger,
  expectStatementsOfHledger,
  exportBooks,
  type Books,
} from "../support/hledger-reports.ts";
import { hasHledger } from "../support/other-books.ts";
import { runHere } from "../support/program.ts";
import { postReportBooks, reportChart } from "../support/report-books.ts";

const household = process.env["LEDGERCTL_TEST_HOUSEHOLD_DIR"] ?? "";

const typeOfRoot: Readonly<Record<string, string>> = {
  Assets: "asset",
  Liabilities: "liability",
  Equity: "equity",
  Income: "income",
  Expenses: "expense",
};

let server: BinaryServer;
let seeded: string;

beforeAll(async () => {
  server = await startBinaryServer();
  seeded = await server.books.createLedger({ currency: "EUR", chart: reportChart });
  await postReportBooks(server.client, seeded, { seed: 17, count: 600 });
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const envOf = (ledgerId: string) => ({ ...server.env, LEDGERCTL_LEDGER: ledgerId });

async function done(ledgerId: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(args, envOf(ledgerId));
  expect(code, stderr).toBe(0);
  return stdout;
}

const json = async <Document>(ledgerId: string, ...args: string[]): Promise<Document> =>
  JSON.parse(await done(ledgerId, ...args, "--json")) as Document;

async function booksOf(ledgerId: string, from: string, to: string): Promise<Books> {
  const { client, env, home } = server;
  return exportBooks({ client, env, folder: home }, ledgerId, [from, to]);
}

describe.runIf(hasHledger)("hledger has the same figures", () => {
  it("of seeded books in four currencies", async () => {
    const books = await booksOf(seeded, "2025-03-01", "2026-02-01");
    await expectRegistersOfHledger(books);
    await expectBalancesOfHledger(books);
    await expectStatementsOfHledger(books, "month");
    const quarters = await booksOf(seeded, "2025-04-01", "2026-04-01");
    await expectStatementsOfHledger(quarters, "quarter");
    const years = await booksOf(seeded, "2025-01-01", "2027-01-01");
    await expectStatementsOfHledger(years, "year");
  });
});

describe.runIf(hasHledger && household !== "")(
  "the household's books have hledger's figures",
  () => {
    it("in every account, month by month", async () => {
      // The chart has no types; the codes begin with them.
      const chart = join(server.home, "household.csv");
      const [header, ...rows] = readFileSync(join(household, "chart.csv"), "utf8")
        .trim()
        .split("\n");
      const typed = rows.map((row) => `${row},${typeOfRoot[row.split(":")[0] ?? ""] ?? ""}`);
      writeFileSync(chart, [`${header},type`, ...typed, ""].join("\n"));
      const org = server.organizationId;
      const create = ["ledger", "create", "House", "--org", org, "--currency", "USD"];
      const ledgerId = (await done(seeded, ...create, "--chart", chart, "--quiet")).trim();
      const file = join(household, "entries.ndjson");
      const posted = await runCli(["entry", "post", file, "--quiet"], { env: envOf(ledgerId) });
      expect(posted.code, posted.stderr).toBe(0);
      const [first] = (await server.client.listEntries(ledgerId, { order: "date", limit: 1 }))
        .entries;
      const year = Number(first?.transactionDate.slice(0, 4));
      const books = await booksOf(ledgerId, `${year}-04-01`, `${year + 2}-01-01`);
      await expectRegistersOfHledger(books);
      await expectBalancesOfHledger(books);
      await expectStatementsOfHledger(books, "month");
      await expectStatementsOfHledger(books, "quarter");
      const years = await booksOf(ledgerId, `${year}-01-01`, `${year + 3}-01-01`);
      await expectStatementsOfHledger(years, "year");
    }, 240_000);
  },
);

describe("register", () => {
  it("shows the running balance from the opening to the closing", async () => {
    const shown = await done(seeded, "register", "1000", "--period", "2025-03", "--limit", "0");
    expect(shown).toMatch(
      /^1000 {2}Cash, asset\n\nDATE +SEQ +DESCRIPTION .*AMOUNT +BALANCE +ID\n +opening +-?\d+\.\d\d EUR\n/,
    );
    expect(shown).toMatch(/\n +closing +-?\d+\.\d\d EUR\n$/);
    const all = await done(seeded, "register", "1000", "--limit", "0");
    expect(all).toMatch(/\[reversal\] reverses [0-9a-f-]{36}/);
  });

  it("of one currency is in that currency, and as CSV in smallest units", async () => {
    const csv = await done(seeded, "register", "1000", "--currency", "JPY", "--csv");
    const [header, ...rows] = csv.trimEnd().split("\n");
    expect(header).toBe(
      "journalId,sequence,transactionDate,entryType,description,amount,balance,currency,transactionAmount," +
        "transactionCurrency,counterAccounts,externalId,reversesJournalId,reversedByJournalId",
    );
    const { balance } = await json<AccountBalance>(seeded, "balance", "1000", "--currency", "JPY");
    expect(rows.at(-1)).toContain(`,${balance},JPY,`);
    const run = (...args: string[]) => runHere(["register", "1000", ...args], envOf(seeded));
    const before = await run("--currency", "JPY", "--to", "2000-01-01");
    expect(before.stderr).toBe("account 1000 has no lines in JPY in this range\n");
  });

  it("says what is wrong with an account, a range or a period", async () => {
    const run = (...args: string[]) => runHere(["register", ...args], envOf(seeded));
    const typo = await run("100");
    expect([typo.code, typo.stderr]).toEqual([5, expect.stringMatching(/Did you mean 1000/)]);
    expect((await run("1000", "--from", "2026-02-01", "--to", "2026-01-01")).code).toBe(2);
    expect((await run("1000", "--from", "2026-02-01", "--period", "2026-01")).code).toBe(2);
    expect((await run("1000", "--period", "2026-13")).code).toBe(2);
    const lower = await run("1000", "--currency", "usd");
    expect([lower.code, lower.stderr]).toEqual([
      0,
      "account 1000 has no lines in usd; did you mean USD?\n",
    ]);
  });
});

describe("statements", () => {
  it("have a column for each step, as tables and as CSV", async () => {
    const range = ["--from", "2025-01-01", "--to", "2025-07-01", "--by", "quarter"];
    const table = await done(seeded, "is", ...range);
    expect(table).toMatch(
      /^ACCOUNT +NAME +2025-Q1 +2025-Q2\nINCOME\n {2}4000 +Sales +-?[\d.]+ EUR +-?[\d.]+ EUR\n/,
    );
    expect(table).toMatch(/\nRESULT +-?[\d.]+ EUR +-?[\d.]+ EUR\n$/);
    const csv = await done(seeded, "bs", ...range, "--csv");
    expect(csv).toMatch(
      /^type,glAccountCode,name,to 2025-03-31,to 2025-06-30\nasset,1000,Cash,-?\d+,-?\d+\n/,
    );
    expect(csv).toMatch(/\nresult,,,-?\d+,-?\d+\n$/);
  });

  it("to the end of a day have the day, and both names of a command are one", async () => {
    const long = await done(seeded, "balance-sheet", "--as-of", "2025-06-30", "--json");
    expect((JSON.parse(long) as Statement).columns).toEqual([
      { from: null, to: "2025-07-01T00:00:00.000Z" },
    ]);
    expect(await done(seeded, "bs", "--as-of", "2025-06-30", "--json")).toBe(long);
    const both = ["is", "--as-of", "2025-06-30", "--period", "2025"];
    expect((await runHere(both, envOf(seeded))).code).toBe(2);
    expect((await runHere(["is", "--by", "week"], envOf(seeded))).code).toBe(2);
  });

  it("name accounts without a type, without which the rest does not balance", async () => {
    const untyped: Account = { glAccountCode: "9", name: "Nine", type: null, active: true };
    const chart = [...reportChart, untyped];
    const ledgerId = await server.books.createLedger({ currency: "EUR", chart });
    const lines = [
      { glAccountCode: "1000", functionalAmount: "5" },
      { glAccountCode: "9", functionalAmount: "-5" },
    ];
    await server.client.postEntry(ledgerId, { lines, transactionDate: "2026-01-05T00:00:00Z" });
    for (const [statement, shown] of [
      [["bs"], "-0.05"],
      [["is", "--period", "2026-01"], "-0.05"],
      // What it moved before the month is missing all the same.
      [["is", "--period", "2026-02"], "0.00"],
    ] as const) {
      const { code, stdout, stderr } = await runHere([...statement], envOf(ledgerId));
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(new RegExp(`\nWITHOUT A TYPE\n {2}9 +Nine +${shown} EUR\n`));
      expect(stderr).toContain("ATTENTION: accounts without a type are apart");
    }
  });
});

describe("entry list", () => {
  const sequences = async (...args: string[]) =>
    documents<Entry>(await done(seeded, "entry", "list", ...args, "--json")).map(
      ({ sequence }) => sequence,
    );

  it("by date and backwards has every entry once", async () => {
    const all = documents<Entry>(await done(seeded, "entry", "list", "--json"));
    const byDate = [...all].sort((a, b) =>
      a.transactionDate === b.transactionDate
        ? a.sequence - b.sequence
        : a.transactionDate < b.transactionDate
          ? -1
          : 1,
    );
    const expected = byDate.map(({ sequence }) => sequence);
    expect(await sequences("--sort", "date")).toEqual(expected);
    expect((await sequences("--sort", "date", "--desc")).length).toBe(all.length);
    expect(await sequences("--desc")).toEqual(all.map(({ sequence }) => sequence).reverse());
    expect(await sequences("--desc", "--after", "5")).toEqual([4, 3, 2, 1]);
  });

  it("searches texts, amounts and types", async () => {
    expect(await sequences("--text", "ENTRY 17")).toContain(18);
    const all = documents<Entry>(await done(seeded, "entry", "list", "--json"));
    const amount = all[3]?.lines[0]?.functionalAmount.replace("-", "") ?? "";
    expect(await sequences("--amount", amount)).toContain(4);
    const major = `${amount.slice(0, -2)}.${amount.slice(-2)}`;
    expect(await sequences("--min", major, "--max", major, "--major")).toContain(4);
    const closing = all.filter(({ entryType }) => entryType === "CLOSING");
    expect(await sequences("--type", "closing")).toEqual(closing.map(({ sequence }) => sequence));
  });

  it("of an account shows what it changes there, and which entry a reversal reverses", async () => {
    const [reversal] = documents<Entry>(
      await done(seeded, "entry", "list", "--type", "REVERSAL", "--limit", "1", "--json"),
    );
    const line = reversal?.lines[0];
    const account = line?.glAccountCode ?? "";
    const table = await done(seeded, "entry", "list", "--account", account, "--limit", "0");
    const row = table.split("\n").find((text) => text.includes(reversal?.journalId ?? "")) ?? "";
    expect(row).toContain(`reverses ${reversal?.reversesJournalId}`);
    const own = reversal?.lines.filter(({ glAccountCode }) => glAccountCode === account) ?? [];
    const sum = own.reduce((total, { functionalAmount }) => total + BigInt(functionalAmount), 0n);
    expect(cents(/ (-?\d+\.\d\d) EUR/.exec(row)?.[1] ?? "")).toBe(sum);
  });

  it.each([
    [["--amount", "1", "--min", "2"], "excludes"],
    [["--amount", "1.50"], "--major"],
    [["--amount", "1.505", "--major"], "3 decimals"],
    [["--amount", "-0.00", "--major"], "no line has the amount 0"],
    [["--min", "5", "--max", "3"], "--max must not be smaller than --min"],
    [["--type", "OTHER"], "--type must be one of"],
    [["--sort", "amount"], "--sort must be one of"],
    [["--sort", "date", "--after", "3"], "--after"],
  ])("refuses %j", async (args, says) => {
    const { code, stderr } = await runHere(["entry", "list", ...args], envOf(seeded));
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
