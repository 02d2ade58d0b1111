// Ledgers, their states and journal heads.
import { sql } from "slonik";
import { z } from "zod";
import { ledgerStatuses, type LedgerIdentity } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { jsonObjectColumn, timestampColumn } from "./columns.ts";
import type { ReadConnection } from "./read-pool.ts";

const ledgerRow = z.object({
  ledgerId: z.string(),
  organizationId: z.string(),
  name: z.string(),
  status: z.enum(ledgerStatuses),
  functionalCurrency: z.string(),
  metadata: jsonObjectColumn,
  createdAt: timestampColumn,
});

export type LedgerRecord = z.infer<typeof ledgerRow>;

const selectLedgers = sql.fragment`
  SELECT ledgers.ledger_id AS "ledgerId", ledgers.organization_id AS "organizationId",
         ledgers.name, states.status, ledgers.functional_currency AS "functionalCurrency",
         ledgers.metadata, ledgers.created_at AS "createdAt"
    FROM ledgers JOIN ledger_states AS states ON states.ledger_id = ledgers.ledger_id`;

/** A ledger with its state as it is now; null when there is none of this id. */
export async function findLedger(
  pool: ReadConnection,
  ledgerId: string,
): Promise<LedgerRecord | null> {
  return pool.maybeOne(sql.type(ledgerRow)`${selectLedgers} WHERE ledgers.ledger_id = ${ledgerId}`);
}

/** The ledgers of one organization, or of all (null), by creation. */
export async function listLedgers(
  pool: ReadConnection,
  organizationId: string | null,
): Promise<readonly LedgerRecord[]> {
  const filter =
    organizationId === null
      ? sql.fragment``
      : sql.fragment`WHERE ledgers.organization_id = ${organizationId}`;
  return pool.any(
    sql.type(ledgerRow)`${selectLedgers} ${filter} ORDER BY ledgers.created_at, ledgers.ledger_id`,
  );
}

/** Makes a ledger's three rows: what never changes, its state (active) and its journal head (empty). */
export async function insertLedger(
  pool: ReadConnection,
  ledger: LedgerIdentity & { name: string; closesInOrder: boolean; createdAt: Timestamp },
): Promise<void> {
  const { ledgerId, organizationId, name, functionalCurrency, closesInOrder, createdAt } = ledger;
  await pool.query(sql.unsafe`
    WITH made AS (
      INSERT INTO ledgers
             (ledger_id, organization_id, name, functional_currency, closes_in_order, created_at)
      VALUES (${ledgerId}, ${organizationId}, ${name}, ${functionalCurrency}, ${closesInOrder},
              ${createdAt})
      RETURNING ledger_id, created_at
    ), stated AS (
      INSERT INTO ledger_states (ledger_id, status, changed_at)
      SELECT ledger_id, 'active', created_at FROM made
    )
    INSERT INTO journal_heads (ledger_id) SELECT ledger_id FROM made`);
}

/** How many entries a ledger has: sequences have no gaps, so the head knows. */
export async function getLastSequence(pool: ReadConnection, ledgerId: string): Promise<number> {
  const row = z.object({ lastSequence: z.number() });
  const { lastSequence } = await pool.one(sql.type(row)`
    SELECT last_sequence AS "lastSequence" FROM journal_heads WHERE ledger_id = ${ledgerId}`);
  return lastSequence;
}
