// `seed`: the same books each time, sound by every check that there is, and served like any others.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkSource } from "../../src/cli/commands/merkle/check-close.ts";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { readEnvironment } from "../../src/config.ts";
import type { Close } from "../../src/contract/types.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { documents, runCli, startCli, type CliResult } from "../support/cli.ts";
import { entry } from "../support/entries.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

interface Seeded {
  organizationId: string;
  ledgerId: string;
  apiKey: string;
  apiSecret: string;
  entries: number;
  closes: Close[];
}

/**
 * What `seed` without a flag makes. CI scripts of others rely on it: who changes it says so in the changelog.
 */
const golden = {
  ledgerId: "019b7824-3f00-748c-81ef-e05d071bbf1c",
  roots: [
    "d569a3cd4a8d761eae90c1b12bb41f0e1161248f0be4fdefa42b7a6f621d7344",
    "b002e90b008ad9c41db94cd55c48abcf02faeb5662f6ab41e75303ae1ee5317a",
  ],
  closeHashes: [
    "5707380650d10e4c04723c797c51c5046def8128936aa9077757945c75e00776",
    "418e167d7787a302f118ed7f4ca7221cbc9d8f6c8ce4f393ff1637b209b65e97",
  ],
};

let server: BinaryServer;
let seeded: Seeded;
let other: TestDatabase;
let transferred: TestDatabase;

const masterKey = randomBytes(32).toString("base64");
const databaseEnv = () => ({
  LEDGERCTL_DATABASE_URL: other.url,
  LEDGERCTL_MASTER_KEY: masterKey,
});

const seededEnv = () => ({
  ...server.env,
  LEDGERCTL_LEDGER: seeded.ledgerId,
  LEDGERCTL_API_KEY: seeded.apiKey,
  LEDGERCTL_API_SECRET: seeded.apiSecret,
});

const run = (...args: string[]): Promise<CliResult> => runCli(args, { env: seededEnv() });

beforeAll(async () => {
  server = await startBinaryServer();
  [other, transferred] = [await createTestDatabase(), await createTestDatabase()];
  const made = await runCli(["seed", "--json"], server);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  seeded = JSON.parse(made.stdout) as Seeded;
});

afterAll(async () => {
  await Promise.all([other.drop(), transferred.drop()]);
  expect(await server.stop()).toBe(0);
});

describe("seed", () => {
  it("makes the same books each time: ids, entries, roots, close hashes", async () => {
    const elsewhere = { TZ: "Pacific/Auckland", LANG: "tr_TR.UTF-8" };
    const again = await runCli(["seed", "--json"], { env: { ...databaseEnv(), ...elsewhere } });
    const { apiKey, apiSecret, ...rest } = JSON.parse(again.stdout) as Seeded;
    const { apiKey: firstKey, apiSecret: firstSecret, ...first } = seeded;
    expect(rest).toEqual(first);
    expect([apiKey, apiSecret]).not.toEqual([firstKey, firstSecret]);
    expect({
      ledgerId: rest.ledgerId,
      roots: rest.closes.map(({ merkleRoot }) => merkleRoot),
      closeHashes: rest.closes.map(({ closeHash }) => closeHash),
    }).toEqual(golden);
  });

  it("refuses the same seed in the same database, whatever else is asked for, and changes nothing", async () => {
    const again = await runCli(["seed", "--entries", "5"], server);
    expect(again).toMatchObject({ code: 6, stdout: "" });
    expect(again.stderr).toContain("seed 1 is in this database already");
    const entries = "SELECT FROM journal_entries WHERE ledger_id = $1";
    const { LEDGERCTL_DATABASE_URL: url = "" } = server.env;
    expect(await runStatement(url, entries, [seeded.ledgerId])).toBe(1_000);
  });

  it("has what was asked for, through the API", async () => {
    expect(seeded.entries).toBe(1_000);
    const entries = documents<{ sequence: number }>((await run("entry", "list", "--json")).stdout);
    expect(entries).toHaveLength(1_000);
    expect(seeded.closes.reduce((sum, { entryCount }) => sum + entryCount, 0)).toBe(1_000);
    const closes = documents<Close>((await run("period", "list", "--json")).stdout);
    expect(closes).toEqual(seeded.closes);
  });

  it("goes on as books do, and passes the audit: entries and wallets are written, a closed period takes none", async () => {
    const { ledgerId } = seeded;
    const client = new LedgerClient({ ...seeded, url: server.url });
    await client.postEntry(ledgerId, entry(5));
    const late = entry(5, { transactionDate: "2026-02-03T00:00:00Z" });
    await expect(client.postEntry(ledgerId, late)).rejects.toMatchObject({ code: "PERIOD_CLOSED" });
    const wallet = { ledgerId, callerKey: "usd-00001" };
    const credited = await client.creditWallet(wallet, { amount: "100", assetCode: "USD" });
    expect(credited.status).toBe("accepted");
    await client.close();
    const audit = await run("audit", "--json");
    expect(audit.code, audit.stdout).toBe(0);
  });

  it("passes the check of each close against its published hash", async () => {
    for (const { periodId, closeHash } of seeded.closes) {
      const environment = readEnvironment(seededEnv());
      const verdict = await checkSource({ period: periodId }, environment, closeHash);
      expect(verdict).toMatchObject({ ok: true, anchored: true });
    }
  });

  it("makes transfers, frozen wallets and limits on request, under the same roots, and passes the audit", async () => {
    const flags = ["--transfers", "120", "--frozen", "2", "--limits"];
    const env = { ...databaseEnv(), LEDGERCTL_DATABASE_URL: transferred.url };
    const made = await runCli(["seed", ...flags, "--json"], { env });
    expect(made.code, made.stderr).toBe(0);
    const { ledgerId, closes } = JSON.parse(made.stdout) as Seeded;
    expect([ledgerId, closes]).toEqual([seeded.ledgerId, seeded.closes]);
    const count = (from: string) => runStatement(transferred.url, `SELECT FROM ${from}`);
    expect(await count("wallet_writes WHERE type = 'transfer-out'")).toBe(120);
    expect(await count("wallet_writes WHERE type = 'transfer-in'")).toBe(120);
    expect(await count("wallet_holds WHERE status = 'transferred'")).toBeGreaterThan(0);
    expect(await count("wallets WHERE frozen_at IS NOT NULL")).toBe(2);
    expect(await count("asset_rules WHERE version = 2 AND max_balance IS NOT NULL")).toBe(3);
    const audit = await runCli(["audit", "--json"], { env });
    expect(audit.code, audit.stdout).toBe(0);
  });

  it("fills the periods, wallets and writes that are named", async () => {
    const flags = ["--seed", "9", "--entries", "60", "--wallets", "3", "--writes", "12"];
    const periods = ["--periods", "2025-Q4, 2025-W10"];
    const made = await runCli(["seed", ...flags, ...periods, "--json"], { env: databaseEnv() });
    expect(made.code, made.stderr).toBe(0);
    const { ledgerId, entries, closes } = JSON.parse(made.stdout) as Seeded;
    expect(entries).toBe(60);
    expect(closes.map(({ periodId }) => periodId)).toEqual(["2025-W10", "2025-Q4"]);
    const ownWrites = "SELECT 1 FROM wallet_writes WHERE ledger_id = $1";
    expect(await runStatement(other.url, ownWrites, [ledgerId])).toBe(12);
  });

  it("sums whole spans of entries as servers do, and passes the audit of the sums", async () => {
    const flags = ["--seed", "9000", "--entries", "9000"];
    const made = await runCli(["seed", ...flags, "--json"], { env: databaseEnv() });
    const [{ ledgerId }] = documents(made.stdout) as [Seeded];
    const summed = `SELECT FROM summed_journals
      WHERE ledger_id = $1 AND last_sequence = 8192 AND registered_sequence = 8192`;
    expect(await runStatement(other.url, summed, [ledgerId])).toBe(1);
    const audit = await runCli(["audit", "--ledger", ledgerId, "--json"], { env: databaseEnv() });
    expect(audit.code, audit.stdout).toBe(0);
  });

  it("lets one of two that run at once have the seed, and with --quiet prints the ledger, the key and its secret", async () => {
    const args = ["seed", "--seed", "30", "--entries", "40", "--quiet"];
    const env = databaseEnv();
    const both = await Promise.all([runCli(args, { env }), runCli(args, { env })]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 6]);
    expect(both.find(({ code }) => code === 0)?.stdout).toMatch(/^[0-9a-f-]{36} lk_\S+ ls_\S+\n$/);
  });

  it("leaves nothing behind when it is interrupted, and for people prints a table of closes", async () => {
    const args = ["seed", "--seed", "31"];
    const many = ["--entries", "200000", "--json"];
    const long = startCli([...args, ...many], { env: databaseEnv() });
    const writing =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%INSERT INTO journal_lines%' " +
      "AND pid <> pg_backend_pid()";
    await until("it writes", () => runStatement(other.url, writing));
    long.child.kill("SIGINT");
    expect(await long.result).toMatchObject({ code: 130, stdout: "" });
    const few = ["--entries", "0", "--periods", "2026-01"];
    const again = await runCli([...args, ...few], { env: databaseEnv() });
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toMatch(/^2026-01 +0 +[0-9a-f]{64}$/m);
    expect(again.stdout).toContain("(shown this once)");
  });

  it.each([
    ["--entries many", "--entries must be a whole number"],
    ["--wallets 5 --writes 4", "each wallet is made by its first write"],
    ["--entries 0 --wallets 1", "--entries must be 1 or more"],
    ["--wallets 3 --writes 9 --transfers 1", "--transfers need two wallets of one asset"],
    ["--wallets 5 --frozen 6", "--frozen must be a whole number"],
    ["--periods 2026-13", '"2026-13" names no period of the calendar'],
    ["--periods final", "final is no calendar period"],
    ["--periods 2026-Q1,2026-02", "2026-Q1 and 2026-02 overlap"],
  ])("refuses %s with exit code 2", async (flags, message) => {
    const refused = await runCli(["seed", ...flags.split(" ")], { env: databaseEnv() });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(message);
  });
});
