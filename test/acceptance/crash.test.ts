// kill -9 of the server and of its database while entries are posted and amounts are transferred between wallets, out of
// holds, too: what was acknowledged is there once, and what was not ends up there once when it is tried again.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  LedgerClient,
  ServiceProblem,
  type Entry,
  type WalletLogEntry,
} from "../../src/client/ledger-client.ts";
import { processesOf } from "../support/frozen-cluster.ts";
import { startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const writers = 24;
const walletKeys = Array.from({ length: 8 }, (_, index) => `w${index}`);
const creditOfEach = 1_000_000n;

let home: string;
let dataDir: string;
let server: ServerProcess;
let ledgerId: string;
let credentials: { apiKey: string; apiSecret: string };

interface Attempt {
  readonly externalId: string;
  readonly kind: "entry" | "transfer" | "transfer out of a hold";
  readonly from: string;
  readonly to: string;
  /** The journalId or the transferId that was acknowledged; null where nothing was. */
  id: string | null;
}

const attempts: Attempt[] = [];

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
  const service = client(5_000);
  const credit = { type: "credit", amount: String(creditOfEach), assetCode: "USD" } as const;
  await service.writeWallets(
    ledgerId,
    walletKeys.map((callerKey) => ({ callerKey, ...credit })),
  );
  await service.close();
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

/** The next of all attempts, whoever makes it. */
function nextAttempt(): Attempt {
  const number = attempts.length;
  const from = number % walletKeys.length;
  const to = (from + 1 + (number % (walletKeys.length - 1))) % walletKeys.length;
  const attempt: Attempt = {
    externalId: `crash-${number}`,
    kind: (["entry", "transfer", "transfer out of a hold"] as const)[number % 3] ?? "entry",
    from: walletKeys[from] ?? "",
    to: walletKeys[to] ?? "",
    id: null,
  };
  attempts.push(attempt);
  return attempt;
}

/** Makes one attempt after the other, each tried once, until told to stop. */
async function write(service: LedgerClient, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const attempt = nextAttempt();
    try {
      attempt.id = await make(service, attempt);
    } catch {
      await sleep(100);
    }
  }
}

/** Resolves with the id of what an attempt makes, or made before. */
function make(service: LedgerClient, attempt: Attempt): Promise<string> {
  return attempt.kind === "entry" ? post(service, attempt) : transfer(service, attempt);
}

async function post(service: LedgerClient, { externalId }: Attempt): Promise<string> {
  const lines = [
    { glAccountCode: "1000", functionalAmount: "7" },
    { glAccountCode: "4000", functionalAmount: "-7" },
  ];
  try {
    return (await service.postEntry(ledgerId, { externalId, lines })).journalId;
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.code !== "DUPLICATE_ENTRY") throw error;
    return error.problem.journalId ?? "";
  }
}

async function transfer(
  service: LedgerClient,
  { kind, externalId, from, to }: Attempt,
): Promise<string> {
  const amount = { amount: "7", assetCode: "USD" };
  const hold = { ...amount, amount: "9", externalId: `${externalId}-hold` };
  const fromHold =
    kind === "transfer"
      ? {}
      : { fromHold: (await service.reserveFunds({ ledgerId, callerKey: from }, hold)).holdId };
  const [result] = await service.transferAtomically(ledgerId, [
    { from, to, ...amount, externalId, ...fromHold },
  ]);
  return result?.transferId ?? "";
}

/** Tries everything unacknowledged again. */
async function settle(service: LedgerClient): Promise<void> {
  for (const attempt of attempts) attempt.id ??= await make(service, attempt);
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

async function readLog(service: LedgerClient, callerKey: string): Promise<WalletLogEntry[]> {
  const log: WalletLogEntry[] = [];
  for (;;) {
    const page = { after: log.at(-1)?.seq ?? 0, limit: 100 };
    const { writes, hasMore } = await service.listWalletWrites({ ledgerId, callerKey }, page);
    log.push(...writes);
    if (!hasMore) return log;
  }
}

async function expectEachOnce(service: LedgerClient): Promise<void> {
  await expectEntriesOnce(service);
  await expectTransfersOnce(service);
}

async function expectEntriesOnce(service: LedgerClient): Promise<void> {
  const stored = await readAll(service);
  expect(stored.map(({ sequence }) => sequence)).toEqual(stored.map((_, index) => index + 1));
  // All but those that post the wallets' credits.
  const posted = stored.filter(({ eventType }) => eventType !== "WALLET_BATCH");
  const made = attempts.filter(({ kind }) => kind === "entry");
  expect(posted).toHaveLength(made.length);
  const idOf = new Map(posted.map(({ externalId, journalId }) => [externalId, journalId]));
  for (const { externalId, id } of made) expect(idOf.get(externalId)).toBe(id);
  const cash = await service.getBalance(ledgerId, { account: "1000" });
  expect(cash).toMatchObject({ balance: 7n * BigInt(made.length), entryCount: made.length });
  const revenue = await service.getBalance(ledgerId, { account: "4000" });
  expect(revenue.balance).toBe(-cash.balance);
}

/** Each is a row in both logs, no more is held than before, and the sum of all wallets is what it was. */
async function expectTransfersOnce(service: LedgerClient): Promise<void> {
  const { wallets } = await service.listWallets(ledgerId);
  const sum = wallets.reduce((all, { balance }) => all + BigInt(balance), 0n);
  expect(sum).toBe(creditOfEach * BigInt(walletKeys.length));
  expect(wallets.filter(({ held }) => held !== "0")).toEqual([]);
  const sides = { "transfer-out": new Array<string>(), "transfer-in": new Array<string>() };
  for (const callerKey of walletKeys) {
    const log = await readLog(service, callerKey);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    for (const { type, transferId, counterparty } of log) {
      if (type !== "transfer-out" && type !== "transfer-in") continue;
      const [from, to] =
        type === "transfer-out" ? [callerKey, counterparty] : [counterparty, callerKey];
      sides[type].push(`${from} ${to} ${transferId}`);
    }
  }
  const made = attempts
    .filter(({ kind }) => kind !== "entry")
    .map(({ from, to, id }) => `${from} ${to} ${id}`)
    .sort();
  expect(sides["transfer-out"].sort()).toEqual(made);
  expect(sides["transfer-in"].sort()).toEqual(made);
}

const countAcknowledged = () => attempts.filter(({ id }) => id !== null).length;

/** Resolves when so many more attempts have been acknowledged. */
async function acknowledge(more: number): Promise<void> {
  const before = countAcknowledged();
  await until("attempts are acknowledged", () => countAcknowledged() >= before + more);
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
    "has all that was acknowledged once after its restart, and the others once after a retry (round %i)",
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

/** PostgreSQL as a whole, or one of the server's sessions. */
function pidOf(whose: "postmaster" | "session"): number {
  const [postmaster, ...others] = processesOf({ directory: join(dataDir, "postgres") });
  const session = others.find(({ title }) => title.includes(" ledgerctl ledgerctl "));
  const found = whose === "postmaster" ? postmaster : session;
  if (found === undefined) throw new Error(`no ${whose} runs`);
  return found.pid;
}

describe("a database of which a process is killed with SIGKILL under load", () => {
  it.each(["postmaster", "session"] as const)(
    "is started again by the server, which loses and doubles nothing (%s)",
    async (whose) => {
      await underLoad(
        () => {
          process.kill(pidOf(whose), "SIGKILL");
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
