// A service on a database of two hosts, of which one is the primary: that one fails or hangs, the other is promoted.
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LedgerClient } from "../../src/client/ledger-client.ts";
import type { WalletMessage } from "../../src/client/wallet-stream.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openBooks } from "../support/books.ts";
import { runStatement } from "../support/database.ts";
import { neverPosting } from "../support/engine.ts";
import { entry, postEntry } from "../support/entries.ts";
import { freezeCluster } from "../support/frozen-cluster.ts";
import { PostgresCluster } from "../support/postgres-cluster.ts";
import { startService, type TestService } from "../support/service.ts";
import { openStream } from "../support/stream-reader.ts";
import { until } from "../support/until.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

let primary: PostgresCluster;
let standby: PostgresCluster;
let service: TestService;
let entriesTarget: string;

beforeEach(async () => {
  primary = await PostgresCluster.create();
  // A standby insists on what the primary had when it was made.
  await primary.configure("max_connections = 100");
  standby = await primary.copyAsStandby();
  await primary.start();
  await standby.start();
  const hosts = [standby, primary].map(({ port }) => `127.0.0.1:${port}`);
  // The standby is the first that is tried.
  const databaseUrl = `postgresql://ledgerctl:x@${hosts.join(",")}/postgres?target_session_attrs=read-write`;
  await migrate(databaseUrl);
  const books = await openBooks(databaseUrl, randomBytes(32));
  const [credentials, ledgerId] = [await books.createKey(), await books.createLedger()];
  const drop = () => books.pool.end();
  service = await startService({ ...books, credentials, ledgerId, drop }, neverPosting);
  entriesTarget = `/v1/ledgers/${ledgerId}/journal-entries`;
});

afterEach(async () => {
  await service.stop();
  await service.books.drop();
  await primary.remove(standby);
});

const post = async (externalId: string) =>
  (await service.post(entriesTarget, entry(100, { externalId }))).status;

const entriesOf = ({ url }: PostgresCluster, externalId: string) =>
  runStatement(url, "SELECT FROM journal_entries WHERE external_id = $1", [externalId]);

/** Reads a wallet with the package's client, until its balance is 201. */
function followWallet(walletKey: string) {
  const { port, books } = service;
  const client = new LedgerClient({ url: `http://127.0.0.1:${port}`, ...books.credentials });
  const messages: WalletMessage[] = [];
  let onReached: () => void = () => undefined;
  let onAgain: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (onReached = resolve));
  const again = new Promise<void>((resolve) => (onAgain = resolve));
  const onConnection = (state: string) => {
    if (state === "connected" && messages.length > 0) onAgain();
  };
  const callerKey = walletKey.slice(walletKey.indexOf(":") + 1);
  const stream = client.streamWallet(
    { ledgerId: books.ledgerId, callerKey },
    { since: 0, onConnection },
  );
  const readAll = async () => {
    for await (const message of stream) {
      messages.push(message);
      if (message.seq === 4) onReached();
      if (message.balance === "201") break;
    }
    await client.close();
    return messages;
  };
  return { reached, again, read: readAll() };
}

const untilCaughtUp = () =>
  until("the standby has all", () =>
    runStatement(
      primary.url,
      "SELECT FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()",
    ),
  );

test("the new primary is found when the old one has ended, with all that was accepted", async () => {
  await postEntry(service, entry(100, { externalId: "before" }));
  await untilCaughtUp();
  await primary.stop("fast");
  expect(await post("meanwhile")).toBe(503);
  const reason = expect.stringContaining("no host of the database URL takes writes") as unknown;
  expect((await service.get("/readyz")).body).toMatchObject({ reason });
  await standby.promote();
  await until("a write is accepted", async () => (await post("after")) === 201);
  expect(await post("before")).toBe(409);
  for (const externalId of ["before", "after"]) {
    expect(await entriesOf(standby, externalId)).toBe(1);
  }
});

test("a primary that hangs is left with all that waits for it, and not taken up again as it is", async () => {
  await postEntry(service, entry(100, { externalId: "before" }));
  await untilCaughtUp();
  const thaw = freezeCluster(primary);
  try {
    // A filtered list may take minutes: nothing else would end the wait for its answer.
    const list = service.get(`${entriesTarget}?glAccountCode=1000`);
    await standby.promote();
    expect((await list).status).toBe(503);
    await until("a write is accepted", async () => (await post("after")) === 201);
  } finally {
    thaw();
  }
  expect(await entriesOf(standby, "after")).toBe(1);
  // The old primary takes writes again. With the new one gone, it is the only host that does.
  await until("the old primary answers", () => runStatement(primary.url, "SELECT 1"));
  await standby.stop("fast");
  expect(await post("lost")).toBe(503);
  expect((await service.get("/v1/ledgers")).status).toBe(503);
  expect(await entriesOf(primary, "lost")).toBe(0);
  await standby.start();
  await until("a write is accepted", async () => (await post("again")) === 201);
});

test("a host that was promoted is found although the old primary goes on answering", async () => {
  await postEntry(service, entry(100, { externalId: "before" }));
  await untilCaughtUp();
  const thaw = freezeCluster(primary);
  await standby.promote();
  // Too short for a connection to break: from here on both hosts take writes.
  thaw();
  let attempts = 0;
  await until("a write reaches the host that was promoted", async () => {
    attempts += 1;
    await post(`after ${attempts}`);
    return entriesOf(standby, `after ${attempts}`);
  });
});

test("nobody is told of what a failover lost: streams are closed, and a lost ledger is not found", async () => {
  const walletKey = newKey(service);
  accepted(await move(service, walletKey, "credit", 1));
  await untilCaughtUp();
  const reader = await openStream(service, walletKey);
  const followed = followWallet(walletKey);
  await standby.stop("immediate");
  for (const amount of [1, 1, 1]) accepted(await move(service, walletKey, "credit", amount));
  await Promise.all([reader.reach(3), followed.reached]);
  const lostLedgerId = await service.books.createLedger();
  const lostLedger = `/v1/ledgers/${lostLedgerId}/journal-entries`;
  expect((await service.post(lostLedger, entry(100))).status).toBe(201);
  // What no standby has is lost. The stream has told of it.
  await primary.stop("immediate");
  await standby.start();
  await standby.promote();
  await until("a write is accepted", async () => {
    return (await move(service, walletKey, "credit", 100)).status === 200;
  });
  expect(await reader.closed).toBe(1012);
  await followed.again;
  const next = await openStream(service, walletKey);
  accepted(await move(service, walletKey, "credit", 100));
  await next.until(({ balance }) => balance === "201");
  await next.end();
  // It goes on where the log ends when it is back: before the first write that the new primary accepted, or after it.
  const seqs = (await followed.read).map(({ seq }) => seq);
  expect([
    [1, 2, 3, 4, 3],
    [1, 2, 3, 4, 2, 3],
  ]).toContainEqual(seqs);
  expect((await service.post(lostLedger, entry(100))).status).toBe(404);
  expect((await service.get(lostLedger)).status).toBe(404);
});
