// Tables on terminals of several widths: no row is wrapped, and what is left out is told.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { displayWidth } from "../../src/cli/terminal/fit-columns.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli } from "../support/cli.ts";
import { hasPython } from "../support/python.ts";
import { TestScreen } from "../support/screen.ts";
import { until } from "../support/until.ts";

let server: BinaryServer;

beforeAll(async () => {
  server = await startBinaryServer();
  const { client, ledgerId } = server;
  const line = (glAccountCode: string, amount: string, transactionCurrency = "USD") => ({
    glAccountCode,
    functionalAmount: amount,
    transactionAmount: amount,
    transactionCurrency,
    description: "a line with a description of its own, as long as they are",
  });
  await runCli(
    ["account", "add", "assets:bank:Öffentliche Sparkasse 大阪", "Current account at the bank"],
    server,
  );
  for (const [date, amount] of [
    ["2026-01-31", "123456789012"],
    ["2026-02-28", "98765432100"],
  ] as const) {
    await client.postEntry(ledgerId, {
      transactionDate: `${date}T00:00:00Z`,
      description: "Rent and everything else that was to be paid for the office in the old town",
      externalId: `invoice-${date}-0000000000000000001`,
      lines: [
        line("assets:bank:Öffentliche Sparkasse 大阪", amount, "EUR"),
        line("1000", amount),
        line("4000", `-${amount}`),
        line("4000", `-${amount}`, "EUR"),
      ],
    });
  }
  await client.closePeriod(ledgerId, { periodId: "2026-01", reason: "month-end" });
  const wallet = { ledgerId, callerKey: "customer/0190b6a0-1111-7000-8000-00000000000c" };
  await client.creditWallet(wallet, {
    amount: "1234567890",
    assetCode: "USD",
    externalId: "a-credit-of-a-wallet",
  });
  await client.reserveFunds(wallet, { amount: "50", assetCode: "USD" });
  await until("the posting", async () => {
    const { writes } = await client.listWalletWrites(wallet, {});
    return writes[0]?.journalId;
  });
  const args = [
    "key",
    "create",
    "--org",
    server.organizationId,
    "--name",
    "the auditor's key of 2026",
  ];
  await runCli([...args, "--expires-in", "90d"], server);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

test.runIf(hasPython)("what a row is called is there on narrow terminals, too", async () => {
  for (const [columns, command, rows] of [
    [40, "register 4000", ["opening", "2026-01-31", "closing"]],
    [80, "balance 1000", ["1000     2,222,222,211.12        2"]],
    [
      80,
      "wallet balance customer/0190b6a0-1111-7000-8000-00000000000c",
      ["balance    12,345,678.90 USD", "available  12,345,678.40 USD"],
    ],
    [80, "period list", ["NO  PERIOD   FROM        TO          ENTRIES  CLOSED"]],
  ] as const) {
    const args = command.split(" ");
    const screen = new TestScreen(args, { ...server.env, LEDGERCTL_PAGER: "cat" }, [columns, 24]);
    expect((await screen.ended()).code).toBe(0);
    const lines = linesOf(screen);
    for (const row of rows) {
      expect(lines, row).toContainEqual(expect.stringMatching(new RegExp(`^${row}`)));
    }
  }
});

const tables: readonly (readonly [command: string, ...args: string[]])[] = [
  ["account", "list"],
  ["config", "list"],
  ["asset", "list"],
  ["audit", "log"],
  ["balance", "assets:bank:Öffentliche Sparkasse 大阪"],
  ["balance-sheet", "--by", "month", "--from", "2026-01-01", "--to", "2026-07-01"],
  ["income-statement", "--by", "month", "--from", "2026-01-01", "--to", "2026-07-01"],
  ["balance-sheet", "--by", "year", "--from", "2026-01-01"],
  ["income-statement", "--by", "year", "--from", "2026-01-01"],
  ["entry", "list"],
  ["entry", "list", "--account", "4000"],
  ["key", "list"],
  ["ledger", "list"],
  ["migrate", "--status"],
  ["org", "list"],
  ["period", "list"],
  ["register", "4000"],
  ["trial-balance", "--period", "2026-01"],
  ["wallet", "list"],
  ["wallet", "history", "customer/0190b6a0-1111-7000-8000-00000000000c"],
];

const linesOf = ({ printed }: TestScreen) =>
  printed.replaceAll(/\u001b\[[0-9]+m/g, "").split("\r\n");

// Python makes the terminal.
test.runIf(hasPython)("what was checked is readable, with its digits in groups", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledgerctl-narrow-"));
  const file = join(folder, "2026-01.ndjson");
  await runCli(["bundle", "2026-01", "--out", file], server);
  for (const command of ["bundle show", "merkle verify"]) {
    const args = [...command.split(" "), file];
    const screen = new TestScreen(args, { LEDGERCTL_PAGER: "cat" }, [80, 24]);
    expect((await screen.ended()).code).toBe(0);
    expect(screen.output).toContain("debits       2,469,135,780.24 USD");
    expect(Math.max(...linesOf(screen).map(displayWidth))).toBeLessThanOrEqual(80);
    const piped = await runCli(args, { env: {} });
    expect(piped.stdout).toContain("debits       2469135780.24 USD");
  }
  rmSync(folder, { recursive: true });
});

test.runIf(hasPython)("rows of a bank's file are named by their line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledgerctl-narrow-"));
  const [file, rules] = [join(folder, "bank.csv"), join(folder, "bank.rules")];
  writeFileSync(file, "2026-03-02,Rent,-850.00\n2026-03-03,Toner,-119.00\n");
  writeFileSync(rules, "fields date, description, amount\naccount1 1000\naccount2 4000\n");
  const args = ["entry", "import", file, "--rules", rules];
  for (const status of ["posted ", "skipped"]) {
    const screen = new TestScreen(args, server.env, [80, 24]);
    expect((await screen.ended()).code).toBe(0);
    const [first, second] = linesOf(screen);
    expect(first).toMatch(new RegExp(`^${status}  line 1  [0-9a-f-]{36}$`));
    expect(second).toMatch(new RegExp(`^${status}  line 2  [0-9a-f-]{36}$`));
  }
  const piped = await runCli(args, server);
  expect(piped.stdout).toMatch(/^skipped {2}bank-[0-9a-f]{64}-0 {2}[0-9a-f-]{36}$/m);
  rmSync(folder, { recursive: true });
});

test.runIf(hasPython)("remarks, questions and failures are broken between words", async () => {
  for (const [command, lines] of [
    [
      "income-statement --period 2026-01",
      [
        "ATTENTION: accounts without a type are apart, and",
        "  without them it does not balance:",
        "  assets:bank:Öffentliche Sparkasse 大阪",
      ],
    ],
    [
      "entry show 17",
      [
        "  An entry is named by its whole id, not by its",
        "  sequence number: `ledgerctl entry list` shows",
        "  both.",
      ],
    ],
    [
      "period close 2026-02",
      [
        'Close "2026-02", from 2026-02-01T00:00:00.000Z up',
        "  to 2026-03-01T00:00:00.000Z, for good? [y/N] ",
      ],
    ],
  ] as const) {
    const screen = new TestScreen(command.split(" "), server.env, [50, 24]);
    if (command.startsWith("period")) {
      await until("the question", () => screen.output.includes("[y/N]"));
      screen.press("n\r");
    }
    await screen.ended();
    expect(screen.output.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "")).toContain(lines.join("\r\n"));
  }
});

describe.runIf(hasPython)("the table of", () => {
  test.each(tables)("%s %s is no wider than the terminal", async (...args) => {
    const env = { ...server.env, LEDGERCTL_PAGER: "cat" };
    const screens = [120, 80, 40].map((columns) => ({
      columns,
      screen: new TestScreen(args, env, [columns, 24]),
    }));
    for (const { columns, screen } of screens) {
      expect((await screen.ended()).code).toBe(0);
      const lines = linesOf(screen);
      // Sentences around a table may be longer.
      const rows = lines.filter((line) => !/^(from .* up to|as it was)/.test(line));
      expect(rows.length, lines.join("\n")).toBeGreaterThan(2);
      for (const row of rows) {
        expect(displayWidth(row), lines.join("\n")).toBeLessThanOrEqual(columns);
      }
    }
  });
});
