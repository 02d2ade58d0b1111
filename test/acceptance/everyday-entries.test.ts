// `entry post` as an accountant uses it every day: types, other currencies, entries like old ones, small files.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Account, Entry, EntryReceipt } from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, type CliResult } from "../support/cli.ts";
import { runHere } from "../support/program.ts";

const chart: readonly Account[] = (
  [
    ["1000", "asset"],
    ["1100", "asset"],
    ["3000", "equity"],
    ["4000", "income"],
    ["5000", "expense"],
  ] as const
).map(([glAccountCode, type]) => ({ glAccountCode, name: glAccountCode, type, active: true }));

let server: BinaryServer;
let env: Record<string, string>;
let ledgerId: string;

beforeAll(async () => {
  server = await startBinaryServer();
  ledgerId = await server.books.createLedger({ currency: "EUR", chart });
  env = { ...server.env, LEDGERCTL_LEDGER: ledgerId };
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const post = (...args: string[]): Promise<CliResult> => runHere(["entry", "post", ...args], env);

async function posted(...args: string[]): Promise<Entry> {
  const { code, stdout, stderr } = await post(...args, "--json");
  expect(code, stderr).toBe(0);
  const { journalId } = JSON.parse(stdout) as EntryReceipt;
  return server.client.getEntry(ledgerId, journalId);
}

const count = async () => (await server.client.listEntries(ledgerId, { limit: 1 })).total;

const sale = ["--line", "1000:+12500", "--line", "4000:-12500"];
const invoice = ["--major", "--line", "1100:+1000.00USD@0.92", "--line", "4000:-920.00"];

describe("an entry from flags", () => {
  it("has the type that is named, in any case", async () => {
    expect(await posted(...sale, "--type", "OPENING")).toMatchObject({ entryType: "OPENING" });
    expect(await posted(...sale, "--type", "closing")).toMatchObject({ entryType: "CLOSING" });
    const none = await post(...sale, "--type", "OTHER");
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--type must be one of")]);
    const reversal = await post(...sale, "--type", "REVERSAL");
    expect([reversal.code, reversal.stderr]).toEqual([
      2,
      expect.stringContaining("`ledgerctl entry reverse ID`"),
    ]);
  });

  it("has lines in other currencies, and says what they come to", async () => {
    const shown = await runCli(["entry", "post", ...invoice], { env });
    expect([shown.code, shown.stderr]).toEqual([0, "1100: 1000.00 USD at 0.92 is 920.00 EUR\n"]);
    expect(shown.stdout).toMatch(/^journalId {4}\S{36}\npersistedAt {2}\S{24}\n$/);
    const { lines } = await posted(...invoice);
    expect(lines).toMatchObject([
      {
        glAccountCode: "1100",
        functionalAmount: "92000",
        functionalCurrency: "EUR",
        transactionAmount: "100000",
        transactionCurrency: "USD",
        spotRate: 0.92,
      },
      { glAccountCode: "4000", functionalAmount: "-92000", transactionCurrency: "EUR" },
    ]);
    const smallest = await posted("--line", "1100:+100000USD@0.92", "--line", "4000:-92000EUR");
    expect(smallest.lines).toEqual(lines);
    const json = await post(...invoice, "--json");
    expect(json.stderr).toBe('{"note":"1100: 1000.00 USD at 0.92 is 920.00 EUR"}\n');
    expect(await post(...invoice, "--quiet")).toMatchObject({ code: 0, stderr: "" });
  });

  it("rounds once, half to even, and takes the worth as it is typed", async () => {
    const rounded = await posted(
      ...["--line", "1100:+5USD@0.5", "--line", "1100:+7USD@0.5", "--line", "4000:-6"],
    );
    expect(rounded.lines.map(({ functionalAmount }) => functionalAmount)).toEqual(["2", "4", "-6"]);
    const paid = await posted(
      ...["--major", "--line", "1000:+918.40", "--line", "5000:1.60"],
      ...["--line", "1100:-1000.00USD@@920.00"],
    );
    expect(paid.lines[2]).toMatchObject({
      transactionAmount: "-100000",
      functionalAmount: "-92000",
    });
    const yen = await posted("--major", "--line", "1000:1000JPY@0.0061", "--line", "4000:-6.10");
    expect(yen.lines[0]).toMatchObject({ transactionAmount: "1000", functionalAmount: "610" });
  });

  it("is printed by a dry run, and not sent", async () => {
    const before = await count();
    const dry = await post(...invoice, "--type", "ADJUSTING", "--external-id", "dry", "--dry-run");
    expect(JSON.parse(dry.stdout)).toEqual({
      externalId: "dry",
      entryType: "ADJUSTING",
      lines: [
        {
          glAccountCode: "1100",
          functionalAmount: "92000",
          transactionAmount: "100000",
          transactionCurrency: "USD",
          spotRate: 0.92,
        },
        { glAccountCode: "4000", functionalAmount: "-92000" },
      ],
    });
    expect(await count()).toBe(before);
    const { code, stderr } = await post(
      "--major",
      "--line",
      "1100:5USD@1",
      "--line",
      "4000:-4",
      "--dry-run",
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("the lines must sum to zero, and sum to 1.00 EUR"),
    ]);
  });

  it.each([
    ["1100:5USD", /USD is not the ledger's currency: add what it is worth/],
    ["1100:5EUR@1", /EUR is the ledger's own currency/],
    [
      "1100:5EUX@0.9",
      /EUX is no currency of ISO 4217; --allow-unknown-currency .*\n +Did you mean/,
    ],
    ["1100:1USD@0.001", /it comes to 0 EUR/],
    ["1100:5.00USD@0.9", /5\.00 is no whole number; with --major/],
  ])("with %s is refused before anything is posted", async (line, says) => {
    const before = await count();
    const { code, stdout, stderr } = await post("--line", line, "--line", "4000:-5");
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(says)]);
    expect(await count()).toBe(before);
  });

  it("takes an unknown currency where it is meant", async () => {
    const lines = ["--line", "1100:3VEA@0.42", "--line", "4000:-126"];
    const { lines: stored } = await posted(...lines, "--allow-unknown-currency");
    expect(stored[0]).toMatchObject({ transactionAmount: "3", transactionCurrency: "VEA" });
  });
});

describe("an entry like an old one", () => {
  let old: Entry;
  beforeAll(async () => {
    old = await posted(
      ...[
        "--major",
        "--line",
        "1100:+100.00USD@0.925",
        "--line",
        "1100:+7.50",
        "--line",
        "4000:-100.00",
      ],
      ...["--type", "ADJUSTING", "--description", "Rent", "--date", "2026-01-31", "--meta", "a=b"],
      ...["--external-id", "rent-1"],
    );
  });

  it("has its lines, description and type, and a date, an externalId and metadata of its own", async () => {
    const like = await posted("--like", old.journalId, "--date", "2026-02-28", "--meta", "c=d");
    expect(like.lines).toEqual(old.lines);
    expect(like).toMatchObject({
      description: "Rent",
      entryType: "ADJUSTING",
      transactionDate: "2026-02-28T00:00:00.000Z",
      metadata: { c: "d" },
    });
    expect(like.externalId).not.toBe("rent-1");
    const now = await posted(
      "--like",
      old.journalId,
      "--description",
      "Other",
      "--type",
      "standard",
    );
    expect(now).toMatchObject({ description: "Other", entryType: "STANDARD", metadata: {} });
    expect(now.transactionDate).toBe(now.persistedAt);
  });

  it("has the lines that are given for an account in place of those of that account", async () => {
    const { lines } = await posted(
      ...[
        "--like",
        old.journalId,
        "--major",
        "--line",
        "1100:+50.00USD@0.9",
        "--line",
        "4000:-44.00",
      ],
      ...["--line", "5000:-1.00"],
    );
    expect(
      lines.map(({ glAccountCode, functionalAmount }) => [glAccountCode, functionalAmount]),
    ).toEqual([
      ["1100", "4500"],
      ["4000", "-4400"],
      ["5000", "-100"],
    ]);
  });

  it("is no reversal where the old one is, and can be looked at first", async () => {
    const reversal = await server.client.reverseEntry(ledgerId, old.journalId);
    const like = await posted("--like", reversal.journalId);
    expect(like).toMatchObject({ entryType: "STANDARD", reversesJournalId: null });
    const dry = await post("--like", reversal.journalId, "--dry-run");
    expect((await post("--like", reversal.journalId)).stderr).toContain(
      "no description: 1100 -92.50 EUR, 1100 -7.50 EUR, 4000 100.00 EUR\n",
    );
    expect(JSON.parse(dry.stdout)).toMatchObject({
      lines: [{ functionalAmount: "-9250" }, {}, {}],
    });
  });

  it("needs an entry that is there", async () => {
    const nowhere = "019aaaaa-0000-7000-8000-000000000000";
    expect((await post("--like", nowhere)).code).toBe(5);
    const typo = await post("--like", "17");
    expect([typo.code, typo.stderr]).toEqual([
      2,
      "ledgerctl: --like is not a UUID. An entry is named by its whole id, not by its sequence number: " +
        "`ledgerctl entry list` shows both.\n",
    ]);
    expect((await post("--like", nowhere, "file.json")).code).toBe(2);
  });
});

describe("an entry that is named by its sequence number, or by the beginning of its id", () => {
  it("is not guessed: nothing is posted, and it is said what names it", async () => {
    const { journalId, sequence } = await posted(...sale);
    const before = await count();
    for (const id of [String(sequence), journalId.slice(0, 18)]) {
      for (const verb of ["reverse", "correct", "show"]) {
        const { code, stdout, stderr } = await runHere(["entry", verb, id], env);
        expect([code, stdout]).toEqual([5, ""]);
        expect(stderr).toMatch(
          /\n {2}An entry is named by its whole id, not by its sequence number: `ledgerctl entry list` shows both\.\n/,
        );
      }
    }
    expect(await count()).toBe(before);
  });
});

describe("a small file", () => {
  const lines = (amount: number) => [
    { glAccountCode: "1000", functionalAmount: String(amount) },
    { glAccountCode: "4000", functionalAmount: String(-amount) },
  ];
  const ndjson = (prefix: string, entries: number) =>
    Array.from({ length: entries }, (_, index) => {
      const entry = { externalId: `${prefix}-${index}`, lines: lines(index + 1) };
      return `${JSON.stringify(entry)}\n`;
    });

  async function idsInOrder(prefix: string): Promise<(string | null)[]> {
    const listed = await runHere(["entry", "list", "--json"], env);
    return documents<Entry>(listed.stdout)
      .map(({ externalId }) => externalId)
      .filter((id) => id?.startsWith(`${prefix}-`));
  }

  it("is posted in its order, over several requests, and so is a pipe", async () => {
    const file = join(server.home, "ordered.ndjson");
    writeFileSync(file, ndjson("file", 900).join(""));
    const { code, stdout } = await runCli(["entry", "post", file, "--json"], { env });
    const expected = Array.from({ length: 900 }, (_, index) => `file-${index}`);
    expect(code).toBe(0);
    expect(documents<Entry>(stdout).map(({ externalId }) => externalId)).toEqual(expected);
    expect(await idsInOrder("file")).toEqual(expected);
    const input = ndjson("pipe", 300).join("");
    expect(await runCli(["entry", "post", "-"], { env, input })).toMatchObject({ code: 0 });
    const piped = Array.from({ length: 300 }, (_, index) => `pipe-${index}`);
    expect(await idsInOrder("pipe")).toEqual(piped);
  });

  it("that goes on is posted whole, by many requests at once", async () => {
    const description = "d".repeat(1_000);
    const input = ndjson("large", 700)
      .map((line) => `{"description":"${description}",${line.slice(1)}`)
      .join("");
    expect(input.length).toBeGreaterThan(640 * 1024);
    const file = join(server.home, "large.ndjson");
    writeFileSync(file, input);
    const whole = await runCli(["entry", "post", file], { env });
    expect(whole.stderr).toMatch(/^posted 700, already there 0, failed 0 /m);
    const piped = await runCli(["entry", "post", "-"], { env, input });
    expect(piped.stderr).toMatch(/^posted 0, already there 700, failed 0 /m);
  });

  it("is told from which unknown currencies its lines are, and posted", async () => {
    const foreign = { transactionAmount: "3", transactionCurrency: "VEA" };
    const [debit, credit] = lines(126);
    const file = join(server.home, "unknown.json");
    writeFileSync(file, JSON.stringify({ lines: [{ ...debit, ...foreign }, credit] }));
    const one = await post(file);
    expect([one.code, one.stderr]).toEqual([0, "ATTENTION: no currency of ISO 4217: VEA\n"]);
  });
});
