// How the statements of the write path are carried out: each reads by whole keys of an index, whatever
// the tables held when they were last analyzed. A statement that scans a ledger gets slower with it.
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasEntry,
  listAccountStates,
  listKnownEntries,
  listOriginals,
} from "../../src/store/journal-lookups.ts";
import { addToBalances } from "../../src/store/journal-writes.ts";
import type { StatementSender } from "../../src/store/write-connections.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

const rowCount = 20_000;
const ledgerId = randomUUID();
const journalIds = Array.from({ length: 50 }, () => randomUUID());
const names = Array.from({ length: 50 }, (_, index) => String(index * 17));
let database: TestDatabase;
let client: Client;

/** Has every statement that is sent explained by the database instead of carried out. */
class ExplainingSender implements StatementSender {
  readonly plans: PlanNode[] = [];

  async send<Row>({ text }: { text: string }, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await client.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      `EXPLAIN (FORMAT JSON) ${text}`,
      values as unknown[],
    );
    this.plans.push(...rows.flatMap((row) => row["QUERY PLAN"].map(({ Plan }) => Plan)));
    return [];
  }
}

/** One ledger with nearly all rows, so that its id alone narrows nothing. */
async function fill(): Promise<void> {
  await client.query(
    `INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, transaction_date,
                                  entry_type, metadata, persisted_at, leaf)
     SELECT $1, i, gen_random_uuid(), i::text, now(), 'STANDARD', '{}', now(),
            decode(repeat('00', 32), 'hex')
       FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, rowCount],
  );
  await client.query(
    `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                                transaction_currency, functional_amount, functional_currency)
     SELECT $1, i / 2 + 1, i % 2, (i % 1000)::text, 1, 'USD', 1, 'USD'
       FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, 2 * rowCount],
  );
  await client.query(
    `INSERT INTO journal_reversals (ledger_id, journal_id, reversal_journal_id)
     SELECT $1, gen_random_uuid(), gen_random_uuid() FROM generate_series(1, $2::integer)`,
    [ledgerId, rowCount],
  );
  await client.query(
    `WITH organization AS (
       INSERT INTO organizations VALUES (gen_random_uuid(), 'x', now()) RETURNING organization_id
     )
     INSERT INTO ledgers (ledger_id, organization_id, name, functional_currency, created_at)
     SELECT $1, organization_id, 'x', 'USD', now() FROM organization`,
    [ledgerId],
  );
  await client.query(
    `INSERT INTO accounts (ledger_id, gl_account_code, name, created_at)
     SELECT $1, i::text, 'x', now() FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, rowCount],
  );
  await client.query(
    `INSERT INTO account_balances (ledger_id, gl_account_code, currency, balance, entry_count)
     SELECT $1, i::text, '', 0, 0 FROM generate_series(1, $2::integer) AS i`,
    [ledgerId, rowCount],
  );
}

function scansIn(plan: PlanNode): PlanNode[] {
  const own = plan["Node Type"].endsWith("Scan") && plan["Relation Name"] !== undefined;
  return [...(own ? [plan] : []), ...(plan.Plans ?? []).flatMap(scansIn)];
}

/** The columns that each table's key for us has, of which an index condition must hold all. */
const statements: {
  name: string;
  send: (sender: StatementSender) => Promise<unknown>;
  scans: Record<string, string[]>;
}[] = [
  {
    name: "listAccountStates",
    send: (sender) => listAccountStates(sender, ledgerId, names),
    scans: { accounts: ["ledger_id", "gl_account_code"] },
  },
  {
    name: "listKnownEntries",
    send: (sender) => listKnownEntries(sender, ledgerId, names),
    scans: { journal_entries: ["ledger_id", "external_id"] },
  },
  {
    name: "hasEntry",
    send: (sender) => hasEntry(sender, ledgerId, randomUUID()),
    scans: { journal_entries: ["ledger_id", "journal_id"] },
  },
  {
    name: "listOriginals",
    send: (sender) => listOriginals(sender, ledgerId, journalIds),
    scans: {
      journal_entries: ["ledger_id", "journal_id"],
      journal_reversals: ["ledger_id", "journal_id"],
      journal_lines: ["ledger_id", "sequence"],
    },
  },
  {
    name: "addToBalances",
    send: (sender) =>
      addToBalances(
        sender,
        ledgerId,
        names.map((glAccountCode) => ({
          glAccountCode,
          currency: null,
          amount: 1n,
          entryCount: 1,
        })),
      ),
    scans: {},
  },
];

// Statistics are switched off but where a state asks for them, so that no worker takes them in between.
const tables = [
  "accounts",
  "account_balances",
  "journal_entries",
  "journal_lines",
  "journal_reversals",
];
const analyze = () => client.query("VACUUM ANALYZE");

const states: [string, () => Promise<unknown>][] = [
  ["that are filled and analyzed", () => fill().then(analyze)],
  ["that were filled and never analyzed", fill],
  ["that were filled after they had been analyzed", () => analyze().then(fill)],
];

async function openDatabase(): Promise<void> {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query("SET plan_cache_mode = force_custom_plan");
  for (const table of tables)
    await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
}

async function closeDatabase(): Promise<void> {
  await client.end();
  await database.drop();
}

async function explain(send: (sender: StatementSender) => Promise<unknown>): Promise<PlanNode[]> {
  const sender = new ExplainingSender();
  await send(sender);
  expect(sender.plans).toHaveLength(1);
  return sender.plans.flatMap(scansIn);
}

describe.each(states)("on tables %s", (_, reach) => {
  beforeAll(async () => {
    await openDatabase();
    await reach();
  });
  afterAll(closeDatabase);

  test.each(statements)("$name reads by whole keys", async ({ send, scans }) => {
    const found = await explain(send);
    expect(found.map((scan) => scan["Relation Name"]).sort()).toEqual(Object.keys(scans).sort());
    for (const scan of found) {
      const place = JSON.stringify(scan);
      expect(["Index Scan", "Index Only Scan"], place).toContain(scan["Node Type"]);
      for (const column of scans[scan["Relation Name"] ?? ""] ?? []) {
        expect(scan["Index Cond"], place).toMatch(new RegExp(`\\b${column} = `));
      }
    }
  });
});

describe("on empty tables", () => {
  beforeAll(openDatabase);
  afterAll(closeDatabase);

  // Which index it is does not matter yet: every execution is planned anew.
  test.each(statements)("$name scans no table", async ({ send }) => {
    for (const scan of await explain(send)) expect(scan["Node Type"]).not.toBe("Seq Scan");
  });
});
