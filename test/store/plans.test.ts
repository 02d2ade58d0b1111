// What the statements of the store cost in books of a million lines and a million wallet writes, whatever the tables held
// when they were last analyzed: on the write path the rows that are named and no more, in reads what they ask for. Each
// statement of the store has its cases here, or is named in a list of those that need none.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DaySums } from "../../src/engine/day-sums.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { findShardId, listPlacements, listShardNames } from "../../src/store/citus-nodes.ts";
import { urlOfHost } from "../../src/store/database/connection-url.ts";
import { ShardNames } from "../../src/store/database/shard-names.ts";
import * as journalSpans from "../../src/store/journal-spans.ts";
import { isCluster } from "../support/cluster.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { fill, forgetStatistics, lineCount, steps } from "../support/million-rows.ts";
import {
  costOf,
  ExplainingConnection,
  plannings,
  tablesWalked,
  type PlanNode,
  type Planning,
  TaskCountingConnection,
} from "../support/plans.ts";
import {
  type Case,
  type LimitedCase,
  busyAccount,
  ledgerId,
  limited,
  march,
  marchSpan,
  of,
} from "./plans/cases.ts";
import { lists } from "./plans/lists.ts";
import { backlogs, pages } from "./plans/pages.ts";
import { parts, search, sums } from "./plans/sums.ts";
import { writePath } from "./plans/write-path.ts";

/** Of a part each: what is read in vain for all of them would grow with the square of the journal. */
const readsOfParts = limited(100_000, parts);

/** Planned for their values each time: only connections of the write path keep plans. */
const reads = [
  ...limited(10_000, pages),
  ...limited(15_000, lists),
  ...limited(50_000, backlogs),
  ...limited(250_000, sums),
  ...readsOfParts,
  // Every entry that may pass is looked at, with its lines.
  ...limited(lineCount / 2, [
    search({ ...march, text: "entry 77" }),
    search({ ...march, amountMin: 5n, entryType: "STANDARD" }),
    search({ glAccountCode: busyAccount, text: "entry 77" }),
  ]),
  // Of the first close all that came before its period, for which lines are best read once.
  ...limited(1.2 * lineCount, [of(journalSpans.sumAmounts, ledgerId, marchSpan)]),
];

/** Functions and files of the store whose statements have no cases, and why. */
const free = {
  "audit/administration.ts": "an audit reads each act and each row that acts are about once",
  "audit/day-sums.ts": "an audit adds all entries up again",
  "audit/logs.ts": "an audit reads all checkpoints of a log once",
  countHaltedLogs: "reads a row for each log, once for each scrape of metrics",
  listAllDeliveries: "an operator reads a row for each delivery of all ledgers, which are few",
  countFailingDeliveries: "reads a row for each delivery, once for each scrape of metrics",
  listDueDeliveries: "reads a row for each delivery of all ledgers, which are few",
  hasCheckpoints: "is asked once at the start",
  "audit/journal.ts": "an audit reads all rows of a ledger once",
  "audit/wallet-postings.ts": "an audit reads all rows of a ledger once",
  "audit/wallet-order.ts": "an audit reads all rows of a ledger once",
  "audit/wallets.ts": "an audit reads all rows of a ledger once",
  "backup/": "a backup has whole tables",
  "database/": "the way statements go",
  isLedgerStateLockedByOthers: "surrounds one statement with a savepoint",
  "citus-nodes.ts": "asks Citus, which is not there",
  "distribution.ts": "asks the catalog, and Citus",
  listReachedLedgersWithPending: "asks Citus, which is not there",
  haveLedgersOwnActs: "asks the catalog",
  nameOperator: "sets a setting",
  newestOf: "an operator reads all acts, by time",
  "database-settings.ts": "asks the catalog",
  "organizations.ts": "operators make few",
  "api-keys.ts": "operators make few",
  "backups.ts": "operators make few",
  "commit-probes.ts": "has 64 rows at most",
  listWalletDifferences: "sums all wallets once a minute at most",
};

let database: TestDatabase;
let client: Client;

async function connect(connectionString: string): Promise<Client> {
  const session = new Client({ connectionString });
  await session.connect();
  // As sessions of the service have it.
  await session.query("SET jit = off; SET timezone = 'UTC'; SET ledgerctl.chains_logs = 'on'");
  return session;
}

beforeAll(async () => {
  database = await createTestDatabase();
  client = await connect(database.url);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Carries out the statements of a case. What they write is undone. */
async function carryOut(
  each: Case,
  connection: ExplainingConnection | TaskCountingConnection,
  session = client,
): Promise<void> {
  // A bad plan would go on for hours.
  await session.query("BEGIN; SET LOCAL statement_timeout = '60s'");
  try {
    await each.send(connection);
  } finally {
    await connection.settled();
    await session.query("ROLLBACK");
  }
}

/** How the statements of a case are carried out. */
async function plansOf(each: Case, planning: Planning): Promise<readonly PlanNode[]> {
  const connection = new ExplainingConnection(client, planning);
  await carryOut(each, connection);
  return connection.plans;
}

async function expectCosts(each: Case, planning: Planning, costMax: number): Promise<void> {
  for (const plan of await plansOf(each, planning)) {
    expect(costOf(plan), JSON.stringify(plan)).toBeLessThanOrEqual(costMax);
  }
}

/** What is not about one ledger: lanes don't send it. */
const ofCoordinator = new Set(["insertLedger", "upsertCommitProbe"]);

async function fillUpTo(step: number): Promise<void> {
  await fill(client, steps[step - 1] ?? 0, steps[step] ?? 0);
}

/** What reads all ledgers. */
const ofAllNodes = new Set([
  ...[
    "listLedgers",
    "listLedgersWithPending",
    "listUnsummedLedgers",
    "listLedgersWithNewDays",
    "listWaitingAssets",
  ],
  ...["listUnsignedJournals", "listUnsignedCloses", "listUncosignedLogs"],
  ...["getPostingBacklog", "listAdministrationActs"],
]);

describe.runIf(isCluster)("on a cluster", () => {
  beforeAll(() => fillUpTo(0));

  // Citus does not explain what makes a row on every node.
  const statements = [...writePath, ...reads].filter(({ name }) => name !== "insertLedger");

  test.each(statements.filter(({ name }) => !ofAllNodes.has(name)))(
    "$name goes to one node",
    async (each) => {
      for (const { text, tasks } of await countTasks(each)) {
        expect(Math.max(0, ...tasks), text).toBeLessThanOrEqual(1);
      }
    },
  );

  describe("with the names of its shards on the node that has the ledger", () => {
    let node: Client;
    let shards: ShardNames;

    beforeAll(async () => {
      const reads = new TaskCountingConnection(client);
      const shardId = await findShardId(reads, ledgerId);
      const placements = await listPlacements(reads);
      const place = placements.find((placement) => placement.shardId === shardId);
      if (place === undefined) throw new Error("a ledger has a place");
      const names = (await listShardNames(reads)).filter((name) => name.shardId === shardId);
      shards = new ShardNames(new Map(names.map(({ table, name }) => [table, name])), "");
      node = await connect(urlOfHost(database.url, place));
    });

    afterAll(() => node.end());

    test.each(writePath.filter(({ name }) => !ofCoordinator.has(name)))(
      "$name is PostgreSQL's alone",
      async (each) => {
        const connection = new TaskCountingConnection(node, shards);
        await carryOut(each, connection, node);
        for (const { text, tasks } of connection.taskCounts) expect(tasks, text).toEqual([]);
      },
    );
  });

  test.each(statements.filter(({ name }) => ofAllNodes.has(name)))(
    "$name goes to several nodes",
    async (each) => {
      const counts = (await countTasks(each)).flatMap(({ tasks }) => tasks);
      expect(Math.max(0, ...counts)).toBeGreaterThan(1);
    },
  );
});

/** To how many parts of tables Citus sends the statements of a case. */
async function countTasks(each: Case): Promise<TaskCountingConnection["taskCounts"]> {
  const connection = new TaskCountingConnection(client);
  await carryOut(each, connection);
  return connection.taskCounts;
}

describe.skipIf(isCluster)("in a new ledger, with its first entry", () => {
  beforeAll(() => fillUpTo(0));

  // Which index it is does not matter yet: no plan is kept for long.
  describe.each(plannings)("under %s", (planning) => {
    test.each(writePath)("$name walks no table", async (each) => {
      expect((await plansOf(each, planning)).flatMap(tablesWalked)).toEqual([]);
    });
  });
});

/** A slow machine with other work takes minutes to fill the books. */
const fillingMsMax = 900_000;

/** `maxOf`: what a statement of a read may cost there; null: not tested, since tables are analyzed after a minute or two. */
const states = [
  {
    books: "that were a fiftieth when they were analyzed",
    reach: async () => {
      await fillUpTo(1);
      await client.query("VACUUM ANALYZE");
      await fillUpTo(2);
      await sumEntries();
    },
    // A ledger may be read once, never a row for each other row.
    maxOf: () => lineCount,
  },
  {
    books: "that were never analyzed",
    reach: () => client.query(forgetStatistics),
    maxOf: null,
  },
  {
    books: "that were analyzed",
    reach: () => client.query("VACUUM ANALYZE"),
    maxOf: ({ costMax }: LimitedCase) => costMax,
  },
];

async function sumEntries(): Promise<void> {
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 60_000 });
  const onFailure = (error: unknown) => {
    throw error;
  };
  await new DaySums(pool, { intervalMs: 1, onFailure }).sumAll();
  await pool.end();
}

describe.skipIf(isCluster).each(states)("in full books $books", ({ reach, maxOf }) => {
  beforeAll(async () => {
    await reach();
  }, fillingMsMax);

  describe.each(plannings)("under %s", (planning) => {
    test.each(writePath)("$name reads the rows it names", (each) =>
      expectCosts(each, planning, 2_000),
    );
  });

  test.each(readsOfParts)("$name reads its part", async (each) => {
    for (const plan of await plansOf(each, "force_custom_plan")) {
      const text = JSON.stringify(plan);
      expect(costOf(plan), text).toBeLessThanOrEqual(each.costMax);
      // What it is walked for in vain are no rows.
      expect(text).not.toContain("journal_entries_transaction_date_idx");
    }
  });

  if (maxOf === null) return;
  test.each(reads)("$name reads what it asks for", (each) =>
    expectCosts(each, "force_custom_plan", maxOf(each)),
  );
});

test("each statement of the store has a case or needs none", () => {
  const covered = new Set([...writePath, ...reads].flatMap((each) => each.of));
  const unused = new Set(Object.keys(free));
  const missing = listStoreFunctions().filter(({ file, name }) => {
    const reason = Object.keys(free).find((key) => key === name || file.startsWith(key));
    if (reason !== undefined) unused.delete(reason);
    return reason === undefined && !covered.has(name);
  });
  expect(missing).toEqual([]);
  expect([...unused]).toEqual([]);
});

/** The functions of the store that have statements. */
function listStoreFunctions(): { file: string; name: string }[] {
  const folder = fileURLToPath(new URL("../../src/store", import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const source = readFileSync(join(folder, file), "utf8");
      const functions = source.split(/^(?:export )?(?:async )?function\*? /m).slice(1);
      return functions
        .filter((text) => /\bsql\.(?:type\(|unsafe)|\bcommand`/.test(text))
        .map((text) => ({ file, name: /^\w+/.exec(text)?.[0] ?? "" }));
    });
}
