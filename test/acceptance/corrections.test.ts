// Entries that commands make from the books: corrections, closing entries and revaluations.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Account, Entry, EntryInput, EntryReceipt } from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import { runHere } from "../support/program.ts";

const chart: readonly Account[] = (
  [
    ["1000", "asset"],
    ["1100", "asset"],
    ["2100", "liability"],
    ["3000", "equity"],
    ["4000", "income"],
    ["5000", "expense"],
    ["7000", "income"],
    ["7100", "expense"],
    ["9000", null],
  ] as const
).map(([glAccountCode, type]) => ({ glAccountCode, name: glAccountCode, type, active: true }));

let server: BinaryServer;
let ledgerId: string;

beforeAll(async () => {
  server = await startBinaryServer();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

// Books in EUR of its own for each test.
beforeEach(async () => {
  ledgerId = await server.books.createLedger({ currency: "EUR", chart });
});

const run = (...args: string[]): Promise<CliResult> =>
  runHere(args, { ...server.env, LEDGERCTL_LEDGER: ledgerId });

const runBuilt = (...args: string[]): Promise<CliResult> =>
  runCli(args, { env: { ...server.env, LEDGERCTL_LEDGER: ledgerId } });

async function receipt(result: CliResult | Promise<CliResult>): Promise<EntryReceipt> {
  const { code, stdout, stderr } = await result;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as EntryReceipt;
}

const post = (date: string, lines: EntryInput["lines"], more: Partial<EntryInput> = {}) =>
  server.client.postEntry(ledgerId, { ...more, lines, transactionDate: `${date}T00:00:00Z` });

/** In EUR; with a currency, that amount in it as well. */
const line = (glAccountCode: string, amount: number, foreign?: readonly [string, number]) => ({
  glAccountCode,
  functionalAmount: String(amount),
  ...(foreign === undefined
    ? {}
    : { transactionCurrency: foreign[0], transactionAmount: String(foreign[1]) }),
});

const read = (id: string): Promise<Entry> => server.client.getEntry(ledgerId, id);

const balance = async (account: string, currency?: string): Promise<bigint> =>
  (await server.client.getBalance(ledgerId, { account, ...(currency ? { currency } : {}) }))
    .balance;

const entries = async (): Promise<readonly Entry[]> =>
  (await server.client.listEntries(ledgerId, { limit: 100 })).entries;

async function deactivate(code: string): Promise<void> {
  const { code: exit, stderr } = await runCli(
    ["account", "deactivate", code, "--ledger", ledgerId],
    server,
  );
  expect(exit, stderr).toBe(0);
}

describe("entry correct", () => {
  it("undoes an entry of a closed period in an open one, once", async () => {
    const lines = [
      { ...line("1100", 9_200, ["USD", 10_000]), spotRate: 0.92, description: "invoice 17" },
      line("4000", -9_200),
    ];
    const { journalId } = await post("2026-01-15", lines, { description: "Invoice 17" });
    await server.client.closePeriod(ledgerId, { periodId: "2026-01" });
    const refused = await run("entry", "reverse", journalId);
    expect([refused.code, refused.stderr]).toEqual([
      6,
      expect.stringContaining("`ledgerctl entry correct ID`"),
    ]);
    const made = await receipt(
      runBuilt("entry", "correct", journalId, "--reason", "Sent twice", "--json"),
    );
    const correction = await read(made.journalId);
    expect(correction).toMatchObject({
      entryType: "ADJUSTING",
      description: "Sent twice",
      metadata: { correctsJournalId: journalId },
      lines: [
        {
          glAccountCode: "1100",
          functionalAmount: "-9200",
          transactionAmount: "-10000",
          transactionCurrency: "USD",
          spotRate: 0.92,
          description: "invoice 17",
        },
        { glAccountCode: "4000", functionalAmount: "9200" },
      ],
    });
    expect([await balance("1100"), await balance("1100", "USD")]).toEqual([0n, 0n]);
    const second = await run("entry", "correct", journalId);
    expect(second.code).toBe(6);
    expect(second.stderr).toContain(`corrected already, by entry ${made.journalId}; --again`);
    expect(await entries()).toHaveLength(2);
    const again = await receipt(
      run("entry", "correct", journalId, "--again", "--date", "2026-03-01", "--json"),
    );
    expect(await read(again.journalId)).toMatchObject({
      transactionDate: "2026-03-01T00:00:00.000Z",
      description: "Correction of entry 1 of 2026-01-15: Invoice 17",
    });
  });

  it("is taken once of several at the same time", async () => {
    const { journalId } = await post("2026-01-15", [line("1000", 5), line("4000", -5)]);
    const all = await Promise.all(
      Array.from({ length: 4 }, () => runBuilt("entry", "correct", journalId)),
    );
    expect(all.map(({ code }) => code).sort()).toEqual([0, 6, 6, 6]);
    expect(await balance("1000")).toBe(0n);
  });

  it("keeps a pure revaluation what it is, and says where a reversal would do", async () => {
    const revaluation = line("1100", 12, ["USD", 0]);
    const { journalId } = await post("2026-01-31", [revaluation, line("7000", -12)]);
    const dry = await run("entry", "correct", journalId, "--dry-run");
    expect(JSON.parse(dry.stdout)).toMatchObject({ externalId: `correct:${journalId}:1` });
    const done = await run("entry", "correct", journalId, "--json");
    expect(done.stderr).toContain("`ledgerctl entry reverse` would have undone it");
    const made = await read((await receipt(done)).journalId);
    expect(made.lines[0]).toMatchObject({ transactionAmount: "0", functionalAmount: "-12" });
  });

  it("of a closing entry, or of its reversal, is left out of income statements as they are", async () => {
    await post("2025-03-15", [line("1000", 700), line("4000", -700)]);
    const closing = { entryType: "CLOSING" } as const;
    const wrong = [line("4000", 900), line("3000", -900)];
    const { journalId } = await post("2025-12-31", wrong, closing);
    const { journalId: reversal } = await server.client.reverseEntry(
      ledgerId,
      (await post("2025-12-31", wrong, closing)).journalId,
    );
    await server.client.closePeriod(ledgerId, { periodId: "2025" });
    for (const id of [journalId, reversal]) {
      const correction = await receipt(
        run("entry", "correct", id, "--date", "2026-01-31", "--json"),
      );
      expect((await read(correction.journalId)).entryType).toBe("CLOSING");
      const again = await receipt(run("entry", "correct", correction.journalId, "--json"));
      expect((await read(again.journalId)).entryType).toBe("CLOSING");
    }
    const { result } = await server.client.getIncomeStatement(ledgerId, { periodId: "2026" });
    expect(result).toEqual(["0"]);
  });

  it("refuses what was reversed, what wallets have posted, and what is not there", async () => {
    const { journalId } = await post("2026-01-15", [line("1000", 5), line("4000", -5)]);
    await server.client.reverseEntry(ledgerId, journalId);
    const reversed = await run("entry", "correct", journalId);
    expect([reversed.code, reversed.stderr]).toEqual([6, expect.stringContaining("was reversed")]);
    await server.client.creditWallet(
      { ledgerId, callerKey: "alice" },
      { amount: "5", assetCode: "EUR" },
    );
    await expect.poll(async () => (await entries()).length).toBeGreaterThan(2);
    const posting = (await entries()).at(-1)?.journalId ?? "";
    const refused = await run("entry", "correct", posting);
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining("wallets")]);
    expect((await run("entry", "correct", ledgerId)).code).toBe(5);
  });
});

describe("entry close-accounts", () => {
  const close = (...more: string[]) =>
    run("entry", "close-accounts", "--period", "2026", "--to", "3000", ...more);

  it("brings the period's movement to zero, in every currency, and posts nothing with nothing left", async () => {
    await post("2025-12-31", [line("1000", 100), line("4000", -100)]);
    await post("2026-01-15", [
      line("1100", 9_200, ["USD", 10_000]),
      line("4000", -9_200, ["USD", -10_000]),
    ]);
    await post("2026-02-01", [line("5000", 2_000), line("1000", -2_000)]);
    const dry = await close("--dry-run");
    expect(JSON.parse(dry.stdout)).toMatchObject({ entryType: "CLOSING" });
    expect(await entries()).toHaveLength(3);
    const { journalId } = await receipt(close("--json"));
    expect(await read(journalId)).toMatchObject({
      externalId: "close-accounts:2026-01-01/2027-01-01:1",
      entryType: "CLOSING",
      transactionDate: "2026-12-31T23:59:59.999Z",
      lines: [
        { glAccountCode: "4000", functionalAmount: "9200", transactionAmount: "10000" },
        { glAccountCode: "5000", functionalAmount: "-2000" },
        { glAccountCode: "3000", functionalAmount: "-7200" },
      ],
    });
    // What came before the period is none of it.
    expect([await balance("4000"), await balance("4000", "USD")]).toEqual([-100n, 0n]);
    expect([await balance("5000"), await balance("3000")]).toEqual([0n, -7_200n]);
    const again = await close("--json");
    expect([again.code, again.stdout]).toEqual([0, ""]);
    expect(again.stderr).toContain("nothing is left to close in 2026");
  });

  it("posts what came late, and all of it again where the closing entry was reversed", async () => {
    await post("2026-01-15", [line("1000", 700), line("4000", -700)]);
    const first = await receipt(close("--json"));
    await post("2026-11-30", [line("5000", 50), line("1000", -50)]);
    const second = await receipt(close("--json"));
    expect((await read(second.journalId)).lines).toMatchObject([
      { glAccountCode: "5000", functionalAmount: "-50" },
      { glAccountCode: "3000", functionalAmount: "50" },
    ]);
    await server.client.reverseEntry(ledgerId, first.journalId);
    const third = await receipt(close("--json"));
    expect((await read(third.journalId)).externalId).toMatch(/:3$/);
    expect([await balance("4000"), await balance("5000"), await balance("3000")]).toEqual([
      0n,
      0n,
      -650n,
    ]);
  });

  it("posts it once, however many do it at the same time", async () => {
    await post("2026-01-15", [line("1000", 700), line("4000", -700)]);
    const command = ["entry", "close-accounts", "--period", "2026", "--to", "3000"];
    const all = await Promise.all(Array.from({ length: 4 }, () => runBuilt(...command)));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await balance("3000")).toBe(-700n);
    expect(await entries()).toHaveLength(2);
  });

  it("closes amounts of opposite signs, which no single line could have", async () => {
    await post("2026-01-15", [line("1000", 100), line("4000", -100, ["USD", -90])]);
    await post("2026-01-16", [line("4000", 120, ["USD", 80]), line("1000", -120)]);
    expect(await close()).toMatchObject({ code: 0 });
    expect([await balance("4000"), await balance("4000", "USD")]).toEqual([0n, 0n]);
    expect(await balance("3000")).toBe(20n);
  });

  it("names accounts without a type, and refuses to close to what is closed", async () => {
    await post("2026-01-15", [line("1000", 100), line("9000", -100)]);
    const untyped = await close();
    expect(untyped.stderr).toContain("ATTENTION: accounts without a type are not closed: 9000");
    const income = await run("entry", "close-accounts", "--period", "2026", "--to", "7000");
    expect([income.code, income.stderr]).toEqual([2, expect.stringContaining("type income")]);
    const typo = await run("entry", "close-accounts", "--period", "2026", "--to", "300");
    expect([typo.code, typo.stderr]).toEqual([5, expect.stringContaining("Did you mean 3000?")]);
    const label = await run("entry", "close-accounts", "--period", "2026-13", "--to", "3000");
    expect(label.code).toBe(2);
    await post("2026-01-15", [line("1000", 100), line("4000", -100)]);
    await server.client.closePeriod(ledgerId, { periodId: "2026" });
    const closed = await close();
    expect([closed.code, closed.stderr]).toEqual([
      6,
      expect.stringContaining("`--dry-run` prints"),
    ]);
    const { transactionDate, ...entry } = JSON.parse(
      (await close("--dry-run")).stdout,
    ) as EntryInput;
    expect(transactionDate).toBe("2026-12-31T23:59:59.999Z");
    await post("2027-01-01", entry.lines, entry);
    expect(await balance("4000")).toBe(0n);
  });

  it("says which inactive account is in the way, and what makes it active", async () => {
    await post("2026-01-15", [line("1000", 100), line("4000", -100)]);
    const refusedWith = async (says: string) => {
      const { code, stderr } = await close();
      expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
      expect(stderr).toContain("`ledgerctl account activate CODE` makes an account active again");
    };
    await deactivate("4000");
    await refusedWith('the account "4000" is inactive');
    await deactivate("3000");
    await refusedWith("--to: account 3000 is inactive");
    expect(await entries()).toHaveLength(1);
  });
});

describe("entry revalue", () => {
  const revalue = (date: string, rates: readonly string[], ...more: string[]) =>
    run(
      ...["entry", "revalue", "--date", date, "--gains", "7000", "--losses", "7100"],
      ...rates.flatMap((rate) => ["--rate", rate]),
      ...more,
    );

  it("brings foreign balances of assets and liabilities to the rates, in functional currency alone", async () => {
    await post("2026-01-15", [line("1100", 92_000, ["USD", 100_000]), line("4000", -92_000)]);
    await post("2026-01-20", [line("5000", 6_000), line("2100", -6_000, ["JPY", -10_000])]);
    // After the day: none of it.
    await post("2026-02-01", [line("1100", 920, ["USD", 1_000]), line("4000", -920)]);
    const dry = await revalue("2026-01-31", ["USD=0.9123", "JPY=0.0061"], "--dry-run");
    expect(JSON.parse(dry.stdout)).toMatchObject({ entryType: "ADJUSTING" });
    const { journalId } = await receipt(
      revalue("2026-01-31", ["USD=0.9123", "JPY=0.0061"], "--json"),
    );
    const pure = { transactionAmount: "0" };
    expect(await read(journalId)).toMatchObject({
      externalId: "revalue:2026-01-31T23:59:59.999Z:1",
      transactionDate: "2026-01-31T23:59:59.999Z",
      metadata: { rates: { USD: "0.9123", JPY: "0.0061" } },
      lines: [
        // 1,000.00 USD at 0.9123 are 912.30 EUR; they were 920.00.
        { glAccountCode: "1100", functionalAmount: "-770", transactionCurrency: "USD", ...pure },
        // 10,000 yen at 0.0061 are 61.00 EUR; they were 60.00.
        { glAccountCode: "2100", functionalAmount: "-100", transactionCurrency: "JPY", ...pure },
        { glAccountCode: "7100", functionalAmount: "870" },
      ],
    });
    expect(await balance("1100", "USD")).toBe(101_000n);
    const again = await revalue("2026-01-31", ["USD=0.9123", "JPY=0.0061"], "--json");
    expect([again.code, again.stdout]).toEqual([0, ""]);
    expect(again.stderr).toContain("nothing to revalue");
    const other = await receipt(revalue("2026-01-31", ["USD=0.93"], "--json"));
    expect((await read(other.journalId)).lines).toMatchObject([
      { glAccountCode: "1100", functionalAmount: "1770", spotRate: 0.93 },
      { glAccountCode: "7000", functionalAmount: "-1770" },
    ]);
  });

  it("posts it once, however many do it at the same time", async () => {
    await post("2026-01-15", [line("1100", 920, ["USD", 1_000]), line("4000", -920)]);
    const command = ["entry", "revalue", "--rate", "USD=0.95", "--date", "2026-01-31"];
    const accounts = ["--gains", "7000", "--losses", "7100"];
    const all = await Promise.all(
      Array.from({ length: 4 }, () => runBuilt(...command, ...accounts)),
    );
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await balance("1100")).toBe(950n);
  });

  it("takes what is left of a balance that was paid to the last cent as gained or lost", async () => {
    await post("2026-01-15", [line("1100", 920, ["USD", 1_000]), line("4000", -920)]);
    await post("2026-01-20", [line("1000", 900), line("1100", -900, ["USD", -1_000])]);
    expect(await revalue("2026-01-31", ["USD=0.9"])).toMatchObject({ code: 0 });
    expect([await balance("1100"), await balance("7100")]).toEqual([0n, 20n]);
  });

  it("names balances that it leaves as they are", async () => {
    await post("2026-01-15", [
      line("1100", 920, ["GBP", 800]),
      line("9000", -920, ["USD", -1_000]),
    ]);
    const { code, stderr } = await revalue("2026-01-31", ["USD=0.9", "CHF=1.1"]);
    expect(code).toBe(0);
    expect(stderr).toContain("ATTENTION: balances without a --rate stay as they are: GBP");
    expect(stderr).toContain("ATTENTION: accounts without a type are not revalued: 9000");
    expect(stderr).toContain("no asset or liability has lines in CHF");
  });

  it.each([
    [["USD=0"], "above zero"],
    [["USD=-1"], "above zero"],
    [["USD=1e3"], "above zero"],
    [["USD"], "CURRENCY=RATE"],
    [["USD=1", "usd=2"], "USD twice"],
    [["EUR=1"], "own currency"],
    [["USX=1"], "USX is no currency of ISO 4217"],
  ])("refuses --rate %j", async (rates, says) => {
    const { code, stderr } = await revalue("2026-01-31", rates);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it("refuses accounts that are not there, and days that are none", async () => {
    expect((await revalue("2026-02-30", ["USD=1"])).code).toBe(2);
    const gains = await run(
      ...["entry", "revalue", "--rate", "USD=1", "--date", "2026-01-31"],
      ...["--gains", "700", "--losses", "7100"],
    );
    expect([gains.code, gains.stderr]).toEqual([5, expect.stringContaining("Did you mean 7000")]);
    await deactivate("7100");
    const losses = await revalue("2026-01-31", ["USD=1"]);
    const says = "--losses: account 7100 is inactive";
    expect([losses.code, losses.stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});

it("a correction's result is one document with --json", async () => {
  const { journalId } = await post("2026-01-15", [line("1000", 5), line("4000", -5)]);
  const [made, ...more] = documents<object>(
    (await run("entry", "correct", journalId, "--json")).stdout,
  );
  expect([Object.keys(made ?? {}), more]).toEqual([["journalId", "persistedAt"], []]);
});
