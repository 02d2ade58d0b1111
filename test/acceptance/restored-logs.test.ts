// Logs of a restored backup: nothing is signed until an operator resumes them or begins them anew, and whoever saw more than
// the backup has finds out.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { runCli, type CliResult } from "../support/cli.ts";
import { isCluster } from "../support/cluster.ts";
import { createEmptyDatabase, type TestDatabase } from "../support/database.ts";
import { entry } from "../support/entries.ts";
import { runHere } from "../support/program.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const variables = {
  LEDGERCTL_LOG_KEY: randomBytes(32).toString("base64"),
  LEDGERCTL_LOG_NAME: "ledger.example.com",
  LEDGERCTL_CHECKPOINT_INTERVAL_MS: "50",
};

/** In March 2026, which is to be closed. */
const posted = () => entry(5, { transactionDate: "2026-03-15T00:00:00Z" });

// Backups are of one server: on Citus the command refuses.
describe.skipIf(isCluster)("the logs of a restored backup", () => {
  let original: BinaryServer;
  let target: TestDatabase;
  let restored: ServerProcess;
  let client: LedgerClient;
  let env: Record<string, string>;
  /** What nothing was posted to after the backup, and what was. */
  let kept: string;
  let lost: string;

  const state = (ledgerId: string) => join(original.home, `${ledgerId}.note`);
  const watch = (ledgerId: string, where: Readonly<Record<string, string>>): Promise<CliResult> =>
    runHere(["log", "watch", "--once", "--ledger", ledgerId, "--state", state(ledgerId)], where);
  const run = (...args: string[]): Promise<CliResult> => runCli(args, { env });
  const sizeOf = async (of: LedgerClient, ledgerId: string) =>
    (await of.getLog(ledgerId, "journal")).size;

  beforeAll(async () => {
    original = await startBinaryServer(variables);
    target = await createEmptyDatabase();
    kept = await original.books.createLedger();
    lost = await original.books.createLedger();
    for (const ledgerId of [kept, lost]) {
      await original.client.postAtomicEntries(ledgerId, [posted(), posted()]);
      await until("two leaves", async () => (await sizeOf(original.client, ledgerId)) === 2);
    }
    const file = join(original.home, "books.backup");
    expect(await runCli(["backup", file, "--quiet"], original)).toMatchObject({ code: 0 });
    await original.client.postEntry(lost, posted());
    await until("three leaves", async () => (await sizeOf(original.client, lost)) === 3);
    for (const ledgerId of [kept, lost]) {
      expect(await watch(ledgerId, original.env)).toMatchObject({ code: 0 });
    }
    env = { ...original.env, ...variables, LEDGERCTL_DATABASE_URL: target.url };
    expect((await run("restore", file)).code).toBe(0);
    restored = await startServerProcess({
      args: ["--port", "0"],
      env: { ...env, XDG_CONFIG_HOME: join(original.home, "restored") },
    });
    env = { ...env, LEDGERCTL_URL: restored.url };
    client = new LedgerClient({
      url: restored.url,
      apiKey: env["LEDGERCTL_API_KEY"] ?? "",
      apiSecret: env["LEDGERCTL_API_SECRET"] ?? "",
    });
  });

  afterAll(async () => {
    await client.close();
    await restored.end("SIGTERM");
    await target.drop();
    await original.stop();
  });

  it("take entries and closes, and sign nothing", async () => {
    for (const ledgerId of [kept, lost]) {
      await client.postEntry(ledgerId, posted());
      // Right after a close both logs would be signed, if they were.
      await client.closePeriod(ledgerId, { periodId: "2026-03" });
      const { size, halted } = await client.getLog(ledgerId, "journal");
      expect([size, halted]).toEqual([2, expect.stringContaining("backup")]);
      expect((await client.getLog(ledgerId, "closes")).size).toBe(0);
    }
    const doctor = await run("doctor", "--ledger", kept);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringContaining("the log journal is halted: "),
    ]);
  });

  it("go on where they are resumed, and nobody who saw no more than they have minds", async () => {
    expect(await run("log", "resume", "journal", "--ledger", kept, "--yes")).toMatchObject({
      code: 0,
      stdout: "1 log resumed\n",
    });
    await until("three leaves", async () => (await sizeOf(client, kept)) === 3);
    expect(await watch(kept, env)).toMatchObject({ code: 0 });
    // The other one is not resumed with it.
    expect(await sizeOf(client, lost)).toBe(2);
  });

  it("are found out by whoever saw more, before they are begun anew and after", async () => {
    const shrunk = await watch(lost, env);
    expect([shrunk.code, shrunk.stderr]).toEqual([
      3,
      expect.stringContaining("the log shrank from 3 leaves to 2"),
    ]);
    expect(await run("log", "restart", "journal", "--ledger", lost, "--yes")).toMatchObject({
      code: 0,
    });
    await until("three leaves", async () => (await sizeOf(client, lost)) === 3);
    const { origin } = await client.getLog(lost, "journal");
    expect(origin).toBe(`ledger.example.com/${lost}/journal.2`);
    const forked = await watch(lost, env);
    expect([forked.code, forked.stderr]).toEqual([
      3,
      expect.stringContaining("the log forked: it has two roots over 3 leaves"),
    ]);
  });
});
