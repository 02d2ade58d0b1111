// kill -9 of servers and of their database at random moments under random wallet traffic: nothing that was
// acknowledged is lost, nothing counts twice, postings are exact, streams have no gaps.
// Short by default; `LEDGERCTL_TEST_KILLS=20 npx vitest run test/acceptance/wallets-under-fire.test.ts` is the
// long form (any number of kills), and LEDGERCTL_TEST_SEED chooses traffic, victims and moments.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, test } from "vitest";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import type { Credentials } from "../support/signed-request.ts";
import { readStream } from "../support/wallet-stream-reader.ts";
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
let ledgerId: string;
let credentials: Credentials;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-fire-"));
  chmodSync(home, 0o755);
  dataDir = join(home, "books");
  ports = [await freePort(), await freePort()];
  const first = await start(0);
  const { apiKey, apiSecret, ledgerId: made } = first.made;
  if (!apiKey || !apiSecret || !made) throw new Error("nothing was made");
  credentials = { apiKey, apiSecret };
  ledgerId = made;
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

async function killServer(index: number): Promise<void> {
  await servers[index]?.end("SIGKILL");
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
    const traffic = new WalletTraffic({
      ports,
      credentials,
      walletKeys,
      clients: 12,
      restMsMax: 50,
      seed,
    });
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
    await expectPostedExactly(traffic, ledgerId, walletKeys);
    for (const reader of readers) {
      const walletKey = `${ledgerId}:${encodeURIComponent(reader.callerKey)}`;
      await reader.expectAll(logs.get(walletKey) ?? []);
    }
    traffic.close();
    await Promise.all(clients.map((client) => client.close()));
  },
);
