// A bank's CSV and rules about it: hledger, where it is installed, makes the same of them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { readBankAmount } from "../../../src/cli/input/bank-files/bank-amounts.ts";
import { readBankFile, type BankFile } from "../../../src/cli/input/bank-files/bank-entries.ts";
import { parseBankRules } from "../../../src/cli/input/bank-files/rules.ts";
import { python } from "../../support/python.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-bank-"));
const eur = { code: "EUR", exponent: 2 };
const accounts = [
  ...["1", "2", "5", "6", "7", "9", "a", "x", "y"],
  ...["1000", "1010", "4000", "4100", "6000", "6500", "9999"],
];

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function read(csv: string, rules: string, currency = eur): Promise<BankFile> {
  const chunks = Readable.from([Buffer.from(csv)]) as AsyncIterable<Buffer>;
  return readBankFile(chunks, parseBankRules("bank.rules", rules), currency, accounts);
}

const statement = [
  "Kontoauszug;DE00 1234;;;",
  "Buchung;Wer;Zweck;Betrag;Saldo",
  '02.01.2026;"Vermieter ""Haus"" GmbH";Miete Januar;-1.250,00;8.750,00',
  "03.01.2026;Kunde A;Rechnung 17;2.380,00;11.130,00",
  "03.01.2026;Kaffee;Karte 4;-3,50;11.126,50",
  "03.01.2026;Kaffee;Karte 4;-3,50;11.126,50",
  "04.01.2026;Bank;Vormerkung;-1,00;",
  "05.01.2026;Bank;Entgelt;-9,9;11.116,60",
  "",
].join("\r\n");

const statementRules = `
# What the bank of the household writes.
skip 2
separator ;
decimal-mark ,
date-format %d.%m.%Y
fields date, who, purpose, amount, balance_after
description %who | %purpose
account1 1000
account2 9999
currency EUR

if Vormerkung
  skip

if
miete
%who ^kunde
  account2 4000

if %who kunde
& %purpose rechnung
  account2 4100
  comment invoice %3

if %purpose entgelt
  account2 6000
`;

describe("a bank's file", () => {
  it("takes a code of the ledger's own as it is written", async () => {
    const rules = "fields date,amount\naccount1 1000\naccount2 4000\n";
    const points = { code: "points", exponent: 0 };
    const file = await read("2026-01-02,5 points\n2026-01-02,5 Points\n", rules, points);
    expect(file.entries.map(({ amount }) => amount)).toEqual([5n]);
    expect(file.faults).toEqual([expect.stringContaining("its amount is in Points")]);
  });

  it("becomes entries of two lines by the rules", async () => {
    const { entries, faults } = await read(statement, statementRules);
    expect(faults).toEqual([]);
    expect(entries.map(({ externalId: _, ...entry }) => entry)).toEqual([
      {
        line: 3,
        date: "2026-01-02",
        description: 'Vermieter "Haus" GmbH | Miete Januar',
        account1: "1000",
        account2: "4000",
        amount: -125000n,
        transaction: null,
        metadata: {},
      },
      {
        line: 4,
        date: "2026-01-03",
        description: "Kunde A | Rechnung 17",
        account1: "1000",
        account2: "4100",
        amount: 238000n,
        transaction: null,
        metadata: { comment: "invoice Rechnung 17" },
      },
      ...[5, 6].map((line) => ({
        line,
        date: "2026-01-03",
        description: "Kaffee | Karte 4",
        account1: "1000",
        account2: "9999",
        amount: -350n,
        transaction: null,
        metadata: {},
      })),
      {
        line: 8,
        date: "2026-01-05",
        description: "Bank | Entgelt",
        account1: "1000",
        account2: "6000",
        amount: -990n,
        transaction: null,
        metadata: {},
      },
    ]);
  });

  it("gives each row an id of its account, its content and how many like it came before", async () => {
    const idsOf = async (csv: string, rules = statementRules) =>
      (await read(csv, rules)).entries.map(({ externalId }) => externalId);
    const ids = await idsOf(statement);
    expect(new Set(ids).size).toBe(5);
    expect(ids[3]).toBe(ids[2]?.replace(/-0$/, "-1"));
    expect(await idsOf(statement.replaceAll("\r\n", "\n"))).toEqual(ids);
    // A later file, with the same rows and more of them.
    const longer = statement.replace(
      "05.01.2026;Bank;Entgelt",
      "04.01.2026;X;Y;1,00;\r\n05.01.2026;Bank;Entgelt",
    );
    expect(await idsOf(longer)).toEqual([...ids.slice(0, 4), expect.any(String), ids[4]]);
    const otherBank = await idsOf(
      statement,
      statementRules.replace("account1 1000", "account1 1010"),
    );
    expect(otherBank.filter((id) => ids.includes(id))).toEqual([]);
    const otherRule = await idsOf(
      statement,
      statementRules.replace("account2 9999", "account2 6500"),
    );
    expect(otherRule).toEqual(ids);
  });

  it("has rows in other currencies at the rate that rules or a column give", async () => {
    const rules =
      "separator ;\ndecimal-mark ,\nfields date,amount,currency,rate\naccount1 1\naccount2 2\nif JPY\n  rate 0.0061\n";
    const csv =
      "2026-01-02;-1.000,05;USD;0,855\n2026-01-02;1000;jpy;\n2026-01-02;5,00;EUR;1,0\n2026-01-02;5,00;;\n";
    const { entries, faults } = await read(csv, rules);
    expect(faults).toEqual([]);
    expect(entries.map(({ amount, transaction }) => [amount, transaction?.amount])).toEqual([
      // 855.04275, rounded once.
      [-85504n, -100005n],
      [610n, 1000n],
      [500n, undefined],
      [500n, undefined],
    ]);
    const [first, second] = entries.map(({ transaction }) => transaction);
    expect([first?.currency, first?.rate.text]).toEqual(["USD", "0.855"]);
    expect([second?.currency, second?.rate.text]).toEqual(["JPY", "0.0061"]);
  });

  it("ends where a rule says so, and may begin with a byte order mark", async () => {
    const rules = "fields date,description,amount\naccount1 1\naccount2 2\nif ^total\n end\n";
    const csv = "\ufeff2026-01-02,a,1.00\nTotal,,1.00\n2026-01-03,b,1.00\n";
    const { entries, faults } = await read(csv, rules);
    expect([entries.length, entries[0]?.date, faults]).toEqual([1, "2026-01-02", []]);
  });
});

describe("a row that can't be read", () => {
  const rules =
    "fields date,description,amount,currency\naccount1 1\naccount2 2\nif nobody\n  account2\n";
  const rules2 = "fields date,amount-in,amount-out\ndescription x\naccount1 1\naccount2 2\n";

  it.each([
    [
      "2026-02-30,a,1.00,",
      rules,
      /^line 1: date "2026-02-30": 2026-02 has the days 01 to 28 \(bank\.rules, line 1\)$/,
    ],
    [
      "30.02.2026,a,1.00,",
      rules,
      /^line 1: date "30\.02\.2026": has another form than date-format says/,
    ],
    [",a,1.00,", rules, /^line 1: its date is empty \(bank\.rules, line 1\)$/],
    ["2026-01-02,a,ten,", rules, /^line 1: amount "ten" is no amount/],
    ["2026-01-02,a,1.005,", rules, /can be read in two ways; say decimal-mark/],
    ["2026-01-02,a,0.005,", rules, /has 3 decimals, but its currency has only 2/],
    ["2026-01-02,a,0.00,", rules, /its amount is zero: skip such rows/],
    ["2026-01-02,a,,", rules, /it has no amount/],
    [
      "2026-01-02,a,1.00,USD",
      rules,
      /its amount is in USD, and the ledger in EUR: set its currency and its rate.* \(bank\.rules, line 1\)$/,
    ],
    ["2026-01-02,a,$1.00,", rules, /its amount is in \$, and the ledger in EUR/],
    ["2026-01-02,a,1.00,POINTS", `${rules}rate 1\n`, /currency "POINTS" is none of ISO 4217/],
    ["2026-01-02,a,1.00,USD", `${rules}rate -1\n`, /^line 1: rate "-1" is no exact .* line 6\)$/],
    ["2026-01-02,a,0.01,USD", `${rules}rate 0.1\n`, /^line 1: it comes to 0 EUR: skip/],
    ["2026-01-02,a,€1.00,USD", `${rules}rate 0.9\n`, /its amount is in €, and the ledger in EUR/],
    ["2026-01-02,nobody,1.00,", rules, /its account2 is empty \(bank\.rules, line 5\)/],
    ["2026-01-02,1.00,2.00", rules2, /it has an amount-in and an amount-out/],
    ["2026-01-02,0.00,0.00", rules2, /its amount is zero/],
    [
      "2026-01-02;a;1.00",
      rules,
      /^line 1: it has one column, where fields names 4: is "," the sep/,
    ],
    ['2026-01-02,"a,1.00,', rules, /^line 1: a quote is opened and never closed$/],
    ["2026-01-02,a\u00e4", rules, /it has no amount/],
  ])("%j is named with its line and its rule", async (row, with_, says) => {
    const { faults } = await read(`${row}\n`, with_);
    expect(faults).toEqual([expect.stringMatching(says)]);
  });

  it("does not keep the others from being read", async () => {
    const { entries, faults } = await read("x,a,1.00,\n2026-01-02,b,1.00,\ny,c,1.00,\n", rules);
    expect([entries.length, faults.length]).toEqual([1, 2]);
  });
});

describe("rules that can't be read", () => {
  it.each([
    ["skipp 1", /^bank\.rules, line 1: "skipp" is no rule; the rules are skip, separator,/],
    ["skip x", /line 1: skip must be followed by a number/],
    ["separator ;;", /line 1: separator must be one character/],
    ["decimal-mark :", /decimal-mark must be \. or ,/],
    ["date-format %d.%m", /date-format needs a year/],
    ["date-format %d.%Q.%Y", /date-format: %Q is not known/],
    ["date-format %d.%m.%d.%Y", /date-format has a part twice/],
    ["fields date,amount\nbalance %3", /line 2: "balance" is not set here/],
    ["fields date,amount2", /amount2: an entry has the two lines of account1 and account2/],
    ["account3 x", /account3: an entry has the two lines/],
    ["description %nosuch", /%nosuch is no column that fields names/],
    ["description %0", /columns are counted from %1/],
    ["if\n  account1 x", /line 1: if has no pattern/],
    ["if x\naccount1 y", /line 1: nothing is indented below this if/],
    ["if (x\n  skip", /"\(x" is no regular expression/],
    ["if [[:digit:]]\n  skip", /classes such as \[\[:digit:\]\] are not read/],
    ["if,account2\nx,y", /tables of if are not read/],
    ["if %nosuch x\n  skip", /%nosuch is no column/],
    ["& x", /"&" is no rule/],
    ["  account1 x", /"account1 x" belongs to no if/],
  ])("%j", (rules, says) => {
    expect(() => parseBankRules("bank.rules", rules)).toThrow(says);
  });
});

describe("an amount", () => {
  const cases: readonly (readonly [text: string, mark: "." | "," | null, amount: bigint | null])[] =
    [
      ["1234.5", null, 123450n],
      ["-1,234.56", null, -123456n],
      ["1.234,56-", null, -123456n],
      ["(12.00)", null, -1200n],
      ["+12", null, 1200n],
      ["EUR 12.00", null, 1200n],
      ["-€12,00", null, -1200n],
      ["€-12,00", null, -1200n],
      ["12.00 EUR", null, 1200n],
      ["1 234,50", null, 123450n],
      ["1'234.50", null, 123450n],
      ["1,234,567", null, 123456700n],
      ["1.234", ",", 123400n],
      ["1,2345", ".", null],
      ["1,234", null, null],
      ["0,123", null, null],
      [".50", null, 50n],
      ["1.2300000", null, 123n],
      ["--1", null, null],
      ["-1-", null, null],
      ["1.2.3,4", null, null],
      ["12.34,56", null, null],
      ["1e3", null, null],
      ["", null, null],
      ["9".repeat(30), null, 10n ** 32n - 100n],
    ];

  it.each(cases)("%j with the mark %s", (text, mark, amount) => {
    expect(readBankAmount(text, mark, 2).value?.amount ?? null).toBe(amount);
  });

  it("is read as it was written, whatever groups its digits", () => {
    const marks = fc.constantFrom([".", ","] as const, [",", "."] as const);
    const cents = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
    fc.assert(
      fc.property(cents, marks, fc.boolean(), (amount, [mark, grouping], isGrouped) => {
        const digits = (amount < 0n ? -amount : amount).toString().padStart(3, "0");
        const whole = digits.slice(0, -2);
        const shown = isGrouped ? whole.replace(/\B(?=(?:\d{3})+$)/g, grouping) : whole;
        const text = `${amount < 0n ? "-" : ""}${shown}${mark}${digits.slice(-2)}`;
        expect(readBankAmount(text, mark, 2).value?.amount).toBe(amount);
        expect(readBankAmount(text, null, 2).value?.amount).toBe(amount);
      }),
    );
  });
});

const hasHledger = spawnSync("hledger", ["--version"]).status === 0;
if (!hasHledger) console.info("bank files are not compared with hledger: there is none");

/** What hledger makes of them: date, description, and account and amount of the first posting, and the second's account. */
function byHledger(csv: string, rules: string): string[][] {
  const file = join(folder, "bank.csv");
  const rulesFile = join(folder, "bank.rules");
  writeFileSync(file, csv);
  writeFileSync(rulesFile, rules);
  const args = ["-f", file, "--rules-file", rulesFile, "print", "-O", "csv"];
  const { stdout, stderr, status } = spawnSync("hledger", args, {
    env: { ...process.env, LANG: "C.UTF-8" },
  });
  if (status !== 0) throw new Error(stderr.toString());
  const script =
    "import csv,json,sys,io; print(json.dumps(list(csv.reader(io.StringIO(sys.stdin.buffer.read().decode())))))";
  const { stdout: parsed } = spawnSync(python, ["-ISc", script], { input: stdout });
  const [header = [], ...rows] = JSON.parse(parsed.toString()) as string[][];
  const postings = rows.map((row) =>
    Object.fromEntries(header.map((name, index) => [name, row[index] ?? ""])),
  );
  const transactions = new Map<string, typeof postings>();
  for (const posting of postings) {
    const number = posting["txnidx"] ?? "";
    transactions.set(number, [...(transactions.get(number) ?? []), posting]);
  }
  return [...transactions.values()].map(([first = {}, second = {}]) => [
    ...[first["date"] ?? "", first["description"] ?? "", first["account"] ?? ""],
    ...[Number(first["amount"]?.replace(",", ".")).toFixed(2), second["account"] ?? ""],
  ]);
}

function ours({ entries }: BankFile): string[][] {
  const sorted = [...entries].sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  return sorted.map(({ date, description, account1, account2, amount }) => [
    ...[date, description, account1, (Number(amount) / 100).toFixed(2), account2],
  ]);
}

describe.skipIf(!hasHledger)("hledger makes the same", () => {
  it("of the statement", async () => {
    expect(ours(await read(statement, statementRules))).toEqual(
      byHledger(statement, statementRules),
    );
  });

  const table = [
    "date,payee,in,out,note",
    '2026/3/1,"Smith, Jones",1234.50,,a "b"'.replace('a "b"', '"a ""b"""'),
    "2026/3/2,Rent,,800.00,FLAT",
    "2026/3/3,Interest,0.42,0,",
    "2026/12/31,Rent,,0.10,flat 2",
  ].join("\n");

  it.each([
    ["skip\nfields date,description,amount-in,amount-out,note\naccount1 1000\naccount2 9\n"],
    [
      "skip 1\nfields date,payee,amount-in,amount-out,note\ndescription %payee (%5)\naccount1 1000\naccount2 %payee\n",
    ],
    [
      "skip\nfields date,description,amount-in,amount-out,note\naccount1 1000\naccount2 9\n" +
        "if rent\n  account2 5\nif %note flat\n  account2 6\nif\n^2026/12\nJones\n  account2 7\n",
    ],
    [
      "account2 9\nskip\nif %note flat\n& %description rent\n  description flat: %description\n  account1 1010\n" +
        "fields date,description,amount-in,amount-out,note\naccount1 1000\nif ^2026/3/3\n  skip\n",
    ],
  ])("of %j", async (rules) => {
    expect(ours(await read(`${table}\n`, rules))).toEqual(byHledger(`${table}\n`, rules));
  });

  it.each([
    ["%d.%m.%Y", "05.03.2026"],
    ["%-m/%-d/%Y", "3/5/2026"],
    ["%m/%d/%y", "03/05/26"],
    ["%d %b %Y", "05 Mar 2026"],
    ["%d %B %Y", "05 march 2026"],
    ["%Y%m%d", "20260305"],
    ["%Y-%m-%d %H:%M:%S", "2026-03-05 10:20:30"],
  ])("of dates in %s", async (format, date) => {
    const rules = `date-format ${format}\nfields date,description,amount\naccount1 1\naccount2 2\n`;
    const csv = `${date},x,1.00\n`;
    expect(ours(await read(csv, rules))).toEqual(byHledger(csv, rules));
    expect((await read(csv, rules)).entries[0]?.date).toBe("2026-03-05");
  });
});
