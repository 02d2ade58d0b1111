// A backup restored is the database that it was taken of: every row of every table, and rules that hold as before.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditLedgers } from "../../src/audit/audit.ts";
import { UnfitDatabase } from "../../src/store/backup/load.ts";
import { DistributedDatabase } from "../../src/store/backup/tables.ts";
import { Pool } from "../../src/store/database/pool.ts";
import { listMigrations, migrate } from "../../src/store/migrate.ts";
import { backUp, restoreInto, withContent } from "../support/backups.ts";
import { createEmptyDatabase, createTestDatabase, runStatement } from "../support/database.ts";
import { neverPosting, openEngine, type TestEngine } from "../support/engine.ts";
import { entriesPath, entry, postEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import { readTables } from "../support/table-contents.ts";
import { accepted, hold, move, newKey, resolve } from "../support/wallets.ts";

const service = serveBooks(neverPosting);
let engine: TestEngine;
let url: string;
/** Of the books that `makeBooks` made. */
let taken: Awaited<ReturnType<typeof backUp>>;
const dropping: (() => Promise<void>)[] = [];

/** A table as a later migration could add it: numbered by itself, with a computed column and a foreign key. */
const laterTable = `
  CREATE TABLE a_later_table (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    "some text" text,
    ledger_id uuid REFERENCES ledgers,
    length integer GENERATED ALWAYS AS (length("some text")) STORED
  )`;

beforeAll(async () => {
  engine = openEngine(service.books.databaseUrl);
  url = service.books.databaseUrl;
  await makeBooks();
  taken = await backUp(url);
});

afterAll(async () => {
  await engine.end();
  for (const drop of dropping) await drop();
});

/** Something in every table that a server writes. */
async function makeBooks(): Promise<void> {
  const { ledgerId } = service.books;
  const post = (transactionDate: string, more: object = {}) =>
    postEntry(service, entry(20, { transactionDate, ...more }));
  await post("2026-01-03T00:00:00Z", {
    description: 'tab\t newline\n \\. "quotes" \\N é 𝄞',
    externalId: "\\.",
  });
  const { journalId } = await post("2026-02-03T00:00:00.123Z", {
    lines: [
      { glAccountCode: "1000", functionalAmount: "123456789012345678901234567890", spotRate: 0.1 },
      { glAccountCode: "4000", functionalAmount: "-123456789012345678901234567890" },
    ],
    metadata: { deep: { tab: "\t", null: null } },
  });
  await service.post(`${entriesPath(ledgerId)}/${journalId}/reversal`);
  const key = newKey(service);
  accepted(await move(service, key, "credit", 500));
  accepted(await resolve(service, key, await hold(service, key, 20), "commit"));
  await engine.post(ledgerId);
  accepted(await move(service, key, "debit", 5));
  await engine.close(ledgerId, "2026-01");
  await runStatement(url, laterTable);
  await runStatement(
    url,
    "INSERT INTO a_later_table (\"some text\", ledger_id) SELECT 'x', ledger_id FROM ledgers",
  );
  await runStatement(url, "INSERT INTO a_later_table (\"some text\") VALUES (NULL), ('')");
}

/** A database without rows; with the table that no migration makes, where that is asked for. */
async function emptyDatabase(...statements: readonly string[]): Promise<string> {
  const database = await createEmptyDatabase();
  dropping.push(() => database.drop());
  const made = database.url;
  for (const statement of statements) await runStatement(made, statement);
  return made;
}

async function preparedDatabase(): Promise<string> {
  const database = await createTestDatabase();
  dropping.push(() => database.drop());
  const made = database.url;
  await runStatement(made, laterTable);
  return made;
}

const countOf = (databaseUrl: string, table: string) =>
  runStatement(databaseUrl, `SELECT FROM ${table}`);

describe("a restored backup", () => {
  let restored: string;

  beforeAll(async () => {
    restored = await preparedDatabase();
    await restoreInto(restored, taken.bytes);
  });

  it("has every row of every table", async () => {
    const contents = await readTables(url);
    expect(await readTables(restored)).toEqual(contents);
    const filled = Object.keys(contents).filter((table) => (contents[table] ?? []).length > 0);
    expect(filled).toEqual(
      expect.arrayContaining(["a_later_table", "journal_lines", "period_closes", "wallet_holds"]),
    );
    const counts = taken.summary.tables.map(({ name, rows }) => [name, rows]);
    expect(Object.fromEntries(counts)).toMatchObject(
      Object.fromEntries(Object.entries(contents).map(([name, rows]) => [name, rows.length])),
    );
  });

  it("passes the audit", async () => {
    const pool = new Pool({ databaseUrl: restored, connectionsMax: 1, answerTimeoutMs: 30_000 });
    const report = await pool.snapshot((reads) => auditLedgers(reads, null));
    await pool.end();
    expect(report?.checks.flatMap(({ findings }) => findings)).toEqual([]);
  });

  it("refuses changes and goes on counting as the original does", async () => {
    for (const table of ["journal_entries", "wallet_writes", "period_closes"]) {
      await expect(runStatement(restored, `DELETE FROM ${table}`)).rejects.toThrow("append-only");
    }
    const insert = "INSERT INTO a_later_table (\"some text\") VALUES ('next') RETURNING id";
    expect(await runStatement(restored, insert)).toBe(1);
    const ids = "SELECT FROM a_later_table GROUP BY id HAVING count(*) > 1";
    expect(await runStatement(restored, ids)).toBe(0);
    const triggersOff = "SELECT FROM pg_trigger WHERE tgenabled <> 'O'";
    expect(await runStatement(restored, triggersOff)).toBe(0);
  });

  it("is the same again when it is backed up again, but for when", async () => {
    const other = await preparedDatabase();
    await restoreInto(other, taken.bytes);
    const again = await backUp(other);
    // A restore halts the logs, which are acts of administration.
    const changed = ["administration_acts", "log_states"];
    const same = ({ name }: { readonly name: string }) => !changed.includes(name);
    expect(again.summary.tables.filter(same)).toEqual(taken.summary.tables.filter(same));
    expect(again.summary.takenAt > taken.summary.takenAt).toBe(true);
  });
});

describe("a backup", () => {
  it("is of one moment, and lets writes go on", async () => {
    const before = await countOf(url, "journal_entries");
    const { summary, bytes } = await backUp(url, async () => {
      await postEntry(service, entry(7));
      accepted(await move(service, newKey(service), "credit", 9));
    });
    const entries = summary.tables.find(({ name }) => name === "journal_entries");
    expect(entries?.rows).toBe(before);
    expect(await countOf(url, "journal_entries")).toBe(before + 1);
    const restored = await preparedDatabase();
    await restoreInto(restored, bytes);
    expect(await countOf(restored, "journal_entries")).toBe(before);
  });

  it("of an older version is restored as that was, and then migrated", async () => {
    const old = await emptyDatabase();
    await migrate(old, 3);
    const organizationId = randomUUID();
    await runStatement(old, `INSERT INTO organizations VALUES ('${organizationId}', 'Old', now())`);
    await runStatement(
      old,
      `INSERT INTO ledgers (ledger_id, organization_id, name, functional_currency, created_at)
       VALUES ('${randomUUID()}', '${organizationId}', 'Old books', 'EUR', now())`,
    );
    const { bytes, summary } = await backUp(old);
    expect(summary.migrations).toHaveLength(3);
    const restored = await emptyDatabase();
    await restoreInto(restored, bytes);
    const missing = (await listMigrations(restored)).filter(({ applied }) => !applied);
    expect(missing).toEqual([]);
    expect(await runStatement(restored, "SELECT FROM ledgers WHERE NOT closes_in_order")).toBe(1);
    // Where later migrations were made already, these rows would not pass through them.
    const ahead = await createTestDatabase();
    dropping.push(() => ahead.drop());
    await expect(restoreInto(ahead.url, bytes)).rejects.toBeInstanceOf(UnfitDatabase);
  });

  it("is refused where nothing of ledgerctl's is, and on Citus", async () => {
    await expect(backUp(await emptyDatabase())).rejects.toThrow("nothing to back up");
    const citus = await emptyDatabase("CREATE TABLE pg_dist_node ()");
    await expect(backUp(citus)).rejects.toBeInstanceOf(DistributedDatabase);
    await expect(restoreInto(citus, taken.bytes)).rejects.toBeInstanceOf(DistributedDatabase);
  });
});

describe("restoring", () => {
  it("is refused into a database with any row, which stays as it is", async () => {
    const occupied = await preparedDatabase();
    await runStatement(occupied, 'INSERT INTO a_later_table ("some text") VALUES (NULL)');
    const before = await readTables(occupied);
    await expect(restoreInto(occupied, taken.bytes)).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(restoreInto(url, taken.bytes)).rejects.toBeInstanceOf(UnfitDatabase);
    expect(await readTables(occupied)).toEqual(before);
  });

  it("is refused where a table is missing that no migration makes", async () => {
    const plain = await emptyDatabase();
    await expect(restoreInto(plain, taken.bytes)).rejects.toThrow("a_later_table");
    expect(await countOf(plain, "organizations")).toBe(0);
  });

  it("leaves nothing where the database refuses a row, and can be tried again", async () => {
    const target = await preparedDatabase();
    const broken = await withContent(taken.bytes, (content) =>
      content.replace(
        /^(\{"table":"a_later_table".*\n)/m,
        "$1999\tx\t00000000-0000-0000-0000-000000000000\n",
      ),
    );
    await expect(restoreInto(target, broken)).rejects.toThrow(
      "the database refuses rows of its table a_later_table: insert or update",
    );
    expect(await countOf(target, "organizations")).toBe(0);
    await restoreInto(target, taken.bytes);
    expect(await readTables(target)).toEqual(await readTables(await restoredCopy()));
  });

  it("halts the logs with the rows, or leaves nothing", async () => {
    const target = await preparedDatabase();
    const halted = "SELECT FROM log_states WHERE halted_at IS NOT NULL";
    await runStatement(
      target,
      `CREATE FUNCTION refuse_halt() RETURNS trigger LANGUAGE plpgsql
         AS $$ BEGIN RAISE 'not to be halted'; END $$`,
    );
    await runStatement(
      target,
      "CREATE TRIGGER refused BEFORE INSERT ON log_states EXECUTE FUNCTION refuse_halt()",
    );
    await expect(restoreInto(target, taken.bytes)).rejects.toThrow("not to be halted");
    expect(await countOf(target, "organizations")).toBe(0);
    await runStatement(target, "DROP TRIGGER refused ON log_states");
    await restoreInto(target, taken.bytes);
    expect(await runStatement(target, halted)).toBe(2 * (await countOf(target, "ledgers")));
  });

  it("lets one of two that run at once have the database", async () => {
    const target = await preparedDatabase();
    const both = await Promise.allSettled([
      restoreInto(target, taken.bytes),
      restoreInto(target, taken.bytes),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const failure = both.find((each) => each.status === "rejected");
    expect(failure?.reason).toBeInstanceOf(UnfitDatabase);
  });
});

async function restoredCopy(): Promise<string> {
  const copy = await preparedDatabase();
  await restoreInto(copy, taken.bytes);
  return copy;
}
