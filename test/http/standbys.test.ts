// With synchronous replication nothing that asserts a record leaves before a standby has it, whatever cuts off a COMMIT
// that waits; and a server is ready only where that standby is. A real primary, a real standby, two servers.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "pg";
import { parseCheckpoint } from "../../src/core/checkpoint.ts";
import { formatSignatureLine, formatVerifierKey, parseNote } from "../../src/core/note.ts";
import { resumeLog } from "../../src/engine/logs/halted-logs.ts";
import { WitnessFeeds } from "../../src/engine/logs/witness-feeds.ts";
import { WitnessedLogs } from "../../src/engine/logs/witnessed-logs.ts";
import { AmbiguousCommit } from "../../src/store/database/errors.ts";
import { command } from "../../src/store/database/statement.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { openBooks } from "../support/books.ts";
import { runStatement } from "../support/database.ts";
import { neverPosting } from "../support/engine.ts";
import { openEntryStream } from "../support/entry-reader.ts";
import { entriesPath, entry, listEntries, postEntry, problem } from "../support/entries.ts";
import type { PostgresCluster } from "../support/postgres-cluster.ts";
import { startService, type TestBooks, type TestService } from "../support/service.ts";
import {
  openStream,
  refusedUpgrade,
  signedHeaders,
  streamTarget,
} from "../support/stream-reader.ts";
import {
  standbyFollows,
  startWithStandby,
  urlWithName,
  waitingProcesses,
} from "../support/synchronous-standby.ts";
import { TestLog } from "../support/test-log.ts";
import { until } from "../support/until.ts";
import { accepted, expectDuplicate, move, newKey, readFigures } from "../support/wallets.ts";
import { startWitness } from "../support/witness.ts";

let primary: PostgresCluster;
let standby: PostgresCluster;
let books: TestBooks;
let first: TestService;
let second: TestService;

beforeAll(async () => {
  ({ primary, standby } = await startWithStandby());
  const opened = await openBooks(primary.url, randomBytes(32));
  books = {
    ...opened,
    credentials: await opened.createKey(),
    ledgerId: await opened.createLedger(),
    drop: () => opened.pool.end(),
  };
  first = await startService(books, { databaseUrl: urlOf("first"), ...neverPosting });
  second = await startService(books, { databaseUrl: urlOf("second"), ...neverPosting });
});

afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await books.drop();
  await primary.remove(standby);
});

/** What the sessions of a server are called on the primary. */
type ServerName = "first" | "second" | "impatient" | "feeding" | "resuming";

const urlOf = (server: ServerName) => urlWithName(primary, server);

/** Resolves with those that wait, once there are so many beside the others. */
function newlyWaiting(
  server: ServerName,
  count: number,
  others: readonly number[] = [],
): Promise<number[]> {
  return until(`${count} COMMITs that wait`, async () => {
    const found = await waitingProcesses(primary, server).catch(() => []);
    const newly = found.filter((pid) => !others.includes(pid));
    return newly.length >= count && newly;
  });
}

/** An entry and a credit with externalIds, of a ledger and a wallet that have nothing else. */
async function prepareWrites() {
  const ledgerId = await books.createLedger();
  const walletKey = newKey(first, ledgerId);
  // The first use of an asset is recorded as an act, and acts wait for each other.
  accepted(await move(first, `${ledgerId}:other`, "credit", 1));
  return {
    ledgerId,
    walletKey,
    send: (service: TestService) =>
      Promise.all([
        service.post(entriesPath(ledgerId), entry(1n, { externalId: "once" })),
        move(service, walletKey, "credit", 100, { externalId: "once" }),
      ]),
  };
}

type Writes = Awaited<ReturnType<typeof prepareWrites>>;

/** They can't be told to be recorded, although whoever reads sees them. */
async function expectUnknown(writes: Writes, sent: ReturnType<Writes["send"]>): Promise<void> {
  const [posted, moved] = await sent;
  expect(problem(posted)).toMatchObject({ status: 503, code: "OUTCOME_UNKNOWN" });
  expect(moved.status, moved.text).toBe(503);
  expect((await listEntries(second, "", writes.ledgerId)).total).toBe(1);
  expect((await readFigures(second, writes.walletKey)).balance).toBe("100");
}

async function expectDuplicates(sent: ReturnType<Writes["send"]>): Promise<void> {
  const [posted, moved] = await sent;
  expect(problem(posted)).toMatchObject({ status: 409, code: "DUPLICATE_ENTRY" });
  expectDuplicate(moved, "100");
}

/** Whether it is settled by now. */
async function isAnswered(sent: Promise<unknown>): Promise<boolean> {
  return Promise.race([sent.then(() => true), Promise.resolve().then(() => false)]);
}

test("COMMITs that are ended or cancelled while they wait are acknowledged to nobody before the standby has them", async () => {
  const [ended, cancelled] = [await prepareWrites(), await prepareWrites()];
  const closing = await books.createLedger();
  await postEntry(first, entry(1n, { transactionDate: "2025-06-30T00:00:00Z" }), closing);
  const close = (service: TestService) =>
    service.post(`/v1/ledgers/${closing}/period-closes`, { periodId: "2025" });
  const reader = await openStream(second, ended.walletKey);
  const journal = await openEntryStream(second, ended.ledgerId);
  await standby.stop();
  await until("the first server not to be ready", async () => {
    const reply = await first.get("/readyz");
    return reply.status === 503 && reply.text.includes("synchronous_standby_names");
  });
  const probes = await newlyWaiting("first", 1);
  const sentToEnd = ended.send(first);
  const closed = close(first);
  const toEnd = await newlyWaiting("first", 3, probes);
  const sentToCancel = cancelled.send(first);
  const toCancel = await newlyWaiting("first", 2, [...probes, ...toEnd]);
  const secondProbes = await newlyWaiting("second", 1);
  await runStatement(primary.url, "SELECT pg_terminate_backend(unnest($1::int[]))", [toEnd]);
  await runStatement(primary.url, "SELECT pg_cancel_backend(unnest($1::int[]))", [toCancel]);
  await Promise.all([expectUnknown(ended, sentToEnd), expectUnknown(cancelled, sentToCancel)]);

  // On another server, which never knew of a lost COMMIT: duplicates, the stored close, and what the streams have read.
  const again = [ended.send(second), cancelled.send(second)];
  const closedAgain = close(second);
  // The close waits for a lock of the first one.
  await newlyWaiting("second", 6, secondProbes);
  for (const sent of [...again, closed, closedAgain]) expect(await isAnswered(sent)).toBe(false);
  expect([reader.messages, journal.entries]).toEqual([[], []]);

  await standby.start();
  await Promise.all(again.map(expectDuplicates));
  const [record, recordAgain] = await Promise.all([closed, closedAgain]);
  expect(record.status, record.text).toBe(201);
  expect(recordAgain.body).toEqual(record.body);
  await reader.reach(1);
  expect(reader.messages).toEqual([{ type: "balance", balance: "100", available: "100" }]);
  await reader.end();
  await journal.reach(1);
  expect(journal.entries.map(({ externalId }) => externalId)).toEqual(["once"]);
  await journal.end();
  for (const service of [first, second]) {
    await until("ready again", async () => (await service.get("/readyz")).status === 200);
  }
});

test("COMMITs that a restart of the database cuts off are acknowledged only with the standby", async () => {
  const writes = await prepareWrites();
  await standby.stop();
  const probes = await newlyWaiting("first", 1);
  const sent = writes.send(first);
  await newlyWaiting("first", 2, probes);
  const victim = new Client({ connectionString: primary.url });
  victim.on("error", () => undefined);
  await victim.connect();
  const { rows } = await victim.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  // PostgreSQL ends all its processes when one of them dies like this, and recovers from its log.
  process.kill(rows[0]?.pid ?? 0, "SIGKILL");
  await expectUnknown(writes, sent);
  await standby.start();
  await expectDuplicates(writes.send(second));
});

test("a statement by itself whose wait is cancelled is not taken for committed, nor is one that takes too long", async () => {
  const pool = new Pool({
    databaseUrl: `${primary.url}?application_name=first`,
    connectionsMax: 2,
    answerTimeoutMs: 1_000,
    cancelsLateStatements: true,
  });
  await standby.stop();
  const probes = await newlyWaiting("first", 1);
  const insert = (slot: number) =>
    pool.run(command`
      INSERT INTO commit_probes (slot, probed_at) VALUES (${slot}, clock_timestamp())`);
  const cancelled = insert(100);
  const late = insert(101);
  const outcomes = Promise.allSettled([cancelled, late]);
  const [either] = await newlyWaiting("first", 2, probes);
  await runStatement(primary.url, "SELECT pg_cancel_backend($1)", [either]);
  const [one, other] = await outcomes;
  for (const outcome of [one, other]) expect(outcome.status).toBe("rejected");
  const reasons = [one, other].map((outcome) =>
    outcome.status === "rejected" ? (outcome.reason as unknown) : null,
  );
  expect(reasons.filter((reason) => reason instanceof AmbiguousCommit)).toHaveLength(1);
  await pool.end();
  await standby.start();
  await standbyFollows(primary);
});

/** A checkpoint that is to be read, but that the standby lacks, as after a COMMIT whose wait was cut off. */
async function signUnconfirmed(
  ledgerId: string,
  log: TestLog,
  haltReason: string | null = null,
): Promise<void> {
  const { size, note } = log.checkpoint();
  const { text, signatures } = parseNote(note);
  const client = new Client({ connectionString: primary.url });
  await client.connect();
  await client.query("SET synchronous_commit = local");
  await client.query(
    `INSERT INTO log_states
       VALUES ($1, 'journal', 1, '', '', CASE WHEN $2::text IS NOT NULL THEN now() END, $2)`,
    [ledgerId, haltReason],
  );
  await client.query(
    "INSERT INTO log_heads VALUES ($1, 'journal', $2, '', $2, statement_timestamp(), 1, 0)",
    [ledgerId, size],
  );
  await client.query(
    `INSERT INTO log_checkpoints
       VALUES ($1, 'journal', 1, $2, 1, $3, $4, $5, $6, statement_timestamp(), '', '')`,
    [
      ledgerId,
      size,
      parseCheckpoint(text).rootHash,
      log.origin,
      formatVerifierKey(log.signer.verifierKey),
      signatures.map(formatSignatureLine).join(""),
    ],
  );
  await client.end();
}

test("a witness is shown no checkpoint before the standby has it", async () => {
  const ledgerId = await books.createLedger();
  const log = new TestLog().grow(3);
  const witness = await startWitness();
  witness.trust(log.signer.verifierKey);
  const pool = new Pool({
    databaseUrl: urlOf("feeding"),
    connectionsMax: 2,
    answerTimeoutMs: 60_000,
  });
  const unexpected = (...told: readonly unknown[]) => {
    throw new Error(String(told.at(-1)));
  };
  const feeds = new WitnessFeeds(new WitnessedLogs(pool), [witness], {
    onWitnessFailure: unexpected,
    onAnswer: () => undefined,
    onRefusal: unexpected,
    onHalt: unexpected,
    onFailure: unexpected,
  });
  await standby.stop();
  await signUnconfirmed(ledgerId, log);
  feeds.announce({ ledgerId, log: "journal", generation: 1 });
  await newlyWaiting("feeding", 1);
  expect(witness.requests.count).toBe(0);
  await standby.start();
  await until("a cosignature", () =>
    runStatement(primary.url, "SELECT FROM log_cosignatures WHERE ledger_id = $1", [ledgerId]),
  );
  expect(witness.requests.count).toBe(1);
  await Promise.all([feeds.stop(), witness.close()]);
  await pool.end();
  await standbyFollows(primary);
});

test("nor before a halted log is resumed, which asks the witness", async () => {
  const ledgerId = await books.createLedger();
  const pool = new Pool({
    databaseUrl: urlOf("resuming"),
    connectionsMax: 2,
    answerTimeoutMs: 60_000,
  });
  await standby.stop();
  await signUnconfirmed(ledgerId, new TestLog().grow(3), "for a test");
  let asked = 0;
  const resumed = resumeLog(pool, { ledgerId, log: "journal" }, () => {
    asked += 1;
    return Promise.resolve();
  });
  await newlyWaiting("resuming", 1);
  expect(asked).toBe(0);
  await standby.start();
  expect(await resumed).toBe(true);
  expect(asked).toBe(1);
  await pool.end();
  await standbyFollows(primary);
});

test("once COMMITs have waited too long for a standby no more are sent, and nothing of what is refused is written", async () => {
  const impatient = await startService(books, {
    databaseUrl: urlOf("impatient"),
    standbyWaitMsMax: 0,
    ...neverPosting,
  });
  const writes = await prepareWrites();
  await standby.stop();
  await until("the service not to be ready", async () => {
    const reply = await impatient.get("/readyz");
    return reply.status === 503 && reply.text.includes("synchronous_standby_names");
  });
  const [posted, moved] = await writes.send(impatient);
  expect(problem(posted)).toMatchObject({
    status: 503,
    code: "UNAVAILABLE",
    detail: expect.stringContaining("waits for a standby") as unknown,
  });
  expect(posted.headers["retry-after"]).toMatch(/^[1-3]$/);
  expect(moved).toMatchObject({
    status: 503,
    body: { error: expect.stringContaining("nothing was written") as unknown },
  });
  const closed = await impatient.post(`/v1/ledgers/${writes.ledgerId}/period-closes`, {
    periodId: "2025",
  });
  expect(problem(closed)).toMatchObject({ status: 503, code: "UNAVAILABLE" });
  expect((await listEntries(impatient, "", writes.ledgerId)).total).toBe(0);
  expect(await readFigures(impatient, writes.walletKey)).toMatchObject({ balance: "0" });
  // One COMMIT goes on waiting, so that the service learns when the standby is back.
  expect(await waitingProcesses(primary, "impatient")).toHaveLength(1);
  await standby.start();
  await until("ready again", async () => (await impatient.get("/readyz")).status === 200);
  const [recorded, credited] = await writes.send(impatient);
  expect(recorded.status, recorded.text).toBe(201);
  accepted(credited);
  await impatient.stop();
});

test("what was acknowledged outlasts the primary, and a standby is not ready before it is promoted", async () => {
  const writes = await prepareWrites();
  const kept = await postEntry(first, entry(7n), writes.ledgerId);
  accepted(await move(first, `${writes.ledgerId}:kept`, "credit", 7));
  const third = await startService(books, { databaseUrl: standby.url, ...neverPosting });
  expect((await third.get("/readyz")).body).toMatchObject({
    status: "unavailable",
    reason: expect.stringContaining("standby, which takes no writes") as unknown,
  });
  await standby.stop();
  const probes = await newlyWaiting("first", 1);
  const sent = writes.send(first);
  const toEnd = await newlyWaiting("first", 2, probes);
  await runStatement(primary.url, "SELECT pg_terminate_backend(unnest($1::int[]))", [toEnd]);
  for (const { status } of await sent) expect(status).toBe(503);
  const target = streamTarget(writes.walletKey);
  const opening = refusedUpgrade(first, target, signedHeaders(books.credentials, target));
  await runStatement(primary.url, "SELECT pg_terminate_backend(unnest($1::int[]))", [
    await newlyWaiting("first", 1, probes),
  ]);
  expect(await opening).toMatchObject({
    status: 503,
    body: { error: expect.stringContaining("could not be confirmed") as string },
  });
  await primary.stop("immediate");
  await standby.start();
  await standby.promote();
  await until(
    "the promoted one to be ready",
    async () => (await third.get("/readyz")).status === 200,
  );
  const { entries } = await listEntries(third, "", writes.ledgerId);
  expect(entries.map(({ journalId }) => journalId)).toEqual([kept.journalId]);
  expect((await readFigures(third, `${writes.ledgerId}:kept`)).balance).toBe("7");
  // They were visible on the primary, and acknowledged to nobody.
  expect((await readFigures(third, writes.walletKey)).balance).toBe("0");
  await third.stop();
});
