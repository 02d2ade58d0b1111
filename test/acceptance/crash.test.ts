// kill -9 of the server and of its database while entries are posted: what was acknowledged is there
// once, and what was not ends up there once when it is tried again.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerClient, ServiceProblem, type Entry } from "../../src/client/ledger-client.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const writers = 24;

let home: string;
let dataDir: string;
let server: ServerProcess;
let ledgerId: string;
let credentials: { apiKey: string; apiSecret: string };
let made = 0;

/** By externalId: the journalId that was acknowledged, or null. */
const outcomes = new Map<string, string | null>();

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "ledgerctl-crash-"));
  chmodSync(home, 0o755);
  dataDir = join(home, "books");
  server = await start();
  const { apiKey, apiSecret, ledgerId: id } = server.made;
  if (apiKey === undefined || apiSecret === undefined || id === undefined)
    throw new Error("no key");
  credentials = { apiKey, apiSecret };
  ledgerId = id;
});

afterAll(async () => {
  await server.end("SIGTERM");
  rmSync(home, { recursive: true, force: true });
});

function start(): Promise<ServerProcess> {
  return startServerProcess({
    args: ["--bootstrap", "--port", "0", "--data-dir", dataDir],
    env: { HOME: home, LEDGERCTL_CONFIG: join(home, "config.json") },
  });
}

function client(retryForMs: number): LedgerClient {
  return new LedgerClient({ url: server.url, ...credentials, retryForMs, connections: writers });
}

/** Posts one entry after the other, each tried once, until told to stop; notes what was acknowledged. */
async function write(service: LedgerClient, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    made += 1;
    const externalId = `crash-${made}`;
    outcomes.set(externalId, null);
    try {
      const { journalId } = await postOnce(service, externalId);
      outcomes.set(externalId, journalId);
    } catch {
      await sleep(100);
    }
  }
}

async function postOnce(service: LedgerClient, externalId: string): Promise<{ journalId: string }> {
  const entry = {
    externalId,
    lines: [
      { glAccountCode: "1000", functionalAmount: "7" },
      { glAccountCode: "4000", functionalAmount: "-7" },
    ],
  };
  const reply = await service.request(
    "POST",
    `/v1/ledgers/${ledgerId}/journal-entries`,
    JSON.stringify(entry),
  );
  if (reply.status !== 201) throw new Error(`answered ${reply.status}`);
  return JSON.parse(reply.text) as { journalId: string };
}

/** Tries everything unacknowledged again; a duplicate is the first attempt's success. */
async function settle(service: LedgerClient): Promise<void> {
  for (const [externalId, acknowledged] of outcomes) {
    if (acknowledged !== null) continue;
    try {
      const { journalId } = await service.postEntry(ledgerId, {
        externalId,
        lines: [
          { glAccountCode: "1000", functionalAmount: "7" },
          { glAccountCode: "4000", functionalAmount: "-7" },
        ],
      });
      outcomes.set(externalId, journalId);
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.code !== "DUPLICATE_ENTRY") throw error;
      outcomes.set(externalId, error.problem.journalId ?? "");
    }
  }
}

async function readAll(service: LedgerClient): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const page = await service.listEntries(ledgerId, {
      after: entries.at(-1)?.sequence ?? 0,
      limit: 100,
    });
    entries.push(...page.entries);
    if (!page.hasMore) return entries;
  }
}

async function expectEachOnce(service: LedgerClient): Promise<void> {
  const stored = await readAll(service);
  expect(stored.map(({ sequence }) => sequence)).toEqual(stored.map((_, index) => index + 1));
  expect(stored).toHaveLength(outcomes.size);
  const idOf = new Map(stored.map(({ externalId, journalId }) => [externalId, journalId]));
  for (const [externalId, journalId] of outcomes) expect(idOf.get(externalId)).toBe(journalId);
  const cash = await service.getBalance(ledgerId, { account: "1000" });
  expect(cash).toMatchObject({ balance: 7n * BigInt(stored.length), entryCount: stored.length });
  const revenue = await service.getBalance(ledgerId, { account: "4000" });
  expect(revenue.balance).toBe(-cash.balance);
}

const countAcknowledged = () => [...outcomes.values()].filter((id) => id !== null).length;

/** Resolves when so many more entries have been acknowledged. */
async function acknowledge(more: number): Promise<void> {
  const before = countAcknowledged();
  await until("entries are acknowledged", () => countAcknowledged() >= before + more);
}

/** Loads the server, does something violent to it in the middle, and goes on a while. */
async function underLoad(violence: () => Promise<void>, goOn: () => Promise<void>): Promise<void> {
  let isOver = false;
  const service = client(0);
  const running = Array.from({ length: writers }, () => write(service, () => isOver));
  await acknowledge(writers + Math.random() * 100);
  await violence();
  await goOn();
  isOver = true;
  await Promise.all(running);
  await service.close();
}

describe("a server that is killed with SIGKILL under load", () => {
  it.each([1, 2])(
    "has every acknowledged entry once after its restart, and the others once after a retry (round %i)",
    async () => {
      await underLoad(
        async () => {
          await server.end("SIGKILL");
        },
        () => sleep(50),
      );
      server = await start();
      const service = client(5_000);
      await settle(service);
      await expectEachOnce(service);
      await service.close();
    },
  );
});

describe("a database that is killed with SIGKILL under load", () => {
  it.each([1, 2])(
    "is started again by the server, which loses and doubles nothing (round %i)",
    async () => {
      await underLoad(
        () => {
          const pidFile = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8");
          process.kill(Number(pidFile.split("\n")[0]), "SIGKILL");
          return Promise.resolve();
        },
        // More than were under way.
        () => acknowledge(3 * writers),
      );
      const service = client(20_000);
      await settle(service);
      await expectEachOnce(service);
      await until("ready", async () => (await fetch(`${server.url}/readyz`)).status === 200);
      await service.close();
    },
  );
});
