// Registers, statements, balances of a day and searches: to the cent as hledger has them of our own export.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountName } from "../../src/cli/commands/export/journal-names.ts";
import type {
  Account,
  AccountBalance,
  Entry,
  RegisterLine,
  Statement,
} from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli } from "../support/cli.ts";
import { hasHledger, hledgerReport } from "../support/other-books.ts";
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
}, 60_000);

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

/** `-1.5 EUR`, as hledger prints it, in cents of a currency with two decimals. */
function cents(text: string): bigint {
  const [, sign = "", whole = "0", decimals = ""] = /^(-?)([0-9]+)(?:\.([0-9]+))?/.exec(text) ?? [];
  const size = BigInt(whole + decimals.padEnd(2, "0"));
  return sign === "-" ? -size : size;
}

interface Books {
  readonly ledgerId: string;
  readonly file: string;
  readonly accounts: readonly Account[];
  /** Half-open, of months. */
  readonly from: string;
  readonly to: string;
}

async function booksOf(ledgerId: string, from: string, to: string): Promise<Books> {
  const file = join(server.home, `${ledgerId}.journal`);
  if (!existsSync(file)) await done(ledgerId, "export", "--format", "hledger", "--out", file);
  return { ledgerId, file, accounts: await server.client.listAccounts(ledgerId), from, to };
}

const nameOf = ({ glAccountCode, type }: Account) => accountName(glAccountCode, type);

interface Change {
  readonly day: string;
  readonly sequence: number;
  readonly change: bigint;
  /** After the entry. */
  readonly balance: bigint;
}

/**
 * Day by day what entries change, and the balance at its end: hledger knows no times of a day, and leaves out what comes
 * to nothing.
 */
function byDay(changes: readonly Change[]): Record<string, unknown> {
  const days = new Map<string, { balance: bigint; entries: [number, bigint][] }>();
  for (const { day, sequence, change, balance } of changes) {
    const before = days.get(day)?.entries ?? [];
    days.set(day, { balance, entries: [...before, [sequence, change]] });
  }
  const told = [...days].flatMap(([day, { balance, entries }]) => {
    const some = entries.filter(([, change]) => change !== 0n).sort(([x], [y]) => x - y);
    return some.length === 0 ? [] : [[day, { balance, entries: some }] as const];
  });
  return Object.fromEntries(told);
}

/** Of `register --json`, whose lines are summed by entry. */
async function registerOf({ ledgerId, from, to }: Books, code: string): Promise<Change[]> {
  const printed = await done(ledgerId, "register", code, "--from", from, "--to", to, "--json");
  const [first, ...rest] = documents<object>(printed);
  const last = rest.pop();
  expect([Object.keys(first ?? {}), Object.keys(last ?? {})]).toEqual([["opening"], ["closing"]]);
  let balance = BigInt((first as { opening: string }).opening);
  const changes = new Map<number, Change>();
  for (const line of rest as RegisterLine[]) {
    const { sequence, transactionDate } = line;
    balance += BigInt(line.amount);
    expect(line.balance).toBe(String(balance));
    const change = (changes.get(sequence)?.change ?? 0n) + BigInt(line.amount);
    changes.set(sequence, { day: transactionDate.slice(0, 10), sequence, change, balance });
  }
  expect((last as { closing: string }).closing).toBe(String(balance));
  return [...changes.values()];
}

function hledgerRegister({ file, from, to }: Books, account: Account): Change[] {
  const exact = `^${nameOf(account)}$`;
  const rows = hledgerReport(file, "areg", exact, "-b", from, "-e", to);
  return rows.map(([, day = "", sequence, ...cells]) => {
    const [change = "", balance = ""] = cells.slice(-2);
    return { day, sequence: Number(sequence), change: cents(change), balance: cents(balance) };
  });
}

/** By account: what each column has, without accounts that have nothing in any. */
function amountsOf({ groups }: Statement, accounts: readonly Account[]): Record<string, bigint[]> {
  const byCode = new Map(accounts.map((account) => [account.glAccountCode, account]));
  const rows = groups.flatMap(({ accounts: ofGroup }) =>
    ofGroup.map(({ glAccountCode, amounts }) => {
      const account = byCode.get(glAccountCode);
      if (account === undefined) throw new Error(`${glAccountCode} is in the chart`);
      return [nameOf(account), amounts.map(BigInt)] as const;
    }),
  );
  return Object.fromEntries(
    rows
      .filter(([, row]) => row.some((amount) => amount !== 0n))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The rows of hledger's report that are of accounts. Debits are positive in `balance`, whatever the account. */
function hledgerAmounts(file: string, ...args: string[]): Record<string, bigint[]> {
  const rows = hledgerReport(file, "balance", "--flat", "--no-total", ...args).map(
    ([name = "", ...cells]) => [name, cells.map(cents)] as const,
  );
  return Object.fromEntries(
    rows
      .filter(([, row]) => row.some((amount) => amount !== 0n))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

async function expectReportsOfHledger(books: Books): Promise<void> {
  const { ledgerId, file, accounts, from, to } = books;
  // hledger's register of an account has those below it in it: such an account is compared in statements alone.
  const names = accounts.map(nameOf);
  const lowest = accounts.filter(
    (account) => !names.some((name) => name.startsWith(`${nameOf(account)}:`)),
  );
  expect(lowest.length).toBeGreaterThan(accounts.length / 2);
  for (const account of lowest) {
    const ours = byDay(await registerOf(books, account.glAccountCode));
    expect(ours, account.glAccountCode).toEqual(byDay(hledgerRegister(books, account)));
  }
  const range = ["-b", from, "-e", to, "--monthly"];
  const monthly = ["--from", from, "--to", to, "--by", "month"];
  const sheet = await json<Statement>(ledgerId, "bs", ...monthly);
  expect(sheet.balances).toBe(true);
  expect(amountsOf(sheet, accounts)).toEqual(
    hledgerAmounts(file, "--historical", ...range, "^(Assets|Liabilities|Equity)"),
  );
  const income = await json<Statement>(ledgerId, "is", ...monthly);
  expect(amountsOf(income, accounts)).toEqual(
    hledgerAmounts(file, ...range, "^(Income|Expenses)", "not:tag:entryType=CLOSING"),
  );
  const end = hledgerAmounts(file, "--historical", "-e", to);
  const lastDay = new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
  for (const account of accounts) {
    const shown = await json<AccountBalance>(
      ...([ledgerId, "balance", account.glAccountCode, "--as-of", lastDay] as const),
    );
    expect(BigInt(String(shown.balance))).toBe(end[nameOf(account)]?.[0] ?? 0n);
  }
}

describe.runIf(hasHledger)("hledger has the same figures", () => {
  it("of seeded books in four currencies", async () => {
    await expectReportsOfHledger(await booksOf(seeded, "2025-03-01", "2026-02-01"));
  }, 120_000);
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
      await expectReportsOfHledger(await booksOf(ledgerId, `${year}-04-01`, `${year + 2}-01-01`));
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
  });

  it("says what is wrong with an account, a range or a period", async () => {
    const run = (...args: string[]) => runHere(["register", ...args], envOf(seeded));
    const typo = await run("100");
    expect([typo.code, typo.stderr]).toEqual([5, expect.stringMatching(/Did you mean 1000/)]);
    expect((await run("1000", "--from", "2026-02-01", "--to", "2026-01-01")).code).toBe(2);
    expect((await run("1000", "--from", "2026-02-01", "--period", "2026-01")).code).toBe(2);
    expect((await run("1000", "--period", "2026-13")).code).toBe(2);
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
    await server.client.postEntry(ledgerId, { lines });
    const shown = await runHere(["bs"], envOf(ledgerId));
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/\nWITHOUT A TYPE\n {2}9 +Nine +-0\.05 EUR\n/);
    expect(shown.stderr).toContain("ATTENTION: accounts without a type are apart");
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
    [["--type", "OTHER"], "--type must be one of"],
    [["--sort", "amount"], "--sort must be one of"],
    [["--sort", "date", "--after", "3"], "--after"],
  ])("refuses %j", async (args, says) => {
    const { code, stderr } = await runHere(["entry", "list", ...args], envOf(seeded));
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
