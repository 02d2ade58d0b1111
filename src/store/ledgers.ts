// What of a ledger never changes.
import * as z from "zod";
import { ledgerStatuses, type LedgerIdentity } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { jsonObjectColumn, ledgerIdRow, timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

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
  connection: Connection,
  ledgerId: string,
): Promise<LedgerRecord | null> {
  return connection.maybeOne(
    sql.type(ledgerRow)`${selectLedgers} WHERE ledgers.ledger_id = ${ledgerId}`,
  );
}

/** The ledgers of one organization, or of all (null), by creation. */
export async function listLedgers(
  connection: Connection,
  organizationId: string | null,
): Promise<readonly LedgerRecord[]> {
  const filter =
    organizationId === null
      ? sql.fragment``
      : sql.fragment`WHERE ledgers.organization_id = ${organizationId}`;
  return connection.any(
    sql.type(ledgerRow)`${selectLedgers} ${filter} ORDER BY ledgers.created_at, ledgers.ledger_id`,
  );
}

/** The ids of all ledgers, in their order. */
export async function listLedgerIds(connection: Connection): Promise<string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT ledger_id AS "ledgerId" FROM ledgers ORDER BY ledger_id`);
  return rows.map(({ ledgerId }) => ledgerId);
}

const identityRow = ledgerRow.pick({
  ledgerId: true,
  organizationId: true,
  functionalCurrency: true,
});

/** A ledger that is known to be there. */
export async function getLedgerIdentity(
  connection: Connection,
  ledgerId: string,
): Promise<LedgerIdentity> {
  return connection.one(sql.type(identityRow)`
    SELECT ledger_id AS "ledgerId", organization_id AS "organizationId",
           functional_currency AS "functionalCurrency"
      FROM ledgers WHERE ledger_id = ${ledgerId}`);
}

const closesInOrderRow = z.object({ closesInOrder: z.boolean() });

/** Whether a ledger's closes come in order. */
export async function hasClosesInOrder(connection: Connection, ledgerId: string): Promise<boolean> {
  const { closesInOrder } = await connection.one(sql.type(closesInOrderRow)`
    SELECT closes_in_order AS "closesInOrder" FROM ledgers WHERE ledger_id = ${ledgerId}`);
  return closesInOrder;
}

/** Makes a ledger's three rows: what never changes, its state (active) and its journal head (empty). */
export async function insertLedger(
  connection: Connection,
  ledger: LedgerIdentity & { name: string; closesInOrder: boolean; createdAt: Timestamp },
): Promise<void> {
  const { ledgerId, organizationId, name, functionalCurrency, closesInOrder, createdAt } = ledger;
  await connection.run(command`
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
