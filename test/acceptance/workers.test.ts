// `serve --workers`: several processes behind one port behave as one server.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { serve } from "../../src/cli/commands/serve/serve.ts";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import { readEnvironment } from "../../src/config.ts";
import { runCli } from "../support/cli.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../support/database.ts";
import { lockWaiters } from "../support/rows.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { sendRequest, type Credentials } from "../support/signed-request.ts";
import { signedHeaders, streamTarget } from "../support/stream-reader.ts";
import { readStream } from "../support/wallet-stream-reader.ts";
import { expectExplained } from "../support/wallet-model.ts";
import { sampleOf } from "../support/metrics.ts";
import { readLog } from "../support/wallet-oracle.ts";
import { expectPostedExactly, expectReconciled } from "../support/wallet-postings.ts";
import { WalletTraffic } from "../support/wallet-traffic.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

const workers = 3;

let home: string;
let database: TestDatabase;
let env: Record<string, string>;
let server: ServerProcess;
let port: number;
let ledgerId: string;
let credentials: Credentials;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-workers-"));
  database = await createTestDatabase();
  env = {
    HOME: home,
    LEDGERCTL_CONFIG: join(home, "config.json"),
    LEDGERCTL_DATABASE_URL: database.url,
    LEDGERCTL_MASTER_KEY: randomBytes(32).toString("base64"),
    LEDGERCTL_POST_INTERVAL_MS: "200",
    LEDGERCTL_LOG_LEVEL: "silent",
  };
  server = await startWorkers(workers, ["--bootstrap"]);
  const { apiKey, apiSecret, ledgerId: made } = server.made;
  if (!apiKey || !apiSecret || !made) throw new Error("nothing was made");
  credentials = { apiKey, apiSecret };
  ledgerId = made;
  port = Number(new URL(server.url).port);
});

afterAll(async () => {
  await server.end("SIGTERM");
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

function startWorkers(count: number, more: readonly string[] = []): Promise<ServerProcess> {
  const args = ["--port", "0", "--workers", String(count), ...more];
  return startServerProcess({ args, env });
}

/** The pids of a server's workers. Linux tells them at once; `ps` looks at every process. */
function workersOf({ child }: ServerProcess): number[] {
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  if (existsSync(children)) {
    return (readFileSync(children, "utf8").match(/\d+/g) ?? []).map(Number);
  }
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  return table
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid, parent]) => (pid !== undefined && parent === child.pid ? [pid] : []));
}

/** Kills a worker and waits until another one has taken its place. */
async function replaceWorker(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  const isReplaced = () => {
    const now = workersOf(server);
    return !now.includes(pid) && now.length === workers;
  };
  await until("another worker", isReplaced);
}

/** A worker that was just started takes a moment until it listens. */
async function untilServed(): Promise<void> {
  const look = () => fetch(`${server.url}/readyz`).catch(() => null);
  await until("a worker is ready", async () => (await look())?.status === 200);
}

/** A connection on which a first request was answered, so that some worker has it. */
async function openConnection(): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  expect(await isServed(socket)).toBe(true);
  return socket;
}

/** Whether the worker that has a connection answers on it; false once the worker is gone, and the connection with it. */
async function isServed(socket: Socket): Promise<boolean> {
  if (socket.closed) return false;
  const answer = await new Promise<string | null>((resolve) => {
    socket.once("data", (bytes: Buffer) => {
      resolve(bytes.toString());
    });
    socket.once("close", () => {
      resolve(null);
    });
    socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  });
  if (answer !== null) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  return answer !== null;
}

test("every worker answers on the port, and one that is killed is replaced", async () => {
  const before = workersOf(server);
  expect(before).toHaveLength(workers);
  const sockets: Socket[] = [];
  for (let count = 0; count < 4 * workers; count += 1) sockets.push(await openConnection());
  let open = sockets;
  for (const pid of before) {
    const wasOpen = open.length;
    await replaceWorker(pid);
    // Its own connections are gone, which may be learned only now; those of the others answer.
    const served = await Promise.all(open.map(isServed));
    open = open.filter((_, index) => served[index]);
    expect(open.length).toBeLessThan(wasOpen);
  }
  expect(open).toEqual([]);
  await untilServed();
  expect(workersOf(server).filter((pid) => before.includes(pid))).toEqual([]);
  for (let count = 0; count < 2 * workers; count += 1) (await openConnection()).destroy();
  for (const path of ["/healthz", "/readyz"]) {
    const answer = await fetch(`${server.url}${path}`, { headers: { connection: "close" } });
    expect(answer.status).toBe(200);
  }
});

test("workers that are all killed at once come back on the same port", async () => {
  await untilServed();
  const killed = workersOf(server);
  for (const pid of killed) process.kill(pid, "SIGKILL");
  // Others may be there before the last of them is gone.
  await until(
    "all of them to be gone",
    () => !workersOf(server).some((pid) => killed.includes(pid)),
  );
  await untilServed();
  await until("all workers are back", () => workersOf(server).length === workers);
});

test("wallets behave as on one server, whichever worker has the writer and which the reader", async () => {
  const names = ["a", "b"];
  const walletKeys = names.map((name) => `${ledgerId}:${name}`);
  const client = new LedgerClient({ url: server.url, ...credentials });
  // Connections go to workers in turn: each wallet has readers on all of them.
  const readers = names.flatMap((name) =>
    Array.from({ length: 2 * workers }, () => readStream(client, ledgerId, name)),
  );
  const traffic = new WalletTraffic({
    ports: [port],
    credentials,
    freezes: false,
    walletKeys,
    clients: 4 * workers,
    restMsMax: 20,
    seed: 1,
  });
  await traffic.runSteps(20);
  let isOver = false;
  const running = traffic.run(() => isOver);
  await replaceWorker(workersOf(server)[0] ?? 0);
  isOver = true;
  await running;
  const logs = await expectReconciled(traffic, ledgerId, walletKeys);
  expectExplained(traffic.attempts, logs);
  await expectPostedExactly(traffic, ledgerId, walletKeys);
  for (const reader of readers)
    await reader.expectAll(logs.get(`${ledgerId}:${reader.callerKey}`) ?? []);
  traffic.close();
  await client.close();
});

/**
 * What one worker tells of all, on a connection of its own, once that lacks no worker and no answer of the database: either
 * is left out where it takes too long.
 */
async function wholeMetrics(port: number, count: number): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const text = await until(`the metrics of ${count} workers`, async () => {
    const reply = await sendRequest(port, agent, { target: "/metrics", credentials: null });
    const isWhole =
      reply.status === 200 &&
      sampleOf(reply.text, "ledgerctl_database_connections_max", { pool: "write" }) === 8 * count &&
      sampleOf(reply.text, "ledgerctl_database_up") !== 0;
    return isWhole && reply.text;
  });
  agent.destroy();
  return text;
}

test("whichever worker is asked for metrics tells of all of them, and of the books once", async () => {
  await untilServed();
  const accepted = (text: string) =>
    sampleOf(text, "ledgerctl_writes_total", { kind: "credit", outcome: "accepted" });
  const before = accepted(await wholeMetrics(port, workers)) ?? 0;
  const body = JSON.stringify({ amount: "1", assetCode: "USD" });
  const target = `/v1/wallets/${ledgerId}:counted/credit`;
  for (let count = 0; count < 2 * workers; count += 1) {
    // A connection each, so that all workers get some.
    const agent = new Agent();
    expect((await sendRequest(port, agent, { target, body, credentials })).status).toBe(200);
    agent.destroy();
  }
  for (let count = 0; count < 2 * workers; count += 1) {
    const text = await wholeMetrics(port, workers);
    expect(accepted(text)).toBe(before + 2 * workers);
    expect(sampleOf(text, "ledgerctl_database_up")).toBe(1);
    expect(sampleOf(text, "ledgerctl_info")).toBe(1);
  }
});

test("metrics of workers have an address of their own where one is asked for, and SIGTERM ends all workers once they have answered what they had taken", async () => {
  const metricsPort = await freePort();
  const stopping = await startWorkers(2, ["--metrics-port", String(metricsPort)]);
  await wholeMetrics(metricsPort, 2);
  expect((await fetch(`${stopping.url}/metrics`)).status).toBe(404);
  const pids = workersOf(stopping);
  const stoppingPort = Number(new URL(stopping.url).port);
  const walletKey = `${ledgerId}:drained`;
  const target = streamTarget(walletKey);
  const streams = Array.from({ length: 2 * pids.length }, () => {
    const headers = signedHeaders(credentials, target);
    return new WebSocket(`ws://127.0.0.1:${stoppingPort}${target}`, { headers });
  });
  await Promise.all(streams.map((stream) => once(stream, "open")));
  const codes = streams.map(async (stream) => (await once(stream, "close"))[0] as number);
  const agent = new Agent({ keepAlive: true, maxSockets: 30 });
  const body = JSON.stringify({ amount: "1", assetCode: "USD" });
  let answered = 0;
  let isStopping = false;
  const writing = Array.from({ length: 30 }, async () => {
    while (!isStopping) {
      const parts = { target: `/v1/wallets/${walletKey}/credit`, body, credentials };
      const reply = await sendRequest(stoppingPort, agent, parts).catch(() => null);
      if (reply === null) return;
      if (reply.status === 200) answered += 1;
    }
  });
  await until("100 answers", () => answered >= 100);
  expect(await stopping.end("SIGTERM")).toBe(0);
  isStopping = true;
  await Promise.all(writing);
  agent.destroy();
  expect(new Set(await Promise.all(codes))).toEqual(new Set([1001]));
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
  const rest = new Agent({ keepAlive: true });
  const source = {
    get: (path: string) => sendRequest(port, rest, { target: path, credentials }),
  };
  expect(await readLog(source, walletKey)).toHaveLength(answered);
  rest.destroy();
});

test("workers end with the process that started them, once they have answered what they had taken", async () => {
  const orphaning = await startWorkers(2);
  const pids = workersOf(orphaning);
  const agent = new Agent({ keepAlive: true });
  const blocker = new Client({ connectionString: database.url });
  try {
    await blocker.connect();
    await blocker.query("BEGIN");
    await blocker.query("SELECT FROM ledger_states WHERE ledger_id = $1 FOR UPDATE", [ledgerId]);
    const write = sendRequest(Number(new URL(orphaning.url).port), agent, {
      target: `/v1/wallets/${ledgerId}:orphan/credit`,
      body: JSON.stringify({ amount: "1", assetCode: "USD", externalId: "orphan-1" }),
      credentials,
    });
    await until("the write waits", () => runStatement(database.url, lockWaiters));
    await orphaning.end("SIGKILL");
    await blocker.query("ROLLBACK");
    expect(await write).toMatchObject({ status: 200 });
  } finally {
    await orphaning.end("SIGKILL");
    await blocker.end();
    agent.destroy();
  }
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await until("the workers have ended", () => !pids.some(isAlive));
  await expect(fetch(`${orphaning.url}/healthz`)).rejects.toThrow();
});

// Nobody after this asks the server.
test("SIGTERM also ends a worker that is just being started", async () => {
  const [first = 0, ...others] = workersOf(server);
  process.kill(first, "SIGKILL");
  await until("another worker", () =>
    workersOf(server).some((pid) => pid !== first && !others.includes(pid)),
  );
  const pids = workersOf(server);
  expect(await server.end("SIGTERM")).toBe(0);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
});

test("--workers is refused unless it is a whole number from 1 to 64", async () => {
  const message = "--workers must be a whole number from 1 to 64";
  const { code, stdout, stderr } = await runCli(["serve", "--workers", "abc"], { env });
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
  for (const value of ["0", "-1", "1000", "1.5", ""]) {
    const flags = { host: "127.0.0.1", port: 0, migrate: true, workers: Number(value) };
    const refused = { exitCode: 2, message: expect.stringContaining(message) as string };
    await expect(serve(flags, readEnvironment(env)), value).rejects.toMatchObject(refused);
  }
});

test("more workers than the database has connections for are refused, and the message says how many it has", async () => {
  const args = ["serve", "--port", "0", "--workers", "64"];
  const { code, stdout, stderr } = await runCli(args, { env });
  expect(code).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toMatch(
    /^ledgerctl: --workers 64 needs 1481 connections to the database, which allows \d+\. Raise its max_connections/,
  );
});

test("an embedded database is started with connections for all workers", async () => {
  const dataDir = join(home, "embedded");
  const embedded = await startServerProcess({
    args: ["--port", "0", "--workers", "5", "--data-dir", dataDir],
    env: { ...env, LEDGERCTL_DATABASE_URL: undefined },
  });
  expect((await fetch(`${embedded.url}/readyz`)).status).toBe(200);
  expect(await embedded.end("SIGTERM")).toBe(0);
});
