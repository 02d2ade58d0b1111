// What is in the database, read from its tables: as little of the service as can be stands between it and the verdict.
import { Client } from "pg";
import { callerKeys } from "./writes.ts";

export interface StoredEntry {
  readonly sequence: number;
  readonly externalId: string | null;
  readonly journalId: string;
  /** Of its first line. */
  readonly amount: string;
}

export interface StoredMovement {
  readonly seq: number;
  readonly type: string;
  readonly amount: string;
  readonly balance: string;
  readonly externalId: string | null;
  readonly holdId: string | null;
  /** Of transfers. */
  readonly transferId: string | null;
  readonly counterparty: string | null;
}

export interface Stored {
  /** By sequence. */
  readonly entries: readonly StoredEntry[];
  /** The log of each wallet, by seq. */
  readonly walletRows: ReadonlyMap<string, readonly StoredMovement[]>;
  /** The hashes of the closes by their period. */
  readonly closes: ReadonlyMap<string, string>;
}

const entriesOf = `
  SELECT e.sequence::int, e.external_id AS "externalId", e.journal_id AS "journalId",
    (SELECT functional_amount::text FROM journal_lines l
     WHERE l.ledger_id = e.ledger_id AND l.sequence = e.sequence ORDER BY line_number LIMIT 1) AS amount
  FROM journal_entries e WHERE e.ledger_id = $1 ORDER BY e.sequence`;

const movementsOf = `
  SELECT caller_key AS "callerKey", seq::int, type, amount::text, w.balance::text, external_id AS "externalId",
    hold_id AS "holdId", transfer_id AS "transferId", counterparty
  FROM wallet_writes w JOIN wallets USING (ledger_id, wallet_id) WHERE ledger_id = $1 ORDER BY caller_key, seq`;

const closesOf = `
  SELECT period_id AS "periodId", close_hash AS "closeHash" FROM period_closes WHERE ledger_id = $1`;

/** Reads all of a ledger. */
export async function readStored(databaseUrl: string, ledgerId: string): Promise<Stored> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const entries = await client.query<StoredEntry>(entriesOf, [ledgerId]);
    type Row = StoredMovement & { callerKey: string };
    const movements = await client.query<Row>(movementsOf, [ledgerId]);
    const closes = await client.query<{ periodId: string; closeHash: string }>(closesOf, [
      ledgerId,
    ]);
    const walletRows = new Map<string, StoredMovement[]>(callerKeys.map((key) => [key, []]));
    for (const row of movements.rows) {
      const rows = walletRows.get(row.callerKey) ?? [];
      rows.push(row);
      walletRows.set(row.callerKey, rows);
    }
    return {
      entries: entries.rows,
      walletRows,
      closes: new Map(closes.rows.map(({ periodId, closeHash }) => [periodId, closeHash])),
    };
  } finally {
    await client.end();
  }
}
