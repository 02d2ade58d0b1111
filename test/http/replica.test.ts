// Long reads go to a replica where it has all that was answered before, and to the primary where it has not, is gone or
// fails them: callers never see a difference. A real primary, a real streaming standby.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SettingError } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { requireReplica } from "../../src/server/replica.ts";
import { readReplicaUrl } from "../../src/store/database/connection-url.ts";
import {
  awaitPosition,
  readPosition,
  ReplicaBehind,
  UnfitReplica,
} from "../../src/store/database/replica.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openBooks } from "../support/books.ts";
import { createTestDatabase, runStatement, withDatabase } from "../support/database.ts";
import { neverPosting } from "../support/engine.ts";
import { entry, listEntries, postEntry, problem, reverseEntry } from "../support/entries.ts";
import { freezeCluster } from "../support/frozen-cluster.ts";
import { sampleOf } from "../support/metrics.ts";
import { PostgresCluster } from "../support/postgres-cluster.ts";
import { runHere } from "../support/program.ts";
import { startService, type TestBooks, type TestService } from "../support/service.ts";
import { sendRequest } from "../support/signed-request.ts";
import { countSleepers, slowDown, speedUp } from "../support/slow-tables.ts";
import { until } from "../support/until.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

let primary: PostgresCluster;
let standby: PostgresCluster;
/** Another one, which only a URL with several hosts names. */
let second: PostgresCluster;
let books: TestBooks;
let service: TestService;
let replicaUrl: string;

const silent = createLog("silent");

beforeAll(async () => {
  primary = await PostgresCluster.create();
  await primary.start();
  await migrate(primary.url);
  await primary.stop();
  standby = await primary.copyAsStandby();
  second = await primary.copyAsStandby(tmpdir());
  // Of conflicts between reads and replay those about locks are left, and decided at once.
  await standby.configure(`
    hot_standby_feedback = on
    max_standby_streaming_delay = 0
    wal_retrieve_retry_interval = 200ms`);
  await Promise.all([primary.start(), standby.start(), second.start()]);
  const opened = await openBooks(primary.url, randomBytes(32));
  // All that the replica's role needs.
  await runStatement(primary.url, "CREATE ROLE reader LOGIN");
  await runStatement(primary.url, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
  await runStatement(
    primary.url,
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader",
  );
  replicaUrl = readReplicaUrl(standby.url.replace("ledgerctl@", "reader@"));
  books = {
    ...opened,
    credentials: await opened.createKey(),
    ledgerId: await opened.createLedger(),
    drop: () => opened.pool.end(),
  };
  service = await startService(books, { replicaUrl, ...neverPosting });
  await isUsed();
});

afterAll(async () => {
  await service.stop();
  await books.drop();
  await second.remove();
  await primary.remove(standby);
});

interface ReadyBody {
  readonly replica: {
    readonly ready: boolean;
    readonly reason: string | null;
    readonly lagSeconds: number;
  };
}

async function readReplica(asked = service): Promise<ReadyBody["replica"]> {
  return ((await asked.get("/readyz")).body as ReadyBody).replica;
}

function isUsed(asked = service): Promise<unknown> {
  return until("the replica to be used", async () => (await readReplica(asked)).ready);
}

function isUnused(reason: string, asked = service): Promise<unknown> {
  return until(`the replica not to be used: ${reason}`, async () =>
    (await readReplica(asked)).reason?.includes(reason),
  );
}

async function metric(
  name: string,
  labels: Record<string, string> = {},
  asked = service,
): Promise<number | null> {
  return sampleOf((await asked.get("/metrics")).text, name, labels);
}

/** How many long reads each database was sent while `act` ran. */
async function countReads(act: () => Promise<unknown>, asked = service) {
  const readsOf = async (database: string) =>
    (await metric("ledgerctl_long_reads_total", { database }, asked)) ?? 0;
  const read = async () => ({
    replica: await readsOf("replica"),
    primary: await readsOf("primary"),
  });
  const before = await read();
  await act();
  const after = await read();
  return { replica: after.replica - before.replica, primary: after.primary - before.primary };
}

const sleepers = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
const ofAccount = "?glAccountCode=1000";

/** How many entries a filtered list counts. */
async function countListed(asked = service, ledgerId = books.ledgerId): Promise<number> {
  return (await listEntries(asked, ofAccount, ledgerId)).total;
}

async function expectOk(target: string): Promise<void> {
  const reply = await service.get(target);
  expect(reply.status, reply.text).toBe(200);
}

test("what reads much is read on the replica, and what is cheap or has to be current is not", async () => {
  const ledgerId = await books.createLedger();
  const { journalId } = await postEntry(
    service,
    entry(5n, { transactionDate: "2025-03-01T00:00:00Z" }),
    ledgerId,
  );
  const closed = await service.post(`/v1/ledgers/${ledgerId}/period-closes`, { periodId: "2025" });
  const close = `/v1/ledgers/${ledgerId}/period-closes/${(closed.body as { closeId: string }).closeId}`;
  const entries = `/v1/ledgers/${ledgerId}/journal-entries`;
  for (const target of [
    `${entries}?from=2025-01-01T00:00:00Z`,
    `${entries}?after=0`,
    `${entries}?order=date&direction=desc&text=sale`,
    `/v1/ledgers/${ledgerId}/trial-balance`,
    `/v1/ledgers/${ledgerId}/accounts/1000/register?limit=1`,
    `/v1/ledgers/${ledgerId}/accounts/1000/register?periodId=2025&currency=USD`,
    `/v1/ledgers/${ledgerId}/statements/balance-sheet?asOf=2025-06-01T00:00:00Z`,
    `/v1/ledgers/${ledgerId}/statements/income-statement?periodId=2025&by=month`,
    `/v1/ledgers/${ledgerId}/wallets?prefix=a`,
    `/v1/ledgers/${ledgerId}/wallets?assetCode=USD`,
    `${close}/proof?entryId=${journalId}`,
    `${close}/bundle`,
    `${entries}/${journalId}/wallet-writes`,
  ]) {
    const { replica, primary } = await countReads(() => expectOk(target));
    expect(replica, target).toBeGreaterThan(0);
    expect(primary, target).toBe(0);
  }
  const ranThere = await runStatement(
    standby.url,
    `SELECT FROM pg_stat_activity
      WHERE application_name = 'ledgerctl long-running' AND query ~ 'wallet_writes'`,
  );
  expect(ranThere).toBeGreaterThan(0);
  for (const target of [
    entries,
    `${entries}/${journalId}`,
    `/v1/ledgers/${ledgerId}/balances?account=1000`,
    `/v1/ledgers/${ledgerId}/period-closes`,
    `/v1/ledgers/${ledgerId}/period-closes/preview?periodId=2024`,
    close,
  ]) {
    expect(await countReads(() => expectOk(target)), target).toEqual({ replica: 0, primary: 0 });
  }
});

test("a list has what was answered before it, however soon it is asked for", async () => {
  const ledgerId = await books.createLedger();
  let reversed: string | null = null;
  for (let posted = 1; posted <= 40; posted += 2) {
    const { journalId } = await postEntry(service, entry(), ledgerId);
    expect(await countListed(service, ledgerId)).toBe(posted);
    await reverseEntry(service, journalId, ledgerId);
    const { entries } = await listEntries(service, `?after=${posted - 1}`, ledgerId);
    reversed = entries[0]?.reversedByJournalId ?? null;
    expect(reversed).toBe(entries[1]?.journalId);
  }
  expect(reversed).not.toBeNull();
});

test("a replica that is behind is waited for, and not longer than it may be", async () => {
  await postEntry(service, entry());
  const patient = await startService(books, {
    replicaUrl,
    variables: { ...neverPosting.variables, LEDGERCTL_READ_LAG_MS_MAX: "60000" },
  });
  await isUsed(patient);
  await runStatement(standby.url, "SELECT pg_wal_replay_pause()");
  await postEntry(service, entry());
  const onPrimary = await countReads(async () => {
    expect(await countListed()).toBe(2);
  });
  expect(onPrimary).toEqual({ replica: 0, primary: 1 });
  await isUnused("takes longer than 250 ms");
  expect(await metric("ledgerctl_replica_ready")).toBe(0);
  const waiting = countListed(patient);
  await until("a read that waits", () =>
    runStatement(
      standby.url,
      `SELECT FROM pg_stat_activity WHERE application_name = 'ledgerctl long-running' AND query ~ 'pg_last_wal_replay_lsn'`,
    ),
  );
  await until("a lag over a second", async () => (await readReplica()).lagSeconds > 1);
  expect(await metric("ledgerctl_replica_lag_seconds")).toBeGreaterThan(1);
  await runStatement(standby.url, "SELECT pg_wal_replay_resume()");
  expect(await waiting).toBe(2);
  expect(await metric("ledgerctl_long_reads_total", { database: "replica" }, patient)).toBe(1);
  await patient.stop();
  await isUsed();
  expect(await metric("ledgerctl_replica_ready")).toBe(1);
  expect(await countReads(() => countListed())).toEqual({ replica: 1, primary: 0 });
});

test("a read that the replica cancels, because replay goes first, is done on the primary", async () => {
  const ledgerId = await books.createLedger();
  await postEntry(service, entry(), ledgerId);
  await slowDown(books, "journal_lines", 60);
  const reads = await countReads(async () => {
    const balance = service.get(`/v1/ledgers/${ledgerId}/trial-balance`);
    await until("a read on the replica", () => runStatement(standby.url, sleepers));
    expect(await countSleepers(books)).toBe(0);
    // The replica has to take locks that the read is in the way of.
    await speedUp(books, "journal_lines");
    const reply = await balance;
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ lastSequence: 1 });
  });
  expect(reads).toEqual({ replica: 0, primary: 1 });
});

test("reads go on while the replica stops, is away and comes back", async () => {
  const ledgerId = await books.createLedger();
  let posted = 0;
  let isOver = false;
  const read = async () => {
    while (!isOver) {
      const least = posted;
      expect(await countListed(service, ledgerId)).toBeGreaterThanOrEqual(least);
    }
  };
  const write = async () => {
    while (!isOver) {
      await postEntry(service, entry(), ledgerId);
      posted += 1;
    }
  };
  const load = Promise.all([write(), read(), read(), read(), read()]);
  const reads = await countReads(async () => {
    await standby.stop("immediate");
    await isUnused("does not answer");
    await standby.start();
    await isUsed();
    await standby.stop("fast");
    await isUnused("does not answer");
    await standby.start();
    await isUsed();
  });
  isOver = true;
  await load;
  expect(reads.replica).toBeGreaterThan(0);
  expect(reads.primary).toBeGreaterThan(0);
});

test("reads leave a replica that hangs, those that are under way too", async () => {
  const total = await countListed();
  await slowDown(books, "journal_lines", 60);
  const underWay = service.get(`/v1/ledgers/${books.ledgerId}/trial-balance`);
  await until("a read on the replica", () => runStatement(standby.url, sleepers));
  const thaw = freezeCluster(standby);
  await speedUp(books, "journal_lines");
  expect(await countListed()).toBe(total);
  await isUnused("does not answer");
  const reply = await underWay;
  expect(reply.status, reply.text).toBe(200);
  thaw();
  await isUsed();
});

test("a server that stops ends reads on the replica in time, and answers them", async () => {
  const stopping = await startService(books, { replicaUrl, ...neverPosting });
  await isUsed(stopping);
  await postEntry(stopping, entry());
  await slowDown(books, "journal_lines", 60);
  // The service ends its own connections when it is told to stop.
  const agent = new Agent();
  const underWay = sendRequest(stopping.port, agent, {
    target: `/v1/ledgers/${books.ledgerId}/trial-balance`,
    credentials: books.credentials,
  });
  await until("a read on the replica", () => runStatement(standby.url, sleepers));
  const stopped = stopping.stop();
  expect(problem(await underWay)).toMatchObject({ status: 503, code: "UNAVAILABLE" });
  await stopped;
  await speedUp(books, "journal_lines");
  await isUsed();
});

test("of several hosts one that is a standby and keeps up is found", async () => {
  const hosts = [standby, second].map(({ url }) => new URL(url).host);
  const url = primary.url.replace(/@([^/]*)/, (place) => [place, ...hosts].join(","));
  const choosing = await startService(books, {
    replicaUrl: readReplicaUrl(`${url}?target_session_attrs=standby`),
    ...neverPosting,
  });
  await isUsed(choosing);
  await runStatement(standby.url, "SELECT pg_wal_replay_pause()");
  await postEntry(choosing, entry());
  const total = await countListed(choosing);
  await isUnused("takes longer");
  await isUsed(choosing);
  const readThere = () => countReads(() => countListed(choosing), choosing);
  await until("a read on the other replica", async () => (await readThere()).replica === 1);
  expect(await countListed(choosing)).toBe(total);
  await choosing.stop();
  await runStatement(standby.url, "SELECT pg_wal_replay_resume()");
  await isUsed();
});

test("a position is reached by its own database and its own timeline only", async () => {
  const [from, at] = [primary.url, standby.url].map(
    (databaseUrl) => new Pool({ databaseUrl, connectionsMax: 1, answerTimeoutMs: 5_000 }),
  );
  if (from === undefined || at === undefined) throw new Error("there are two");
  const position = await readPosition(from);
  await awaitPosition(at, position, 10_000);
  for (const [other, failure] of [
    [{ timeline: position.timeline + 1 }, UnfitReplica],
    [{ databaseId: "1" }, UnfitReplica],
    [{ systemId: "1" }, UnfitReplica],
    [{ flushedTo: "FFFFFFFF/0" }, ReplicaBehind],
  ] as const) {
    await expect(awaitPosition(at, { ...position, ...other }, 10)).rejects.toThrow(failure);
  }
  await expect(awaitPosition(from, position, 10)).rejects.toThrow("no standby");
  await Promise.all([from.end(), at.end()]);
});

test("a server does not start with a replica of something else, and does with one that is away", async () => {
  const other = await createTestDatabase();
  for (const url of [other.url, withDatabase(standby.url, "template1")]) {
    await expect(requireReplica(url, books.pool, silent)).rejects.toThrow(SettingError);
  }
  await other.drop();
  await requireReplica(standby.url, books.pool, silent);
  await requireReplica("postgresql://ledgerctl@127.0.0.1:9/postgres", books.pool, silent);
  const url = ["--read-database-url", "postgresql://127.0.0.1:9/postgres"];
  const alone = await runHere(["serve", ...url, "--data-dir", "/nonexistent"]);
  expect(alone).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--database-url") as string,
  });
  const writable = await runHere(["serve", "--database-url", primary.url], {
    LEDGERCTL_READ_DATABASE_URL: `${standby.url}?target_session_attrs=read-write`,
  });
  expect(writable).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("standby or any") as string,
  });
});

test("`doctor` tells how far the replica is behind, and why it is not used", async () => {
  const { apiKey, apiSecret } = books.credentials;
  const ask = async () => {
    const { stdout } = await runHere(["doctor", "--data-dir", "/nonexistent"], {
      LEDGERCTL_URL: `http://127.0.0.1:${service.port}`,
      LEDGERCTL_API_KEY: apiKey,
      LEDGERCTL_API_SECRET: apiSecret,
    });
    return stdout;
  };
  // On a busy machine the replica may be looked at once while it is further behind.
  await expect
    .poll(ask)
    .toMatch(/^ok {4}replica {8}long reads go there; it is \d+\.\d{3} s behind$/m);
  await runStatement(standby.url, "SELECT pg_wal_replay_pause()");
  await isUnused("takes longer");
  expect(await ask()).toMatch(
    /^note {2}replica {8}long reads go to the primary: the replica takes/m,
  );
  await runStatement(standby.url, "SELECT pg_wal_replay_resume()");
  await isUsed();
});

test("a standby can be audited and backed up by itself", async () => {
  accepted(await move(service, newKey(service), "credit", 100));
  const folder = await mkdtemp(join(tmpdir(), "ledgerctl-replica-"));
  const file = join(folder, "books.backup");
  const env = { LEDGERCTL_DATABASE_URL: standby.url };
  const audited = await runHere(["audit"], env);
  expect(audited, audited.stderr).toMatchObject({ code: 0 });
  expect(audited.stdout).toContain("Everything matches");
  const backedUp = await runHere(["backup", file], env);
  expect(backedUp).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("the database did not note it") as string,
  });
  const restored = await PostgresCluster.create();
  await restored.start();
  const { code, stderr } = await runHere(["restore", file, "--database-url", restored.url]);
  expect(code, stderr).toBe(0);
  await restored.remove();
  await rm(folder, { recursive: true });
});

test("a replica that has more of an old primary's log than the new primary is not read from until it follows that", async () => {
  const { host } = new URL(second.url);
  const surviving = await startService(books, {
    databaseUrl: primary.url.replace(/@([^/]*)/, `@$1,${host}`),
    replicaUrl,
    ...neverPosting,
  });
  await isUsed(surviving);
  const total = await countListed(surviving);
  await second.stop();
  const { journalId } = await postEntry(surviving, entry());
  expect((await countReads(() => countListed(surviving), surviving)).replica).toBe(1);
  await primary.stop("immediate");
  await second.start();
  await second.promote();
  await until("the new primary", async () => (await surviving.get("/readyz")).status === 200);
  await isUnused("not known to follow", surviving);
  expect(await countListed(surviving)).toBe(total);
  const lost = "SELECT FROM journal_entries WHERE journal_id = $1";
  expect(await runStatement(standby.url, lost, [journalId])).toBe(1);
  await Promise.all([second.stop(), standby.stop()]);
  await standby.follow(second);
  await Promise.all([second.start(), standby.start()]);
  await isUsed(surviving);
  const reads = await countReads(async () => {
    expect(await countListed(surviving)).toBe(total);
  }, surviving);
  expect(reads).toEqual({ replica: 1, primary: 0 });
  await surviving.stop();
});

test("a replica that was promoted is not read from", async () => {
  const reading = await startService(books, {
    databaseUrl: second.url,
    replicaUrl,
    ...neverPosting,
  });
  await isUsed(reading);
  const total = await countListed(reading);
  await standby.promote();
  const strayed = await startService(books, { databaseUrl: standby.url, ...neverPosting });
  await postEntry(strayed, entry());
  expect(await countListed(strayed)).toBe(total + 1);
  await strayed.stop();
  expect(await countListed(reading)).toBe(total);
  await isUnused("is no standby", reading);
  await reading.stop();
});
