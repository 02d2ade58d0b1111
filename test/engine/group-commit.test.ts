// The group commit engine by itself, with a work of the tests' own over real connections: numbers are
// written to a table, lane by lane, each lane under the lock of its row.
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { Refusal } from "../../src/core/errors.ts";
import { GroupCommit } from "../../src/engine/group-commit.ts";
import type { GroupCommitOptions, LaneWork, Recording } from "../../src/engine/lane-work.ts";
import type { Tally } from "../../src/engine/write-counts.ts";
import type { Connection } from "../../src/store/database/connection.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { command, sql } from "../../src/store/database/statement.ts";
import { openCuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";
import { clientCount, inTurns, writeInClosedLoop, writesOfEach } from "../support/closed-loop.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

let database: TestDatabase;
let proxy: CuttingProxy;
let client: Client;
let connections: Pool;
/** The batches that were planned, in order, attempts included. */
let planned: number[][] = [];
/** What the engine told of itself. */
let failures: unknown[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await openCuttingProxy(database.url);
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`
    CREATE TABLE lanes (lane text PRIMARY KEY);
    CREATE TABLE numbers (
      lane text NOT NULL,
      number integer NOT NULL,
      batch uuid NOT NULL,
      CONSTRAINT numbers_small CHECK (number < 1000)
    )`);
  connections = new Pool({
    databaseUrl: proxy.url,
    connectionsMax: 4,
    lockTimeoutMs: 200,
    answerTimeoutMs: 5_000,
  });
});

afterAll(async () => {
  await connections.end();
  await client.end();
  await proxy.close();
  await database.drop();
});

beforeEach(async () => {
  planned = [];
  failures = [];
  await client.query("TRUNCATE numbers, lanes");
});

/** Writes the numbers; one from 1000 on breaks a constraint, and a negative one is refused. */
const work: LaneWork<number, string> = {
  isLockedByOthers: () => Promise.resolve(false),
  async plan(transaction, lane, items) {
    planned.push([...items]);
    await lockLane(transaction, lane);
    const batch = crypto.randomUUID();
    const numbers = items.filter((number) => number >= 0);
    return {
      outcomes: items.map((number) =>
        number < 0
          ? { refusal: new Refusal("accountNotFound", `no ${number}`) }
          : { reply: `${lane}/${number}` },
      ),
      recording: numbers.length === 0 ? null : recordingOf(lane, numbers, batch),
    };
  },
};

function recordingOf(lane: string, numbers: readonly number[], batch: string): Recording {
  return {
    send: (transaction) => [
      transaction.run(command`
        INSERT INTO numbers (lane, number, batch)
        SELECT ${lane}, number, ${batch}::uuid
          FROM unnest(${sql.array(numbers, "int4")}) AS number`),
    ],
    lock: (transaction) => lockLane(transaction, lane),
    isCommitted: async (transaction) => {
      const rows = await transaction.any(sql.type(z.object({ number: z.number() }))`
        SELECT number FROM numbers WHERE batch = ${batch} LIMIT 1`);
      return rows.length > 0;
    },
    writeBarrier: (transaction) => lockLane(transaction, lane),
  };
}

async function lockLane(transaction: Connection, lane: string): Promise<void> {
  await transaction.run(command`
    INSERT INTO lanes (lane) VALUES (${lane})
    ON CONFLICT (lane) DO UPDATE SET lane = EXCLUDED.lane`);
}

function engine(
  more: Partial<GroupCommitOptions> = {},
  laneWork = work,
  tally: Tally<number, string> | null = null,
  through = connections,
): GroupCommit<number, string> {
  const options = {
    batchItemsMax: 100,
    batchBytesMax: 10_000,
    queueItemsMax: 1_000,
    queueBytesMax: 100_000,
    laneItemsMax: 1_000,
    laneBytesMax: 100_000,
    laneWaitMsMax: 5_000,
    largeBatchItems: 1_000,
    deadlineMs: 5_000,
    nowMs: () => performance.now(),
    onFailure: (error: unknown) => failures.push(error),
    ...more,
  };
  return new GroupCommit(through, laneWork, options, tally);
}

async function storedNumbers(lane = "a"): Promise<number[]> {
  const { rows } = await client.query<{ number: number }>(
    "SELECT number FROM numbers WHERE lane = $1 ORDER BY number",
    [lane],
  );
  return rows.map(({ number }) => number);
}

/** What became of each: its reply, the problem it was refused with, or the name of its error. */
async function outcomes(promises: readonly Promise<string>[]): Promise<string[]> {
  return (await Promise.allSettled(promises)).map((result) => {
    if (result.status === "fulfilled") return result.value;
    const error: unknown = result.reason;
    return error instanceof Refusal
      ? error.problem
      : `bug: ${(error as { code?: string }).code ?? "?"}`;
  });
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("batches", () => {
  test("hold what was submitted in one tick, in order, up to their bounds", async () => {
    const lanes = engine({ batchItemsMax: 4 });
    await Promise.all(range(10).map((number) => lanes.submit("a", number, 1)));
    expect(planned).toEqual([range(4), [4, 5, 6, 7], [8, 9]]);
    expect(await storedNumbers()).toEqual(range(10));
  });

  test("and each item are told to a tally, once; what is answered waits no more", async () => {
    const told: string[] = [];
    const tally: Tally<number, string> = {
      replied: (item, reply) => told.push(`${item} ${reply}`),
      rejected: (item, error) => told.push(`${item} ${(error as Refusal).problem}`),
      committed: (writes, durationMs) => told.push(`${writes} in ${Math.sign(durationMs)}`),
    };
    const lanes = engine({ queueItemsMax: 3 }, work, tally);
    const answers = [1, -2, 3, 4].map((number) => lanes.submit("a", number, 5));
    expect(lanes.state).toEqual({ writes: 3, bytes: 15, retries: 0 });
    await outcomes(answers);
    expect(told).toEqual(["4 unavailable", "3 in 1", "1 a/1", "-2 accountNotFound", "3 a/3"]);
    await lanes.drain();
    expect(lanes.state).toEqual({ writes: 0, bytes: 0, retries: 0 });
  });

  test("are bounded in bytes, but one large item makes a batch of its own", async () => {
    const lanes = engine({ batchBytesMax: 100 });
    const sizes = [60, 40, 1, 500, 99, 1];
    await Promise.all(sizes.map((bytes, number) => lanes.submit("a", number, bytes)));
    expect(planned).toEqual([[0, 1], [2], [3], [4, 5]]);
  });

  test("gather while the one before them is under way", async () => {
    const lanes = engine();
    const first = lanes.submit("a", 0, 1);
    await new Promise((resolve) => setImmediate(resolve));
    const others = range(20).map((number) => lanes.submit("a", number + 1, 1));
    await Promise.all([first, ...others]);
    expect(planned).toEqual([[0], range(20).map((number) => number + 1)]);
  });

  test("answer each item with its own outcome", async () => {
    const lanes = engine();
    expect(await outcomes([5, -1, 6].map((number) => lanes.submit("a", number, 1)))).toEqual([
      "a/5",
      "accountNotFound",
      "a/6",
    ]);
    expect(await outcomes([lanes.submit("a", -1, 1)])).toEqual(["accountNotFound"]);
    expect(await storedNumbers()).toEqual([5, 6]);
  });
});

describe("the batch behind one that is being committed", () => {
  test("is planned before that one is answered", async () => {
    const events: string[] = [];
    const noting: typeof work = {
      ...work,
      plan: (transaction, lane, items, looksUpKeys) => {
        events.push(`planned ${items.join(" and ")}`);
        return work.plan(transaction, lane, items, looksUpKeys);
      },
    };
    const lanes = engine({ batchItemsMax: 2 }, noting);
    const note = (reply: string) => events.push(`answered ${reply}`);
    await Promise.all(range(4).map((number) => lanes.submit("a", number, 1).then(note)));
    expect(events).toEqual([
      "planned 0 and 1",
      "planned 2 and 3",
      ...range(4).map((number) => `answered a/${number}`),
    ]);
  });

  test("waits for nobody else's sake: another lane that wants the connection has it first", async () => {
    const single = new Pool({
      databaseUrl: proxy.url,
      connectionsMax: 1,
      lockTimeoutMs: 200,
      answerTimeoutMs: 5_000,
    });
    const lanes = engine({ batchItemsMax: 1 }, work, null, single);
    const answers = ["a", "b"].flatMap((lane) => range(3).map((n) => lanes.submit(lane, n, 1)));
    await Promise.all(answers);
    await single.end();
    expect(planned.map(([number]) => number)).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test("is planned again behind it when that one fails", async () => {
    const lanes = engine({ batchItemsMax: 3 });
    const items = [0, 2_000, 1, 3, 4, 5];
    const told = await outcomes(items.map((number) => lanes.submit("a", number, 1)));
    expect(told).toEqual(items.map((number) => (number === 2_000 ? "bug: 23514" : `a/${number}`)));
    expect(planned.slice(0, 2)).toEqual([
      [0, 2_000, 1],
      [3, 4, 5],
    ]);
    expect(planned.at(-1)).toEqual([3, 4, 5]);
    expect(planned.filter(([number]) => number === 3)).toHaveLength(2);
    expect(await storedNumbers()).toEqual([0, 1, 3, 4, 5]);
    expect(lanes.state).toMatchObject({ writes: 0, bytes: 0 });
  });

  test.each(["beforeCommit", "afterCommit", "withCommit"] as const)(
    "is written once, in its turn, when their connection is cut: %s",
    async (point) => {
      const lanes = engine({ batchItemsMax: 2 });
      const order: string[] = [];
      const cut = proxy.cutNext(point);
      const answers = range(6).map((number) => lanes.submit("a", number, 1));
      await Promise.all(answers.map(async (answer) => order.push(await answer)));
      await cut;
      expect(order).toEqual(range(6).map((number) => `a/${number}`));
      expect(await storedNumbers()).toEqual(range(6));
      expect(lanes.state).toMatchObject({ writes: 0, bytes: 0 });
    },
  );
});

describe("clients that write again once they are answered", () => {
  const shared: typeof work = { ...work, isLockedByOthers: () => Promise.resolve(true) };
  /** Batches of one client and of the others in turn, until the second look has seen others and 32 batches more have come. */
  const turnsBeforeWait = 33;
  const largeBytes = 64 * 1024;
  const roomy = { batchBytesMax: 1e6, laneBytesMax: 1e6, queueBytesMax: 1e6 };

  beforeEach(async () => {
    connections.giveBack(await connections.borrow());
  });

  async function batchSizes(
    lanes: GroupCommit<number, string>,
    bytes = 1,
  ): Promise<readonly number[]> {
    planned = [];
    await writeInClosedLoop((client, number) =>
      lanes.submit("a", client * writesOfEach + number, bytes),
    );
    return planned.map(({ length }) => length);
  }

  test("take turns, where nobody else writes", async () => {
    const lanes = engine(roomy);
    expect(await batchSizes(lanes)).toEqual(inTurns(writesOfEach));
    await lanes.drain();
    expect(await storedNumbers()).toEqual(range(clientCount * writesOfEach));
  });

  test("are waited for where others write, too; from the first batch on where that is known", async () => {
    const lanes = engine(roomy, shared);
    const together = new Array<number>(writesOfEach - turnsBeforeWait).fill(clientCount);
    expect(await batchSizes(lanes)).toEqual([...inTurns(turnsBeforeWait), ...together]);
    await until("the lane is idle", () => connections.usage.busy === 0);
    const later = new Array<number>(writesOfEach - 1).fill(clientCount);
    expect(await batchSizes(lanes)).toEqual([1, ...later, clientCount - 1]);
    await lanes.drain();
  });

  test("are not waited for with writes as large as these", async () => {
    const lanes = engine(roomy, shared);
    expect(await batchSizes(lanes, largeBytes)).toEqual(inTurns(writesOfEach));
    await lanes.drain();
  });
});

describe("an item that breaks its batch", () => {
  test("fails alone; its neighbours get in, once each", async () => {
    const lanes = engine();
    const items = range(9).map((number) => (number === 6 ? 6_000 : number));
    const told = await outcomes(items.map((number) => lanes.submit("a", number, 1)));
    // 23514: the check constraint.
    expect(told).toEqual(items.map((number) => (number === 6_000 ? "bug: 23514" : `a/${number}`)));
    expect(await storedNumbers()).toEqual([0, 1, 2, 3, 4, 5, 7, 8]);
  });

  test("fails alone among others like it", async () => {
    const lanes = engine();
    const items = [2_000, 1, 2_001, 2_002, 4, 2_003];
    const told = await outcomes(items.map((number) => lanes.submit("a", number, 1)));
    expect(told.filter((outcome) => outcome.startsWith("bug"))).toHaveLength(4);
    expect(await storedNumbers()).toEqual([1, 4]);
  });

  test("does not stop its lane", async () => {
    const lanes = engine();
    await outcomes([lanes.submit("a", 2_000, 1)]);
    expect(await lanes.submit("a", 1, 1)).toBe("a/1");
  });
});

describe("the queue", () => {
  test("is bounded in items, and refuses at once what is too much", async () => {
    const lanes = engine({ queueItemsMax: 3 });
    const told = await outcomes(range(5).map((number) => lanes.submit("a", number, 1)));
    expect(told).toEqual(["a/0", "a/1", "a/2", "unavailable", "unavailable"]);
    expect(await lanes.submit("a", 9, 1)).toBe("a/9");
    expect(await storedNumbers()).toEqual([0, 1, 2, 9]);
  });

  test("is bounded in bytes, over all lanes together", async () => {
    const lanes = engine({ queueBytesMax: 100 });
    const told = await outcomes([
      lanes.submit("a", 0, 60),
      lanes.submit("b", 1, 40),
      lanes.submit("c", 2, 1),
    ]);
    expect(told).toEqual(["a/0", "b/1", "unavailable"]);
    expect(await lanes.submit("c", 2, 100)).toBe("c/2");
  });
});

describe("the share of one lane", () => {
  /** Runs `act` while another session holds the row of lane a, so that nothing in that lane is answered. */
  async function whileHeld(act: () => Promise<void>): Promise<void> {
    await engine().submit("a", 0, 1);
    await client.query("BEGIN");
    await client.query("SELECT FROM lanes WHERE lane = 'a' FOR UPDATE");
    try {
      await act();
    } finally {
      await client.query("COMMIT");
    }
  }

  test.each([
    ["items", { queueItemsMax: 8, laneItemsMax: 4 }, 1],
    ["bytes", { queueBytesMax: 800, laneBytesMax: 400 }, 100],
  ])(
    "is bounded in %s: a stuck lane that is full leaves the others room",
    async (_, max, bytes) => {
      const lanes = engine({ ...max, deadlineMs: 60_000 });
      const more = [11, 12];
      const told: string[] = [];
      let stuck: Promise<string>[] = [];
      await whileHeld(async () => {
        stuck = range(4).map((number) => lanes.submit("a", number + 1, bytes));
        for (const number of more)
          told.push(...(await outcomes([lanes.submit("a", number, bytes)])));
        for (const number of range(6))
          expect(await lanes.submit("b", number, bytes)).toBe(`b/${number}`);
      });
      expect(told).toEqual(["unavailable", "unavailable"]);
      expect(await outcomes(stuck)).toEqual(["a/1", "a/2", "a/3", "a/4"]);
      expect(await lanes.submit("a", 9, bytes)).toBe("a/9");
      expect(await storedNumbers()).toEqual([0, 1, 2, 3, 4, 9]);
    },
  );

  test("is taken up by no more once its first has waited too long", async () => {
    const lanes = engine({ batchItemsMax: 1, laneWaitMsMax: 300, deadlineMs: 60_000 });
    let stuck: Promise<string>[] = [];
    await whileHeld(async () => {
      stuck = [lanes.submit("a", 1, 1)];
      // The first is under way by then; two wait behind it.
      await new Promise((resolve) => setImmediate(resolve));
      stuck.push(lanes.submit("a", 2, 1), lanes.submit("a", 3, 1));
      expect(lanes.isFull("a")).toBe(false);
      await expect.poll(() => lanes.isFull("a")).toBe(true);
      expect(await outcomes([lanes.submit("a", 4, 1)])).toEqual(["unavailable"]);
      expect(lanes.isFull("b")).toBe(false);
      expect(await lanes.submit("b", 5, 1)).toBe("b/5");
    });
    expect(await outcomes(stuck)).toEqual(["a/1", "a/2", "a/3"]);
    expect(lanes.isFull("a")).toBe(false);
    expect(await storedNumbers()).toEqual([0, 1, 2, 3]);
  });

  test("holds any one item, as long as the whole queue does", async () => {
    const lanes = engine({ queueBytesMax: 400, laneBytesMax: 100 });
    const told = await outcomes([lanes.submit("a", 0, 300), lanes.submit("a", 1, 1)]);
    expect(told).toEqual(["a/0", "unavailable"]);
  });
});

describe("a callback that throws once a batch is committed", () => {
  const throwing: typeof work = {
    ...work,
    async plan(...context) {
      const plan = await work.plan(...context);
      return {
        ...plan,
        onCommitted: () => {
          throw new Error("nobody listens");
        },
      };
    },
  };

  test.each([null, "afterCommit"] as const)(
    "is told of, and costs neither answers nor a second write (cut: %s)",
    async (point) => {
      const lanes = engine({}, throwing);
      const cut = point === null ? null : proxy.cutNext(point);
      const told = await outcomes([1, -1, 2].map((number) => lanes.submit("a", number, 1)));
      await cut;
      expect(told).toEqual(["a/1", "accountNotFound", "a/2"]);
      expect(failures).toEqual([new Error("nobody listens")]);
      expect(await storedNumbers()).toEqual([1, 2]);
      expect(planned).toHaveLength(1);
    },
  );
});

describe("draining", () => {
  test("answers all that was accepted and accepts nothing more", async () => {
    const lanes = engine({ batchItemsMax: 2 });
    const accepted = range(7).map((number) =>
      lanes.submit(number % 2 === 0 ? "a" : "b", number, 1),
    );
    let isDrained = false;
    const drained = lanes.drain().then(() => (isDrained = true));
    expect(await outcomes([lanes.submit("a", 99, 1)])).toEqual(["unavailable"]);
    expect(isDrained).toBe(false);
    await drained;
    expect(await outcomes(accepted)).toEqual(
      range(7).map((n) => `${n % 2 === 0 ? "a" : "b"}/${n}`),
    );
    expect([...(await storedNumbers("a")), ...(await storedNumbers("b"))].sort()).toEqual(range(7));
  });

  test("of an idle engine is done at once", async () => {
    await expect(engine().drain()).resolves.toBeUndefined();
  });
});

describe("a lane whose row another session holds", () => {
  test("holds up no other lane, and goes on when the row is free", async () => {
    const lanes = engine();
    await lanes.submit("a", 0, 1);
    await client.query("BEGIN");
    await client.query("SELECT FROM lanes WHERE lane = 'a' FOR UPDATE");
    let isAnswered = false;
    const held = lanes.submit("a", 1, 1).finally(() => (isAnswered = true));
    expect(await Promise.all(range(30).map((n) => lanes.submit(`lane ${n}`, n, 1)))).toHaveLength(
      30,
    );
    expect(isAnswered).toBe(false);
    await client.query("COMMIT");
    expect(await held).toBe("a/1");
  });

  test("times out at its deadline, and nothing of it is written", async () => {
    const lanes = engine({ deadlineMs: 300 });
    await engine().submit("a", 0, 1);
    await client.query("BEGIN");
    await client.query("SELECT FROM lanes WHERE lane = 'a' FOR UPDATE");
    expect(await outcomes([lanes.submit("a", 1, 1)])).toEqual(["unavailable"]);
    await client.query("COMMIT");
    expect(await storedNumbers()).toEqual([0]);
  });
});

describe("a COMMIT whose answer is lost", () => {
  test.each(["beforeCommit", "afterCommit", "withCommit"] as const)(
    "is looked up, and nothing is written twice: cut %s",
    async (point) => {
      const lanes = engine();
      const cut = proxy.cutNext(point);
      const told = await outcomes(range(5).map((number) => lanes.submit("a", number, 1)));
      await cut;
      expect(told).toEqual(range(5).map((number) => `a/${number}`));
      expect(await storedNumbers()).toEqual(range(5));
    },
  );

  test("is found without the lock, which the batch behind it may hold", async () => {
    const lanes = engine(
      {},
      {
        ...work,
        async plan(...context) {
          const plan = await work.plan(...context);
          const lock = () => Promise.reject(new Error("the lock can't be had"));
          return { ...plan, recording: plan.recording && { ...plan.recording, lock } };
        },
      },
    );
    const cut = proxy.cutNext("afterCommit");
    expect(await outcomes([lanes.submit("a", 7, 1)])).toEqual(["a/7"]);
    await cut;
  });

  test("leaves the outcome unknown only when it can't be learned in time", async () => {
    const lanes = engine({ deadlineMs: 300 });
    const cut = proxy.cutNext("afterCommit").then(() => proxy.goAway());
    expect(await outcomes([lanes.submit("a", 7, 1)])).toEqual(["outcomeUnknown"]);
    await cut;
    await proxy.comeBack();
    expect(await storedNumbers()).toEqual([7]);
    expect(await lanes.submit("a", 8, 1)).toBe("a/8");
  });
});

describe("a COMMIT that is answered with an error", () => {
  // Disk full, I/O error, panic, internal error; and one that means nothing of the kind.
  const sqlStates = ["53100", "58030", "57P02", "XX000", "P0001"];

  test.each(sqlStates)(
    "is looked up, and not written twice when it was done: %s",
    async (state) => {
      const lanes = engine();
      const failed = proxy.failNext(state);
      const told = await outcomes(range(5).map((number) => lanes.submit("a", number, 1)));
      await failed;
      expect(told).toEqual(range(5).map((number) => `a/${number}`));
      expect(await storedNumbers()).toEqual(range(5));
      expect(planned).toHaveLength(1);
    },
  );

  describe("and is undone", () => {
    beforeAll(async () => {
      await client.query(`
        CREATE TABLE faults (number integer PRIMARY KEY, sql_state text NOT NULL);
        CREATE SEQUENCE faults_seen;
        CREATE FUNCTION fail_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          fault faults;
        BEGIN
          SELECT * INTO fault FROM faults WHERE number = NEW.number;
          -- A sequence is not rolled back: a fault for even numbers comes once, for odd ones always.
          IF FOUND AND (fault.number % 2 = 1 OR nextval('faults_seen') = 1) THEN
            RAISE EXCEPTION 'told to fail' USING ERRCODE = fault.sql_state;
          END IF;
          RETURN NULL;
        END
        $$;
        CREATE CONSTRAINT TRIGGER numbers_fail AFTER INSERT ON numbers
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_at_commit()`);
    });
    afterAll(() => client.query("DROP TRIGGER numbers_fail ON numbers; DROP TABLE faults CASCADE"));
    beforeEach(() => client.query("TRUNCATE faults; ALTER SEQUENCE faults_seen RESTART"));
    const failOn = (number: number, sqlState: string) =>
      client.query("INSERT INTO faults VALUES ($1, $2)", [number, sqlState]);

    test.each(sqlStates)("is tried again, and then written once: %s", async (state) => {
      await failOn(2, state);
      const lanes = engine();
      const told = await outcomes(range(5).map((number) => lanes.submit("a", number, 1)));
      expect(told).toEqual(range(5).map((number) => `a/${number}`));
      expect(await storedNumbers()).toEqual(range(5));
      // What is the matter with the database itself is told, though no caller is told.
      expect(failures.length > 0).toBe(/^(53|58|XX)/.test(state));
    });

    test("over and over for the sake of one item costs its neighbours nothing", async () => {
      await failOn(3, "P0001");
      const lanes = engine();
      const told = await outcomes(range(5).map((number) => lanes.submit("a", number, 1)));
      expect(told).toEqual(range(5).map((n) => (n === 3 ? told[3] : `a/${n}`)));
      expect(told[3]).toMatch(/^bug/);
      expect(await storedNumbers()).toEqual([0, 1, 2, 4]);
    });

    test("until its time is over is told as certainly not written", async () => {
      await failOn(3, "53100");
      expect(await outcomes([engine({ deadlineMs: 500 }).submit("a", 3, 1)])).toEqual([
        "unavailable",
      ]);
      expect(await storedNumbers()).toEqual([]);
    });
  });
});
