// What the database refuses to everybody: changing or deleting what is in the journal.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entry, postEntry, readEntry, reverseEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
let client: Client;
let journalId: string;

beforeAll(async () => {
  ({ journalId } = await postEntry(service, entry()));
  await reverseEntry(service, journalId);
  // The service's own role, as it connects itself.
  client = new Client({ connectionString: service.books.databaseUrl });
  await client.connect();
});

afterAll(async () => {
  await client.end();
});

describe.each(["journal_entries", "journal_lines", "journal_reversals"])("%s", (table) => {
  const snapshot = async (): Promise<unknown[]> =>
    (await client.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2`)).rows;

  test.each([
    ["UPDATE", `UPDATE ${table} SET ledger_id = ledger_id`],
    ["DELETE", `DELETE FROM ${table}`],
    ["TRUNCATE", `TRUNCATE ${table}`],
    ["TRUNCATE with others", `TRUNCATE ${table}, account_balances CASCADE`],
    [
      "an upsert",
      `INSERT INTO ${table} SELECT * FROM ${table} LIMIT 1
       ON CONFLICT ON CONSTRAINT ${table}_pkey DO UPDATE SET ledger_id = EXCLUDED.ledger_id`,
    ],
    [
      "MERGE",
      `MERGE INTO ${table} AS held USING ${table} AS same ON held.ledger_id = same.ledger_id WHEN MATCHED THEN DELETE`,
    ],
  ])("refuses %s", async (_, statement) => {
    const before = await snapshot();
    expect(before.length).toBeGreaterThan(0);
    await expect(client.query(statement)).rejects.toMatchObject({
      // restrict_violation
      code: "23001",
      message: expect.stringContaining("append-only") as string,
    });
    expect(await snapshot()).toEqual(before);
  });
});

test("an entry is what it was after all that was tried", async () => {
  const read = await readEntry(service, journalId);
  expect(read.lines).toHaveLength(2);
  expect(read.reversedByJournalId).not.toBeNull();
});
