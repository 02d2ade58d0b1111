// Large batches that lock and read on a second connection while the one before them is recorded.
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GroupCommit } from "../../src/engine/group-commit.ts";
import type { LaneWork } from "../../src/engine/lane-work.ts";
import { Wallets } from "../../src/engine/wallets.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { command, sql } from "../../src/store/database/statement.ts";
import { createBooks, type TestBooks } from "../support/service.ts";
import { until } from "../support/until.ts";
import { laneLimits } from "../support/wallet-batches.ts";

const limits = { ...laneLimits, batchItemsMax: 3, largeBatchItems: 3 };

let books: TestBooks;
let client: Client;
/** Is in no transaction, in which sessions would be shown as they were at its beginning. */
let observer: Client;
let connections: Pool;

beforeAll(async () => {
  books = await createBooks();
  client = new Client({ connectionString: books.databaseUrl });
  observer = new Client({ connectionString: books.databaseUrl });
  await Promise.all([client.connect(), observer.connect()]);
  await client.query(`
    CREATE TABLE numbers (number integer PRIMARY KEY);
    CREATE TABLE recorded (number integer CHECK (number < 1000))`);
  connections = new Pool({
    databaseUrl: books.databaseUrl,
    connectionsMax: 4,
    lockTimeoutMs: 10_000,
    answerTimeoutMs: 20_000,
  });
});

/** Two are there when a lane asks for the second one. */
beforeEach(async () => {
  const opened = await Promise.all([connections.borrow(), connections.borrow()]);
  for (const connection of opened) connections.giveBack(connection);
});

afterAll(async () => {
  await connections.end();
  await client.end();
  await observer.end();
  await books.drop();
});

/** Looks until so many sessions wait for a lock. */
const untilWaiting = (count: number) =>
  until(`${count} sessions that wait`, async () => (await countWaiting()) === count);

async function countWaiting(): Promise<number> {
  const { rows } = await observer.query<{ count: number }>(
    `SELECT count(*)::integer FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

const idleInTransaction = `FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'idle in transaction'`;

describe("numbers, each under the lock of its row, that are recorded while a table is not locked", () => {
  /** What happened, in the order in which this process learned of it. */
  let events: string[] = [];

  beforeEach(async () => {
    events = [];
    await client.query(
      "TRUNCATE recorded, numbers; INSERT INTO numbers SELECT generate_series(0, 2000)",
    );
    await client.query("BEGIN; LOCK TABLE recorded IN SHARE MODE");
  });

  const work: LaneWork<number, number> = {
    isLockedByOthers: () => Promise.resolve(false),
    async plan(transaction, _laneKey, items) {
      const numbers = sql.array([...items], "int4");
      const name = items.join();
      await transaction.run(command`
        UPDATE numbers SET number = number WHERE number = ANY (${numbers})`);
      events.push(`locked ${name}`);
      return {
        locksAllItChanges: true,
        outcomes: items.map((reply) => ({ reply })),
        recording: {
          send: (recording) => {
            const inserted = recording.run(command`
              INSERT INTO recorded SELECT * FROM unnest(${numbers})`);
            inserted.then(
              () => events.push(`recorded ${name}`),
              () => events.push(`failed ${name}`),
            );
            return [inserted];
          },
          lock: () => Promise.resolve(),
          isCommitted: () => {
            events.push(`looked up ${name}`);
            return Promise.resolve(false);
          },
          writeBarrier: () => Promise.resolve(),
        },
      };
    },
  };

  /** Submits a batch, and another one while that waits to be recorded. */
  async function submit(first: readonly number[], second: readonly number[]) {
    const lanes = new GroupCommit<number, number>(connections, work, limits);
    const answersTo = (batch: readonly number[]) =>
      Promise.allSettled(batch.map((number) => lanes.submit("a", number, 1)));
    const answers = [answersTo(first)];
    await untilWaiting(1);
    return [...answers, answersTo(second)];
  }

  const untilEvent = (event: string) => until(event, () => events.includes(event));

  const listRecorded = async () => {
    const { rows } = await client.query<{ number: number }>("SELECT number FROM recorded");
    return rows.map(({ number }) => number);
  };

  test("are locked beside the batch that is recorded, and recorded behind it", async () => {
    const answers = await submit([1, 2, 3], [4, 5, 6]);
    await untilEvent("locked 4,5,6");
    expect(events).toEqual(["locked 1,2,3", "locked 4,5,6"]);
    await client.query("COMMIT");
    await Promise.all(answers);
    expect(events.slice(2)).toEqual(["recorded 1,2,3", "recorded 4,5,6"]);
    expect(await listRecorded()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("wait for the COMMIT of that one where they have a row in common", async () => {
    const answers = await submit([1, 2, 3], [3, 4, 5]);
    await untilWaiting(2);
    await client.query("COMMIT");
    await Promise.all(answers);
    expect(events).toEqual(["locked 1,2,3", "recorded 1,2,3", "locked 3,4,5", "recorded 3,4,5"]);
  });

  test("are known not to be written when their connection is lost meanwhile", async () => {
    const answers = await submit([1, 2, 3], [4, 5, 6]);
    await untilEvent("locked 4,5,6");
    // That of the test itself shows as active.
    await client.query(`SELECT pg_terminate_backend(pid) ${idleInTransaction}`);
    // Once the database has it no more, this process has been told.
    await until("its session has ended", async () => {
      const { rows } = await observer.query(`SELECT ${idleInTransaction} AND pid <> $1`, [
        Reflect.get(client, "processID"),
      ]);
      return rows.length === 0;
    });
    await client.query("COMMIT");
    await Promise.all(answers);
    expect(events.slice(2)).toEqual(["recorded 1,2,3", "locked 4,5,6", "recorded 4,5,6"]);
  });

  test("are locked and recorded anew when that one fails, behind what becomes of it", async () => {
    const answers = await submit([1, 1000, 2], [4, 5, 6]);
    await untilEvent("locked 4,5,6");
    await client.query("COMMIT");
    const [first, second] = await Promise.all(answers);
    expect(first?.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(second?.map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
    expect(events.slice(0, 3)).toEqual(["locked 1,1000,2", "locked 4,5,6", "failed 1,1000,2"]);
    expect(events.slice(-2)).toEqual(["locked 4,5,6", "recorded 4,5,6"]);
    expect(await listRecorded()).toEqual([1, 2, 4, 5, 6]);
  });
});

test("what is taken out of wallets that the batch before makes is decided behind that batch", async () => {
  const { ledgerId, organizationId, databaseUrl } = books;
  const ledger = { ledgerId, organizationId, functionalCurrency: "USD" };
  const wallets = new Wallets(connections, limits, () => undefined);
  const write = (keys: readonly string[], type: "credit" | "debit") =>
    Promise.all(
      keys.map((callerKey) =>
        wallets.write(
          ledger,
          { type, callerKey, amount: 5n, assetCode: "USD", externalId: null, metadata: null },
          1,
        ),
      ),
    );
  const old = ["a", "b", "c"];
  const made = ["d", "e", "f"];
  await write(old, "credit");

  // One holds up the batch that the second connection is borrowed for, the other the batch that makes wallets.
  const other = new Client({ connectionString: databaseUrl });
  await other.connect();
  await client.query("BEGIN; LOCK TABLE wallet_writes IN SHARE MODE");
  const first = write(old, "debit");
  await untilWaiting(1);
  const isLocked = other.query("BEGIN; LOCK TABLE wallet_writes IN SHARE MODE");
  await untilWaiting(2);
  const second = write(made, "credit");
  const third = write(made, "debit");
  await client.query("COMMIT");
  await isLocked;
  await untilWaiting(1);
  await other.query("COMMIT");
  await other.end();

  const replies = await Promise.all([first, second, third]);
  expect(replies.flat().map(({ status }) => status)).toEqual(Array(9).fill("accepted"));
  await wallets.lanes.drain();
});
