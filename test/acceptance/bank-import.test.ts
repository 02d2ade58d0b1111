// `entry import` against a real server: what is posted, and that nothing is posted twice.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli } from "../support/cli.ts";

let server: BinaryServer;
let folder: string;

beforeAll(async () => {
  server = await startBinaryServer();
  folder = join(server.home, "bank");
  mkdirSync(folder);
});

afterAll(async () => {
  await server.stop();
});

const rules = `skip
fields date, description, amount
account1 1000
account2 4000
if coffee
  account2 5000
`;

const rows = [
  "Date,Text,Amount",
  "2026-01-02,Sale,1200.50",
  "2026-01-03,Coffee,-3.50",
  "2026-01-03,Coffee,-3.50",
];

function save(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function run(...args: readonly string[]) {
  return runCli(["entry", "import", ...args], { env: server.env });
}

interface Result {
  readonly status: string;
  readonly externalId: string;
  readonly line: number;
}

describe("entry import", () => {
  it("shows first what it would post, and sends nothing", async () => {
    const given = [
      save("jan.csv", rows.join("\n")),
      "--rules",
      save("bank.rules", rules),
      "--dry-run",
    ];
    const { code, stdout, stderr } = await run(...given);
    expect([code, stderr]).toEqual([0, "would post 3 entries; nothing was sent\n"]);
    expect(stdout).toBe(
      "LINE  DATE        ACCOUNT       AMOUNT  AGAINST  DESCRIPTION\n" +
        "   2  2026-01-02  1000     1200.50 USD  4000     Sale\n" +
        "   3  2026-01-03  1000       -3.50 USD  5000     Coffee\n" +
        "   4  2026-01-03  1000       -3.50 USD  5000     Coffee\n",
    );
    const bodies = documents<{ externalId: string }>((await run(...given, "--json")).stdout);
    expect(bodies[0]).toMatchObject({
      transactionDate: "2026-01-02T00:00:00.000Z",
      description: "Sale",
      lines: [
        { glAccountCode: "1000", functionalAmount: "120050" },
        { glAccountCode: "4000", functionalAmount: "-120050" },
      ],
    });
    expect((await server.client.listEntries(server.ledgerId)).total).toBe(0);
  });

  it("posts each row once, in the file's order, however often and in however long a file it comes", async () => {
    const args = ["--rules", save("bank.rules", rules)];
    const first = await run(save("jan.csv", rows.join("\n")), ...args);
    expect([first.code, first.stderr]).toEqual([
      0,
      expect.stringMatching(/^posted 3, already there 0, failed 0/),
    ]);
    const again = await run(join(folder, "jan.csv"), ...args, "--json");
    expect(documents<Result>(again.stdout).map(({ status }) => status)).toEqual([
      "skipped",
      "skipped",
      "skipped",
    ]);
    const longer = [...rows, "2026-01-04,Coffee,-3.50", "2026-01-03,Coffee,-3.50"];
    const later = await run(save("feb.csv", longer.join("\r\n")), ...args, "--json");
    expect([
      later.code,
      documents<Result>(later.stdout).filter(({ status }) => status === "posted").length,
    ]).toEqual([0, 2]);
    const { entries } = await server.client.listEntries(server.ledgerId);
    expect(entries.map(({ description }) => description)).toEqual([
      "Sale",
      "Coffee",
      "Coffee",
      "Coffee",
      "Coffee",
    ]);
    const { balance } = await server.client.getBalance(server.ledgerId, { account: "1000" });
    expect(balance).toBe(120050n - 4n * 350n);
  });

  it("posts a row in another currency with what it is worth at its rate", async () => {
    const file = save("eur.csv", "Date,Text,Amount\n2026-01-05,Fair,-100.00\n");
    const inEuro = save("eur.rules", `${rules}currency EUR\nrate 1.0845\n`);
    const shown = await run(file, "--rules", inEuro, "--dry-run");
    expect(shown.stdout).toBe(
      "LINE  DATE        ACCOUNT  TRANSACTION       AMOUNT  AGAINST  DESCRIPTION\n" +
        "   2  2026-01-05  1000     -100.00 EUR  -108.45 USD  4000     Fair\n",
    );
    expect((await run(file, "--rules", inEuro)).code).toBe(0);
    const again = await run(file, "--rules", inEuro);
    expect(again.stderr).toMatch(/^posted 0, already there 1, failed 0/);
    const { entries } = await server.client.listEntries(server.ledgerId, {
      direction: "desc",
      limit: 1,
    });
    const line = { transactionCurrency: "EUR", functionalCurrency: "USD", spotRate: 1.0845 };
    expect(entries[0]?.lines).toMatchObject([
      { ...line, glAccountCode: "1000", functionalAmount: "-10845", transactionAmount: "-10000" },
      { ...line, glAccountCode: "4000", functionalAmount: "10845", transactionAmount: "10000" },
    ]);
  });

  it("is a conflict where rules have changed what a row becomes", async () => {
    const changed = save("changed.rules", rules.replace("account2 5000", "account2 2000"));
    const { code, stdout } = await run(join(folder, "jan.csv"), "--rules", changed);
    expect(code).toBe(6);
    expect(stdout).toMatch(/skipped .*\nfailed .*line 3: .*DUPLICATE_ENTRY.*\nfailed .*line 4: /s);
  });

  it("posts nothing where a row can't be read or an account is not there", async () => {
    const before = (await server.client.listEntries(server.ledgerId)).total;
    const file = save("bad.csv", `${rows.join("\n")}\n14.02.2026,X,1.00\n2026-02-14,Tea,2\n`);
    const wrong = save("wrong.rules", `${rules}if tea\n  account2 500\n`);
    const { code, stdout, stderr } = await run(file, "--rules", wrong);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^ledgerctl: .*bad\.csv: nothing was posted, as rows can't be read:\n/);
    expect(stderr).toMatch(
      /line 5: date "14\.02\.2026": has another form .*wrong\.rules, line 2\)\n/,
    );
    expect(stderr).toMatch(
      /line 6: account2 "500": the ledger has no such active account\. Did you mean 5000\? \(.*wrong\.rules, line 8\)\n$/,
    );
    expect((await server.client.listEntries(server.ledgerId)).total).toBe(before);
  });

  it("says so where a file has nothing to post", async () => {
    const given = [save("head.csv", `${rows[0]}\n`), "--rules", join(folder, "bank.rules")];
    const { code, stderr } = await run(...given);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/head\.csv has no rows to post: /)]);
  });

  it("names a file that can't be read", async () => {
    expect(
      await run(join(folder, "none.csv"), "--rules", join(folder, "bank.rules")),
    ).toMatchObject({ code: 2 });
    const { code, stderr } = await run(
      join(folder, "jan.csv"),
      "--rules",
      join(folder, "none.rules"),
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("none.rules can't be read: there is no such file"),
    ]);
  });
});
