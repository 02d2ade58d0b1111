// What a close reads of a long journal: in parts, which are dense or have few entries of the period. It has to be what
// reading each entry gives.
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TrialBalance } from "../../src/core/close.ts";
import type { Period } from "../../src/core/period.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { rootOf } from "../../src/core/merkle.ts";
import { beginClose, extend } from "../../src/engine/prepared-close.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const ledgerId = randomUUID();
const entryCount = 60_000;

interface EntryRow {
  readonly sequence: string;
  readonly date: Timestamp;
  readonly leaf: Buffer;
  readonly lines: readonly { glAccountCode: string; amount: number }[];
}

let database: TestDatabase;
let client: Client;
let pool: Pool;
let entries: readonly EntryRow[];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 60_000 });
  await client.query("SET session_replication_role = replica; SET timezone = 'UTC'");
  // January has one entry early on, all but a few of the 20,000 in the middle, and every fiftieth of the last 20,000.
  await client.query(
    `INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, transaction_date,
                                  entry_type, metadata, persisted_at, leaf)
     SELECT $1, i, gen_random_uuid(), i::text,
            CASE WHEN i = 5 THEN '2026-01-31T23:59:59.999Z'
                 WHEN i <= 20000 THEN '2025-12-01Z'::timestamptz + i * interval '1 minute'
                 WHEN i <= 40000 AND i % 997 <> 0 THEN '2026-01-01Z'::timestamptz + i * interval '1 minute'
                 WHEN i % 50 = 0 THEN '2026-01-01T00:00:00Z'
                 ELSE '2026-02-01Z'::timestamptz END,
            'STANDARD', '{}', now(), sha256(i::text::bytea)
       FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, entryCount],
  );
  // Every seventh entry has an account twice.
  await client.query(
    `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                                transaction_currency, functional_amount, functional_currency)
     SELECT $1, i, line, code, amount, 'USD', amount, 'USD'
       FROM generate_series(1, $2::integer) AS i,
            LATERAL (VALUES (0, (i % 13)::text, 2 * i), (1, 'x', -i),
                            (2, CASE i % 7 WHEN 0 THEN 'x' ELSE (i % 11)::text || 'y' END, -i))
              AS lines (line, code, amount)`,
    [ledgerId, entryCount],
  );
  const { rows } = await client.query<EntryRow>(
    `SELECT sequence, leaf, to_json(transaction_date)#>>'{}' AS date,
            (SELECT json_agg(json_build_object('glAccountCode', gl_account_code,
                                               'amount', functional_amount))
               FROM journal_lines AS lines
              WHERE lines.ledger_id = $1 AND lines.sequence = entries.sequence) AS lines
       FROM journal_entries AS entries WHERE ledger_id = $1 ORDER BY sequence`,
    [ledgerId],
  );
  entries = rows.map((row) => ({ ...row, date: new Date(row.date).toISOString() as Timestamp }));
});

afterAll(async () => {
  await pool.end();
  await client.end();
  await database.drop();
});

function readEach({ startsAt, endsAt }: Period, upTo: number) {
  const balances = new TrialBalance();
  const leaves: Buffer[] = [];
  for (const { date, leaf, lines } of entries.slice(0, upTo)) {
    const amounts = lines.map(({ glAccountCode, amount }) => ({
      glAccountCode,
      functionalAmount: BigInt(amount),
    }));
    if (date >= endsAt) continue;
    if (startsAt !== null && date < startsAt) balances.addOpening(amounts);
    else {
      balances.addEntry(amounts);
      leaves.push(leaf);
    }
  }
  return { size: leaves.length, root: rootOf(leaves).toString("hex"), rows: balances.rows() };
}

const moment = (text: string) => text as Timestamp;
const periods: Record<string, Period> = {
  "a month that lies here and there": {
    startsAt: moment("2026-01-01T00:00:00.000Z"),
    endsAt: moment("2026-02-01T00:00:00.000Z"),
  },
  "a part of it": {
    startsAt: moment("2026-01-20T10:00:00.000Z"),
    endsAt: moment("2026-01-21T07:00:00.000Z"),
  },
  "the month before, all of the journal's beginning but for one entry": {
    startsAt: moment("2025-12-01T00:00:00.000Z"),
    endsAt: moment("2026-01-01T00:00:00.000Z"),
  },
  "all there is": { startsAt: null, endsAt: moment("2026-03-01T00:00:00.000Z") },
  "a month with nothing": {
    startsAt: moment("2026-05-01T00:00:00.000Z"),
    endsAt: moment("2026-06-01T00:00:00.000Z"),
  },
};
// The second time as in a ledger whose statistics are up to date.
const cases = ["", "ANALYZE"].flatMap((statement) =>
  Object.entries(periods).map(([name, period]) => [name, statement, period] as const),
);

test.each(cases)(
  "%s is read as it is, whatever is read at once (%s)",
  async (_, statement, period) => {
    await client.query(statement);
    const prepared = beginClose(period);
    for (const upTo of [3, 4_096, 31_234, 31_235, entryCount]) {
      await extend(pool, ledgerId, prepared, upTo);
      expect({
        size: prepared.tree.size,
        root: prepared.tree.root().toString("hex"),
        rows: prepared.balances.rows(),
      }).toEqual(readEach(period, upTo));
    }
  },
);
