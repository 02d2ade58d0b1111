// The database itself refuses to change what wallets wrote, for the service's own role too.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine, neverPosting } from "../support/engine.ts";
import { serveBooks } from "../support/service.ts";
import { accepted, move, newKey } from "../support/wallets.ts";

const service = serveBooks(neverPosting);
let client: Client;

beforeAll(async () => {
  const key = newKey(service);
  accepted(await move(service, key, "credit", 10));
  const engine = openEngine(service.books.databaseUrl);
  await engine.post(service.books.ledgerId);
  await engine.end();
  accepted(await move(service, key, "credit", 10));
  client = new Client({ connectionString: service.books.databaseUrl });
  await client.connect();
});

afterAll(() => client.end());

const refusedChange = {
  // restrict_violation
  code: "23001",
  message: expect.stringContaining("append-only") as string,
};

describe.each(["wallet_writes", "wallet_batches", "wallet_postings", "asset_rules"])(
  "%s",
  (table) => {
    const snapshot = async (): Promise<unknown[]> =>
      (await client.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2, 3`)).rows;

    test.each([
      ["UPDATE", `UPDATE ${table} SET ledger_id = ledger_id`],
      ["DELETE", `DELETE FROM ${table}`],
      ["TRUNCATE", `TRUNCATE ${table}`],
      ["TRUNCATE with others", `TRUNCATE ${table}, wallets CASCADE`],
      [
        "an upsert",
        `INSERT INTO ${table} SELECT * FROM ${table} LIMIT 1
       ON CONFLICT ON CONSTRAINT ${table}_pkey DO UPDATE SET asset_code = 'x'`,
      ],
      [
        "MERGE",
        `MERGE INTO ${table} AS held USING ${table} AS same ON held.ledger_id = same.ledger_id WHEN MATCHED THEN DELETE`,
      ],
    ])("refuses %s", async (_, text) => {
      const statement =
        table === "wallet_writes" ? text.replace("asset_code = 'x'", "metadata = 'x'") : text;
      const before = await snapshot();
      expect(before.length).toBeGreaterThan(0);
      await expect(client.query(statement)).rejects.toMatchObject(refusedChange);
      expect(await snapshot()).toEqual(before);
    });
  },
);

describe("the mark of a batch", () => {
  // Not gen_random_uuid(), which Citus refuses here.
  const newId = "00000000-0000-4000-8000-000000000000";

  /** Runs a change and takes it back; rejects where the database refuses it. */
  async function attempt(change: string): Promise<number> {
    await client.query("BEGIN");
    try {
      return (await client.query(`UPDATE wallet_batches SET ${change}`)).rowCount ?? 0;
    } finally {
      await client.query("ROLLBACK");
    }
  }

  test("can be set where there is none", async () => {
    expect(await attempt(`journal_id = '${newId}' WHERE journal_id IS NULL`)).toBe(1);
  });

  test.each([
    `journal_id = '${newId}' WHERE journal_id IS NOT NULL`,
    "journal_id = NULL WHERE journal_id IS NOT NULL",
    "journal_id = journal_id WHERE journal_id IS NOT NULL",
    `journal_id = '${newId}', amount = amount + 1 WHERE journal_id IS NULL`,
    `journal_id = '${newId}', batch_id = '${newId}' WHERE journal_id IS NULL`,
    `journal_id = '${newId}', rule_version = 2 WHERE journal_id IS NULL`,
    `journal_id = '${newId}', last_seqs = '{9}' WHERE journal_id IS NULL`,
    "write_count = 2 WHERE journal_id IS NULL",
    "accepted_to = now() WHERE journal_id IS NULL",
  ])("is all that can change, once: %s is refused", async (change) => {
    await expect(attempt(change)).rejects.toMatchObject(refusedChange);
  });
});
