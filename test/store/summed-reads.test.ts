// What reads with sums by day cost: the pages of the database that they touch, in a long journal whose dates are in no
// order. None grows with the entries that a filter or a period has.
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DaySums } from "../../src/engine/day-sums.ts";
import { SummedJournal } from "../../src/engine/summed-journal.ts";
import { Connection } from "../../src/store/database/connection.ts";
import { parameterText } from "../../src/store/database/parameter-text.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { queryText, type Statement } from "../../src/store/database/statement.ts";
import { addSpan } from "../../src/store/day-sums.ts";
import { everyEntry, type EntryFilter } from "../../src/store/entry-lists.ts";
import { sumTrialBalance } from "../../src/store/journal-spans.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const ledgerId = randomUUID();
const entryCount = 100_000;
const unanalyzedCount = 4_000;

let database: TestDatabase;
let client: Client;
let counting: CountingPool;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  counting = new CountingPool({
    databaseUrl: database.url,
    connectionsMax: 1,
    answerTimeoutMs: 60_000,
  });
  await fill();
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 60_000 });
  const sums = new DaySums(pool, {
    intervalMs: 1,
    spanEntries: 2_000,
    onFailure: (error) => {
      throw error;
    },
  });
  await sums.sumAll();
  await pool.end();
  await client.query("VACUUM ANALYZE");
});

afterAll(async () => {
  await counting.end();
  await client.end();
  await database.drop();
});

async function fill(): Promise<void> {
  await client.query("SET session_replication_role = replica");
  await client.query(
    `INSERT INTO ledgers (ledger_id, organization_id, name, functional_currency, created_at)
     SELECT $1, gen_random_uuid(), 'x', 'USD', now()`,
    [ledgerId],
  );
  await client.query("INSERT INTO journal_heads SELECT $1, $2, now()", [ledgerId, entryCount]);
  await addEntries(1, entryCount);
}

/** A hundred days, of which every account has its part; each span has entries of most days. */
async function addEntries(first: number, last: number): Promise<void> {
  const statements = [
    `INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, transaction_date,
                                  entry_type, metadata, persisted_at, leaf)
     SELECT $1, i, gen_random_uuid(), i::text,
            '2025-01-01Z'::timestamptz + (i * 7919::bigint % 8640000) * interval '1 second',
            'STANDARD', '{}', now(), decode(repeat('00', 32), 'hex')
       FROM generate_series($2::integer, $3::integer) AS i`,
    `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                                transaction_currency, functional_amount, functional_currency)
     SELECT $1, i, line, ((i * 31 + line * 17) % 50)::text, 1 - 2 * line, 'USD', 1 - 2 * line, 'USD'
       FROM generate_series($2::integer, $3::integer) AS i, generate_series(0, 1) AS line`,
  ];
  for (const statement of statements) await client.query(statement, [ledgerId, first, last]);
}

/** Counts the pages of the database that its statements touch; one at a time. */
class CountingPool extends Pool {
  pages = 0;
  comparisons = 0;
  #latest: Promise<unknown> = Promise.resolve();

  protected override async send(statement: Statement): Promise<readonly object[]> {
    const counted = this.#latest.then(() => this.#count(statement));
    this.#latest = counted;
    await counted;
    return super.send(statement);
  }

  async #count(statement: Statement): Promise<void> {
    const { rows } = await client.query<{ "QUERY PLAN": readonly { Plan: Plan }[] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${queryText(statement).text}`,
      statement.values.map(parameterText),
    );
    for (const { Plan } of rows.flatMap((row) => row["QUERY PLAN"])) {
      this.pages += Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
      this.comparisons += comparisonsIn(Plan);
    }
  }
}

async function countPages(read: (journal: SummedJournal) => Promise<unknown>): Promise<number> {
  counting.pages = 0;
  await read(await SummedJournal.read(counting, ledgerId));
  return counting.pages;
}

interface Plan {
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly Plan[];
}

/** Pairs of rows that were compared in vain. */
function comparisonsIn(plan: Plan): number {
  const own = (plan["Rows Removed by Join Filter"] ?? 0) * plan["Actual Loops"];
  return (plan.Plans ?? []).reduce((sum, each) => sum + comparisonsIn(each), own);
}

const month = {
  from: "2025-03-01T00:00:00.000Z" as Timestamp,
  to: "2025-04-01T00:00:00.000Z" as Timestamp,
};
const list = (filter: Partial<EntryFilter>, place: { offset?: number; afterSequence?: number }) => {
  const page = { afterSequence: 0, offset: 0, limit: 100, bytesMax: 1_000_000, ...place };
  return async (journal: SummedJournal) => {
    const { entries } = await journal.listEntries({ ...everyEntry, ...filter }, page);
    expect(entries).toHaveLength(100);
    await journal.countEntries({ ...everyEntry, ...filter });
  };
};

/** Of the entries and lines themselves there are more than 3,300; of a hundred entries, each looked up, about 1,000. */
const pagesMax = 2_200;

const period = { startsAt: month.from, endsAt: month.to };
const reads: [string, (journal: SummedJournal) => Promise<unknown>][] = [
  ["the first page of a month", list(month, {})],
  ["a page of a month, by offset", list(month, { offset: 20_000 })],
  ["a page of a month, after a sequence", list(month, { afterSequence: 70_000 })],
  ["the first page of an account", list({ glAccountCode: "7" }, {})],
  ["a page of an account, by offset", list({ glAccountCode: "7" }, { offset: 3_000 })],
  [
    "a page of an account, after a sequence",
    list({ glAccountCode: "7" }, { afterSequence: 70_000 }),
  ],
  [
    "a page of an account in a month, after a sequence",
    list({ ...month, glAccountCode: "7" }, { afterSequence: 50_000 }),
  ],
  ["a trial balance", (journal) => journal.sumTrialBalance(period)],
  ["entries by month", (journal) => journal.countByMonth([{ ...period, startsAt: null }])],
];

test.each(reads)("%s touches few pages", async (_, read) => {
  expect(await countPages(read)).toBeLessThan(pagesMax);
});

test("with entries that no statistics know of yet, nothing compares every line with every entry", async () => {
  await addEntries(entryCount + 1, entryCount + unanalyzedCount);
  const lastSequence = entryCount + unanalyzedCount;
  await client.query("UPDATE journal_heads SET last_sequence = $1", [lastSequence]);
  counting.comparisons = 0;
  for (const [, read] of reads) await countPages(read);
  expect(counting.comparisons).toBeLessThan(entryCount);
  let comparisons = 0;
  class ExplainingConnection extends Connection {
    protected override async send(statement: Statement): Promise<readonly object[]> {
      const { rows } = await client.query<{ "QUERY PLAN": readonly { Plan: Plan }[] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${queryText(statement).text}`,
        statement.values.map(parameterText),
      );
      for (const { Plan } of rows.flatMap((row) => row["QUERY PLAN"])) {
        comparisons += comparisonsIn(Plan);
      }
      return [];
    }

    override transaction<Result>(work: (part: Connection) => Promise<Result>): Promise<Result> {
      return work(this);
    }
  }
  const span = { afterSequence: entryCount, upToSequence: lastSequence };
  await client.query("BEGIN");
  await addSpan(new ExplainingConnection(), ledgerId, span);
  await client.query("ROLLBACK");
  expect(comparisons).toBeLessThan(entryCount);
});

test("entries themselves have many more pages", async () => {
  const span = { ...period, afterSequence: 0, upToSequence: entryCount };
  const pages = await countPages(() => sumTrialBalance(counting, ledgerId, span));
  expect(pages).toBeGreaterThan(1.5 * pagesMax);
});
