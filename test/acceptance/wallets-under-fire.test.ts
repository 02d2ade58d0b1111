// kill -9 of servers and of their database at random moments under random wallet traffic, with transfers, holds and freezes:
// nothing that was acknowledged is lost, nothing counts twice, no transfer is in one wallet only, postings are exact, streams have
// no gaps, and the audit finds nothing.
// Short by default; `LEDGERCTL_TEST_KILLS=20 npx vitest run test/acceptance/wallets-under-fire.test.ts` is the
// long form (any number of kills), and LEDGERCTL_TEST_SEED chooses traffic, victims and moments.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scopes } from "../../src/core/ledger.ts";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { openEmbeddedDatabase } from "../../src/store/embedded/embedded-database.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import type { Credentials } from "../support/signed-request.ts";
import { watchDeadlocks } from "../support/deadlock-watch.ts";
import { expectConsistentLog, readLog, type LoggedRow } from "../support/wallet-oracle.ts";
import { readStream } from "../support/wallet-stream-reader.ts";
import { runCli } from "../support/cli.ts";
import { expectBothSides, expectSum } from "../support/transfer-oracle.ts";
import { expectExplained } from "../support/wallet-model.ts";
import { expectPostedExactly, expectReconciled } from "../support/wallet-postings.ts";
import { pick, random, WalletTraffic } from "../support/wallet-traffic.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

const kills = Number(process.env["LEDGERCTL_TEST_KILLS"] ?? 3);
const seed = Number(process.env["LEDGERCTL_TEST_SEED"] ?? 1);
/** Each at least once in the short form; then at random. */
const victims = ["database", "first", "second", "firstAndDatabase"] as const;
const names = ["a", "b", "c", "ü/ß", "e:f"];

let home: string;
let dataDir: string;
let ports: number[];
let servers: ServerProcess[];
let organizationId: string;
let ledgerId: string;
let credentials: Credentials;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-fire-"));
  chmodSync(home, 0o755);
  dataDir = join(home, "books");
  ports = [await freePort(), await freePort()];
  const first = await start(0);
  const { ledgerId: made } = first.made;
  if (made === undefined) throw new Error("nothing was made");
  ledgerId = made;
  organizationId = first.made.organizationId ?? "";
  const key = await runHere(
    ...["key", "create", "--org", organizationId, "--quiet"],
    ...scopes.flatMap((scope) => ["--scope", scope]),
  );
  const [apiKey = "", apiSecret = ""] = key.trim().split(/\s/);
  credentials = { apiKey, apiSecret };
  servers = [first, await start(1)];
});

afterAll(async () => {
  for (const server of servers) await server.end("SIGTERM");
  rmSync(home, { recursive: true, force: true });
});

function start(index: number): Promise<ServerProcess> {
  const args = ["--port", String(ports[index]), "--data-dir", dataDir];
  return startServerProcess({
    args: index === 0 ? ["--bootstrap", ...args] : args,
    env: {
      HOME: home,
      LEDGERCTL_CONFIG: join(home, "config.json"),
      LEDGERCTL_POST_INTERVAL_MS: "200",
      LEDGERCTL_LOG_LEVEL: "silent",
    },
  });
}

/** What a command on the database prints, which has to succeed. */
async function runHere(...args: string[]): Promise<string> {
  const env = { HOME: home, LEDGERCTL_CONFIG: join(home, "config.json") };
  const { code, stdout, stderr } = await runCli([...args, "--data-dir", dataDir], { env });
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

async function killServer(index: number): Promise<void> {
  await servers[index]?.end("SIGKILL");
}

/** The URL of the database that the servers run. */
async function findDatabase(): Promise<string> {
  const database = await openEmbeddedDatabase({ dataDir, supervise: false });
  await database.stop();
  return database.url;
}

function killDatabase(): void {
  const pidFile = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8");
  process.kill(Number(pidFile.split("\n")[0]), "SIGKILL");
}

async function restart(index: number): Promise<void> {
  servers[index] = await start(index);
}

async function strike(victim: (typeof victims)[number]): Promise<void> {
  if (victim === "database" || victim === "firstAndDatabase") killDatabase();
  if (victim === "database") return;
  const index = victim === "second" ? 1 : 0;
  await killServer(index);
  await restart(index);
}

async function isReady(port: number | undefined): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
  return answer?.status === 200;
}

async function untilReady(): Promise<void> {
  for (const port of ports) await until(`the server on ${port}`, () => isReady(port));
}

test("64 connections that transfer among ten wallets in all directions, on two servers, never deadlock", async () => {
  const deadlocks = await watchDeadlocks(await findDatabase());
  const create = ["ledger", "create", "Ring", "--org", organizationId, "--currency", "USD"];
  const ringId = (await runHere(...create, "--quiet")).trim();
  const ring = Array.from({ length: 10 }, (_, index) => `ring-${index}`);
  const clients = ports.map((port) => {
    return new LedgerClient({ url: `http://127.0.0.1:${port}`, ...credentials, connections: 32 });
  });
  const [first] = clients;
  await first?.writeWallets(
    ringId,
    ring.map((callerKey) => ({ callerKey, type: "credit", amount: "1000", assetCode: "USD" })),
  );
  await Promise.all(
    Array.from({ length: 64 }, async (_, connection) => {
      const client = clients[connection % clients.length];
      const next = random(seed * 1_000 + connection);
      for (let step = 0; step < 15; step += 1) {
        const transfers = Array.from({ length: 1 + next(4) }, () => {
          const from = next(ring.length);
          const to = (from + 1 + next(ring.length - 1)) % ring.length;
          const amount = String(1 + next(200));
          return { from: ring[from] ?? "", to: ring[to] ?? "", amount, assetCode: "USD" };
        });
        await client?.transferAtomically(ringId, transfers).catch((error: unknown) => {
          expect(error).toMatchObject({ status: 422, code: "INSUFFICIENT_FUNDS" });
        });
      }
    }),
  );
  await deadlocks.expectNone();
  const traffic = openTraffic(ring.map((name) => `${ringId}:${name}`));
  const logs = new Map<string, readonly LoggedRow[]>();
  for (const name of ring) {
    const walletKey = `${ringId}:${name}`;
    const rows = await readLog(traffic, walletKey);
    expectConsistentLog(rows);
    logs.set(walletKey, rows);
  }
  expect(expectBothSides(logs)).toBeGreaterThan(100);
  expectSum(logs);
  traffic.close();
  await Promise.all(clients.map((client) => client.close()));
});

function openTraffic(walletKeys: readonly string[]): WalletTraffic {
  const pace = { clients: 12, restMsMax: 50, seed };
  return new WalletTraffic({ ports, credentials, freezes: true, walletKeys, ...pace });
}

test(
  `wallets keep every promise while ${kills} processes are killed`,
  { timeout: 60_000 + kills * 30_000 },
  async () => {
    const walletKeys = names.map((name) => `${ledgerId}:${encodeURIComponent(name)}`);
    const clients = ports.map((port) => {
      return new LedgerClient({ url: `http://127.0.0.1:${port}`, ...credentials });
    });
    const readers = clients.flatMap((client) =>
      names.map((name) => readStream(client, ledgerId, name)),
    );
    const traffic = openTraffic(walletKeys);
    const next = random(seed);
    for (let kill = 0; kill < kills; kill += 1) {
      let isOver = false;
      const running = traffic.run(() => isOver);
      await sleep(200 + next(1_000));
      await strike(victims[kill] ?? pick(victims, next));
      await untilReady();
      await sleep(200);
      isOver = true;
      await running;
      await expectReconciled(traffic, ledgerId, walletKeys);
    }
    const logs = await expectReconciled(traffic, ledgerId, walletKeys);
    expectExplained(traffic.attempts, logs);
    expect(expectBothSides(logs)).toBeGreaterThan(0);
    expectSum(logs);
    await expectPostedExactly(traffic, ledgerId, walletKeys);
    await runHere("audit", "--ledger", ledgerId);
    for (const reader of readers) {
      const walletKey = `${ledgerId}:${encodeURIComponent(reader.callerKey)}`;
      await reader.expectAll(logs.get(walletKey) ?? []);
    }
    traffic.close();
    await Promise.all(clients.map((client) => client.close()));
  },
);
