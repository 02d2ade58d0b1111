// `export`: other programs accept the books and come to the same balances, and `entry post` posts them elsewhere.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountName, commodityName } from "../../src/cli/commands/export/journal-names.ts";
import { entryPages } from "../../src/cli/commands/export/entry-pages.ts";
import { LedgerClient, type Account, type Entry } from "../../src/client/ledger-client.ts";
import { currencyExponent } from "../../src/core/currencies.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import {
  beancount,
  hasBeancount,
  hasHledger,
  hledger,
  type PrintedBalances,
} from "../support/other-books.ts";

/** Texts that mean something to the programs that read them, or can't stand in their files as they are. */
const texts = [
  "plain",
  'says "hello"',
  "semi;colon ; comment",
  "two\nlines",
  "carriage\r\nreturn",
  "tab\there",
  "* starred",
  "! pending",
  "(code) in front",
  "due date:2020-13-45, type:x",
  "[2020-13-45]",
  "back\\slash \\n",
  "= = | @ @@ {1 USD} #tag ^link",
  "  blanks  around  ",
  "Grüße, 大阪 😀 \u202eRTL\u2028 next\u0085line",
  "\u0001\u001b[31m\u007f",
  "\n".repeat(200),
  "=1+1",
  "é".repeat(1024),
];

const codes = [
  ...[
    "1000",
    "petty cash",
    "x:y",
    "X1",
    "Über:kasse",
    "大阪",
    "-1",
    "a--b",
    "tab\there",
    "new\nline",
  ],
  ...[
    'quote"s',
    "semi;colon",
    "(paren)",
    "[b]",
    "::",
    "é",
    "😀 cash",
    "A:",
    "A",
    "a, b",
    "x".repeat(256),
  ],
];

const currencies = [
  ...["EUR", "JPY", "USD", "points", "A", "a-b_c", "日本", "POINTS-3F2A9C01AB", '"q"', "new\nline"],
  "x".repeat(256),
];

const types = ["asset", "liability", "equity", "income", "expense", ""];

let server: BinaryServer;
/** Ledgers: of a business, and of everything that is hard to write. */
let business: Readonly<Record<string, string>>;
let hard: Readonly<Record<string, string>>;

const run = (env: Readonly<Record<string, string>>, ...args: string[]): Promise<CliResult> =>
  runCli(args, { env });

async function done(env: Readonly<Record<string, string>>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(env, ...args);
  expect(code, stderr).toBe(0);
  return stdout;
}

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

type Chart = readonly Pick<Account, "glAccountCode" | "name" | "type">[];

async function createLedger(
  currency: string,
  chart: Chart,
): Promise<Readonly<Record<string, string>>> {
  const rows = chart.map((row) => ({ ...row, active: true }));
  return {
    ...server.env,
    LEDGERCTL_LEDGER: await server.books.createLedger({ currency, chart: rows }),
  };
}

/** Reads with the key of an environment, as its commands do. */
async function read<Result>(
  env: Readonly<Record<string, string>>,
  act: (client: LedgerClient, ledgerId: string) => Promise<Result>,
): Promise<Result> {
  const { LEDGERCTL_API_KEY: apiKey = "", LEDGERCTL_API_SECRET: apiSecret = "" } = env;
  const client = new LedgerClient({ url: server.url, apiKey, apiSecret });
  try {
    return await act(client, env["LEDGERCTL_LEDGER"] ?? "");
  } finally {
    await client.close();
  }
}

/** An entry for each text, on accounts and in currencies in turn, with whatever can be said about it. */
function hardEntries(): object[] {
  const pick = (items: readonly string[], index: number) => items[index % items.length] ?? "";
  return texts.flatMap((text, index) => {
    const [debited, credited] = [pick(codes, index * 2), pick(codes, index * 2 + 1)];
    const currency = pick(currencies, index);
    const amount = String(1_000_000 + index * 7_777);
    const foreign = { transactionCurrency: currency, spotRate: 0.1 + index / 3 };
    return [
      {
        ...{
          externalId: `${index} ${text}`.slice(0, 200),
          description: text,
          metadata: { [text]: [text, { index }] },
        },
        ...{ originSystem: `o ${text}`.slice(0, 200), eventType: pick(["A", "B\nC"], index) },
        transactionDate: `20${10 + index}-03-15T10:00:00.123Z`,
        lines: [
          {
            glAccountCode: debited,
            functionalAmount: amount,
            transactionAmount: String(index + 1),
            ...foreign,
            description: text,
          },
          { glAccountCode: credited, functionalAmount: `-${amount}` },
        ],
      },
      {
        externalId: `reval-${index}`,
        lines: [
          { glAccountCode: debited, functionalAmount: "-3", transactionAmount: "0", ...foreign },
          { glAccountCode: credited, functionalAmount: "3" },
        ],
      },
    ];
  });
}

beforeAll(async () => {
  server = await startBinaryServer();
  const flags = ["--entries", "220", "--wallets", "6", "--writes", "60", "--json"];
  const seeded = JSON.parse(await done(server.env, "seed", ...flags)) as Record<string, string>;
  business = {
    ...server.env,
    LEDGERCTL_LEDGER: seeded["ledgerId"] ?? "",
    LEDGERCTL_API_KEY: seeded["apiKey"] ?? "",
    LEDGERCTL_API_SECRET: seeded["apiSecret"] ?? "",
  };
  const chart = codes.map((glAccountCode, index) => ({
    glAccountCode,
    name: (texts[index % texts.length] ?? "").slice(0, 200),
    type: (types[index % types.length] || null) as Account["type"],
  }));
  const chartFile = join(server.home, "hard.csv");
  const rows = chart.map((row) => [row.glAccountCode, row.name, row.type ?? ""].map(cell).join());
  writeFileSync(chartFile, `glAccountCode,name,type\n${rows.join("\n")}\n`);
  const made = ["--org", server.organizationId, "--currency", "KWD", "--chart", chartFile, "-q"];
  const ledgerId = (await done(server.env, "ledger", "create", "hard", ...made)).trim();
  hard = { ...server.env, LEDGERCTL_LEDGER: ledgerId };
  const file = join(server.home, "hard.ndjson");
  writeFileSync(
    file,
    hardEntries()
      .map((entry) => `${JSON.stringify(entry)}\n`)
      .join(""),
  );
  await done(hard, "entry", "post", file);
  const [first] = await listed(hard);
  await read(hard, (client, ledgerId) => client.reverseEntry(ledgerId, first?.journalId ?? ""));
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

interface Sums {
  /** By names of account and commodity, in smallest units. */
  readonly posted: Map<string, bigint>;
  readonly atCost: Map<string, bigint>;
}

/** Our own sums, from the entries as the API gives them; balances of nothing are left out. */
async function sumsOf(env: Readonly<Record<string, string>>): Promise<Sums> {
  const accounts = await accountsOf(env);
  const names = new Map(
    accounts.map(({ glAccountCode, type }) => [glAccountCode, accountName(glAccountCode, type)]),
  );
  const sums = { posted: new Map<string, bigint>(), atCost: new Map<string, bigint>() };
  const add = (to: Map<string, bigint>, account: string, currency: string, amount: string) => {
    const key = `${account}\n${commodityName(currency)}`;
    to.set(key, (to.get(key) ?? 0n) + BigInt(amount));
  };
  for (const { lines } of await listed(env)) {
    for (const line of lines) {
      const account = names.get(line.glAccountCode) ?? "";
      add(sums.atCost, account, line.functionalCurrency, line.functionalAmount);
      // A line that only revalues is an amount in functional currency.
      const isRevaluation = line.transactionAmount === "0";
      const currency = isRevaluation ? line.functionalCurrency : line.transactionCurrency;
      const amount = isRevaluation ? line.functionalAmount : line.transactionAmount;
      add(sums.posted, account, currency, amount);
    }
  }
  for (const each of Object.values(sums)) {
    for (const [key, sum] of each) if (sum === 0n) each.delete(key);
  }
  return sums;
}

/** What a program printed, in smallest units; balances of nothing are left out. */
function inSmallestUnits(printed: PrintedBalances): Map<string, bigint> {
  const amounts = [...printed].map(([key, text]) => {
    const exponent = currencyExponent(key.split("\n")[1] ?? "");
    const [whole = "", decimals = ""] = text.replace("-", "").split(".");
    // Behind the currency's decimals there is nothing: no price has been rounded.
    expect(decimals.slice(exponent), `${key} ${text}`).toMatch(/^0*$/);
    const digits = BigInt(whole + decimals.padEnd(exponent, "0").slice(0, exponent));
    return [key, text.startsWith("-") ? -digits : digits] as const;
  });
  return new Map(amounts.filter(([, amount]) => amount !== 0n));
}

const byKey = (sums: ReadonlyMap<string, bigint>) =>
  Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));

describe.each([
  { program: "hledger", isInstalled: hasHledger, books: hledger },
  { program: "beancount", isInstalled: hasBeancount, books: beancount },
])("$program", ({ program, isInstalled, books }) => {
  describe.runIf(isInstalled)("reads the export", () => {
    it.each([
      ["of a business, in four currencies", () => business],
      ["of texts, codes and currencies that are hard to write", () => hard],
    ])("%s, and comes to the same balances", async (name, env) => {
      const file = join(server.home, `${name.length}.${program}`);
      await done(env(), "export", "--format", program, "--out", file);
      books.check(file);
      const { posted, atCost } = await sumsOf(env());
      expect(byKey(inSmallestUnits(books.balancesAtCost(file)))).toEqual(byKey(atCost));
      expect(byKey(inSmallestUnits(books.balances(file)))).toEqual(byKey(posted));
    });

    it("of a ledger without entries", async () => {
      const empty = await createLedger("JPY", []);
      const file = join(server.home, `empty.${program}`);
      await done(empty, "export", "--format", program, "--out", file);
      books.check(file);
      expect(books.balances(file).size).toBe(0);
    });

    it("of a period, which holds what moved in it", async () => {
      const file = join(server.home, `period.${program}`);
      await done(business, "export", "--format", program, "--period", "2026-02", "--out", file);
      books.check(file);
      const { accounts } = await read(business, (client, ledgerId) =>
        client.getTrialBalance(ledgerId, { periodId: "2026-02" }),
      );
      const moved = accounts.map(
        ({ glAccountCode, type, debits, credits }) =>
          [`${accountName(glAccountCode, type)}\nUSD`, BigInt(debits) + BigInt(credits)] as const,
      );
      expect(byKey(inSmallestUnits(books.balancesAtCost(file)))).toEqual(
        byKey(new Map(moved.filter(([, amount]) => amount !== 0n))),
      );
    });
  });
});

describe.each(["csv", "ndjson"])("%s", (format) => {
  it.each([
    ["a business", () => business, "USD"],
    ["what is hard to write", () => hard, "KWD"],
  ])("of %s is posted again into another ledger", async (name, env, currency) => {
    const chart = await accountsOf(env());
    const copy = await createLedger(currency, chart);
    const file = join(server.home, `${name.length}.${format}`);
    await done(env(), "export", "--format", format, "--out", file);
    // In the file's order, so that sequences are the same.
    const post = ["entry", "post", file, "--concurrency", "1"];
    await done(copy, ...post);
    const before = await listed(env());
    expect((await listed(copy)).map(said)).toEqual(before.map(asPosted));
    const balances = (books: Readonly<Record<string, string>>) =>
      read(books, async (client, ledgerId) => (await client.getTrialBalance(ledgerId)).accounts);
    expect(await balances(copy)).toEqual(await balances(env()));
    // Again nothing is posted, and an export of the copy is the file.
    expect((await run(copy, ...post)).stderr).toContain(`already there ${before.length}`);
    expect(await done(copy, "export", "--format", format)).toBe(readFileSync(file, "utf8"));
  });

  it("of a ledger without entries is posted as nothing", async () => {
    const empty = await createLedger("USD", []);
    const text = await done(empty, "export", "--format", format);
    expect(text.split("\n").filter((line) => line !== "")).toHaveLength(format === "csv" ? 1 : 0);
  });
});

const accountsOf = (env: Readonly<Record<string, string>>) =>
  read(env, (client, ledgerId) => client.listAccounts(ledgerId));

const listed = (env: Readonly<Record<string, string>>) =>
  read(env, async (client, ledgerId) => {
    const entries: Entry[] = [];
    for (;;) {
      const after = entries.at(-1)?.sequence ?? 0;
      const page = await client.listEntries(ledgerId, { after, limit: 100 });
      entries.push(...page.entries);
      if (!page.hasMore) return entries;
    }
  });

/** What of an entry does not depend on where and when it was posted. */
function said(entry: Entry) {
  const { externalId, originSystem, originAccount, eventType, description, metadata } = entry;
  const { sequence, transactionDate, entryType, lines } = entry;
  const labels = { externalId, originSystem, originAccount, eventType, description, metadata };
  return { sequence, ...labels, transactionDate, entryType, lines };
}

/** The same of one that was exported: it has an externalId, and a reversal is an ordinary entry that says so. */
function asPosted(entry: Entry) {
  const { externalId, journalId, reversesJournalId, metadata } = entry;
  return {
    ...said(entry),
    externalId: externalId ?? journalId,
    ...(reversesJournalId === null
      ? {}
      : { entryType: "STANDARD", metadata: { ...metadata, reversesJournalId } }),
  };
}

describe("export", () => {
  const count = (ndjson: string) => documents(ndjson).length;

  it("takes a period's entries, and those between dates", async () => {
    const all = await listed(business);
    const inFebruary = all.filter(({ transactionDate }) => transactionDate.startsWith("2026-02"));
    const byPeriod = await done(business, "export", "--format", "ndjson", "--period", "Feb 2026");
    expect(count(byPeriod)).toBe(inFebruary.length);
    const dates = ["--from", "2026-02-01", "--to", "2026-03-01"];
    expect(await done(business, "export", "--format", "ndjson", ...dates)).toBe(byPeriod);
    const future = await done(business, "export", "--format", "ndjson", "--from", "2027-01-01");
    expect(future).toBe("");
  });

  it("ends where the books ended when it began, whatever is posted meanwhile", async () => {
    const entries: Entry[] = [];
    await read(business, async (client, ledgerId) => {
      for await (const page of entryPages(client, ledgerId, {})) {
        entries.push(...page.entries);
        const lines = [
          { glAccountCode: "1000", functionalAmount: "1" },
          { glAccountCode: "4000", functionalAmount: "-1" },
        ];
        await client.postEntry(ledgerId, { lines });
      }
    });
    expect(entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 220 }, (_, index) => index + 1),
    );
  });

  it("says what it wrote: on stderr, with --json on stdout", async () => {
    const file = join(server.home, "said.csv");
    const noted = await run(hard, "export", "--format", "csv", "--out", file);
    expect(noted).toMatchObject({ code: 0, stdout: "" });
    expect(noted.stderr).toBe(`${file} is written, entries: ${2 * texts.length + 1}\n`);
    const json = await run(hard, "export", "--format", "csv", "--out", file, "--json");
    expect(JSON.parse(json.stdout)).toEqual({ format: "csv", entries: 2 * texts.length + 1, file });
    expect(json.stderr).toBe("");
  });

  it.each([
    ["a label that is nearly a date", ["--format", "csv", "--period", "2026-13"], 2, "2026-13"],
    ["a label that nothing has", ["--format", "csv", "--period", "final"], 5, "final"],
    [
      "a file in a folder that is not there",
      ["--format", "csv", "--out", "/no-such-folder/x.csv"],
      1,
      "/no-such-folder/x.csv can't be written: there is no folder /no-such-folder",
    ],
  ])("refuses %s", async (_, flags, code, message) => {
    const refused = await run(business, "export", ...flags);
    expect(refused).toMatchObject({ code, stdout: "" });
    expect(refused.stderr).toContain(message);
    expect(refused.stderr).not.toContain("waiting");
  });

  it("writes into a pipe that is there, and leaves it a pipe", async () => {
    const pipe = join(server.home, "pipe.csv");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const reading = readFile(pipe, "utf8");
    await done(hard, "export", "--format", "csv", "--out", pipe);
    expect(await reading).toBe(await done(hard, "export", "--format", "csv"));
    expect(statSync(pipe).isFIFO()).toBe(true);
  });

  it("leaves nothing behind where the file can't have its name", async () => {
    const folder = join(server.home, "folder.csv");
    mkdirSync(folder);
    const refused = await run(hard, "export", "--format", "csv", "--out", folder);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`${folder} can't be written: it is a folder`);
    expect(existsSync(`${folder}.part`)).toBe(false);
  });
});
