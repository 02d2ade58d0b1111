// Deliveries of events: what there is, how far each has come, and which server works on it.
import type { IdentifierSqlToken } from "@slonik/sql-tag";
import * as z from "zod";
import {
  deliveryEventKinds,
  type DeliveryEventKind,
  type DeliveryPlace,
} from "../core/delivery.ts";
import type { Timestamp } from "../core/time.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { command, sql } from "./database/statement.ts";

const deliveryRow = z.object({
  deliveryId: z.string(),
  url: z.string(),
  events: z.array(z.enum(deliveryEventKinds)),
  status: z.enum(["active", "paused"]),
  pauseReason: z.enum(["asked", "failing", "restored"]).nullable(),
  masterKeyFingerprint: z.string(),
  createdAt: timestampColumn,
  sequence: z.number(),
  closeNumber: z.number(),
  walletNumber: z.number(),
  /** Entries that it is behind the journal. */
  lag: z.number(),
  /** Wallet writes that it is behind those that are numbered, whether or not it delivers them. */
  walletLag: z.number(),
  failingSince: timestampColumn.nullable(),
  failure: z.string().nullable(),
});

/** A delivery, and how far it has come. */
export type DeliveryRecord = Readonly<z.output<typeof deliveryRow>>;

const columns = sql.fragment`
  deliveries.delivery_id AS "deliveryId", deliveries.url, to_json(deliveries.events) AS events,
  deliveries.status, deliveries.pause_reason AS "pauseReason",
  deliveries.master_key_fingerprint AS "masterKeyFingerprint", deliveries.created_at AS "createdAt",
  progress.sequence, progress.close_number AS "closeNumber",
  progress.wallet_number AS "walletNumber",
  greatest(0, heads.last_sequence - progress.sequence) AS lag,
  greatest(0, coalesce(orders.last_number, 0) - progress.wallet_number) AS "walletLag",
  progress.failing_since AS "failingSince", progress.failure`;

/** `ledgerId`: of one ledger, by which each table is asked (docs/decisions/0020); of all, the column of `deliveries`. */
const tablesOf = (ledgerId: string | IdentifierSqlToken) => sql.fragment`
  FROM deliveries
  JOIN delivery_progress AS progress
    ON progress.ledger_id = ${ledgerId} AND progress.delivery_id = deliveries.delivery_id
  JOIN journal_heads AS heads ON heads.ledger_id = ${ledgerId}
  LEFT JOIN wallet_order_heads AS orders ON orders.ledger_id = ${ledgerId}`;

/** The deliveries of a ledger, by id: in the order in which they were made. */
export async function listDeliveries(
  connection: Connection,
  ledgerId: string,
): Promise<readonly DeliveryRecord[]> {
  return connection.any(sql.type(deliveryRow)`
    SELECT ${columns} ${tablesOf(ledgerId)}
     WHERE deliveries.ledger_id = ${ledgerId} ORDER BY deliveries.delivery_id`);
}

const ledgerDeliveryRow = deliveryRow.extend({ ledgerId: z.string() });

/** The deliveries of all ledgers. */
export async function listAllDeliveries(
  connection: Connection,
): Promise<readonly (DeliveryRecord & { readonly ledgerId: string })[]> {
  return connection.any(sql.type(ledgerDeliveryRow)`
    SELECT deliveries.ledger_id AS "ledgerId", ${columns}
           ${tablesOf(sql.identifier(["deliveries", "ledger_id"]))}
     ORDER BY deliveries.ledger_id, deliveries.delivery_id`);
}

/** null where the ledger has no such delivery. */
export async function findDelivery(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
): Promise<DeliveryRecord | null> {
  return connection.maybeOne(sql.type(deliveryRow)`
    SELECT ${columns} ${tablesOf(ledgerId)}
     WHERE deliveries.ledger_id = ${ledgerId} AND deliveries.delivery_id = ${deliveryId}`);
}

/** Records a delivery; where it begins, `insertDeliveryProgress` says. */
export function insertDelivery(
  connection: Connection,
  ledgerId: string,
  delivery: Pick<DeliveryRecord, "deliveryId" | "url" | "masterKeyFingerprint"> & {
    readonly events: readonly DeliveryEventKind[];
    readonly createdAt: Timestamp;
  },
): Promise<unknown> {
  const { deliveryId, url, events, masterKeyFingerprint, createdAt } = delivery;
  return connection.run(command`
    INSERT INTO deliveries
      (ledger_id, delivery_id, url, events, status, master_key_fingerprint, created_at)
    VALUES (${ledgerId}, ${deliveryId}, ${url}, ${sql.array([...events], "text")}, 'active',
            ${masterKeyFingerprint}, ${createdAt})`);
}

/** Where a new delivery begins: behind a place. */
export function insertDeliveryProgress(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
  { sequence, closeNumber, walletNumber }: DeliveryPlace,
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO delivery_progress
      (ledger_id, delivery_id, sequence, close_number, wallet_number, attempts, due_at)
    VALUES (${ledgerId}, ${deliveryId}, ${sequence}, ${closeNumber}, ${walletNumber}, 0,
            statement_timestamp())`);
}

const deliveryIdRow = z.object({ deliveryId: z.string() });

/** Pauses a delivery (for a reason) or lets it go on (null). Null where there is none that this changes. */
export async function updateDeliveryPause(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
  reason: DeliveryRecord["pauseReason"],
): Promise<{ readonly deliveryId: string } | null> {
  return connection.maybeOne(sql.type(deliveryIdRow)`
    UPDATE deliveries
       SET status = CASE WHEN ${reason}::text IS NULL THEN 'active' ELSE 'paused' END,
           pause_reason = ${reason}
     WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId}
       AND (status = 'paused') <> (${reason}::text IS NOT NULL)
    RETURNING delivery_id AS "deliveryId"`);
}

/**
 * Moves a delivery to a place (what is not named stays as it is), forgets its failures, and takes it away from the server
 * that works on it.
 */
export function updateDeliveryPlace(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
  place: Partial<DeliveryPlace>,
): Promise<unknown> {
  return connection.run(command`
    UPDATE delivery_progress
       SET sequence = coalesce(${place.sequence ?? null}::bigint, sequence),
           close_number = coalesce(${place.closeNumber ?? null}::bigint, close_number),
           wallet_number = coalesce(${place.walletNumber ?? null}::bigint, wallet_number),
           attempts = 0, failing_since = NULL, failure = NULL, due_at = statement_timestamp(),
           leased_by = NULL, leased_until = NULL
     WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId}`);
}

/** Removes a delivery, and how far it had come. */
export function deleteDelivery(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
): Promise<unknown> {
  return connection.run(command`
    DELETE FROM deliveries WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId}`);
}

const dueRow = z.object({ ledgerId: z.string(), deliveryId: z.string() });

/** Active deliveries of all ledgers that are behind what they deliver, are due, and no other server works on. */
export async function listDueDeliveries(
  connection: Connection,
  worker: string,
): Promise<readonly { readonly ledgerId: string; readonly deliveryId: string }[]> {
  return connection.any(sql.type(dueRow)`
    SELECT deliveries.ledger_id AS "ledgerId", deliveries.delivery_id AS "deliveryId"
      FROM deliveries
      JOIN delivery_progress AS progress
        ON progress.ledger_id = deliveries.ledger_id
       AND progress.delivery_id = deliveries.delivery_id
      JOIN journal_heads AS heads ON heads.ledger_id = deliveries.ledger_id
     WHERE deliveries.status = 'active' AND progress.due_at <= statement_timestamp()
       AND (progress.leased_until IS NULL OR progress.leased_until < statement_timestamp()
            OR progress.leased_by = ${worker})
       AND (heads.last_sequence > progress.sequence
            OR EXISTS (SELECT FROM period_closes AS closes
                        WHERE closes.ledger_id = deliveries.ledger_id
                          AND closes.number > progress.close_number)
            OR ('wallet' = ANY (deliveries.events)
                AND EXISTS (SELECT FROM wallet_order_heads AS orders
                             WHERE orders.ledger_id = deliveries.ledger_id
                               AND orders.last_number > progress.wallet_number)))`);
}

const leaseRow = z.object({
  sequence: z.number(),
  closeNumber: z.number(),
  walletNumber: z.number(),
  attempts: z.number(),
});

/** Takes a delivery for a while, or keeps it; null where it is not active any more or another server has it. */
export async function leaseDelivery(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
  { worker, leaseMs }: { readonly worker: string; readonly leaseMs: number },
): Promise<(DeliveryPlace & { readonly attempts: number }) | null> {
  return connection.maybeOne(sql.type(leaseRow)`
    UPDATE delivery_progress AS progress
       SET leased_by = ${worker},
           leased_until = statement_timestamp() + ${leaseMs} * interval '1 millisecond'
     WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId}
       AND (leased_until IS NULL OR leased_until < statement_timestamp() OR leased_by = ${worker})
       AND EXISTS (SELECT FROM deliveries
                    WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId}
                      AND status = 'active')
    RETURNING sequence, close_number AS "closeNumber", wallet_number AS "walletNumber", attempts`);
}

/** What was delivered was accepted. Null where the delivery was taken away meanwhile. */
export async function advanceDelivery(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
  worker: string,
  { sequence, closeNumber, walletNumber }: DeliveryPlace,
): Promise<{ readonly deliveryId: string } | null> {
  return connection.maybeOne(sql.type(deliveryIdRow)`
    UPDATE delivery_progress
       SET sequence = ${sequence}, close_number = ${closeNumber}, wallet_number = ${walletNumber},
           attempts = 0, failing_since = NULL, failure = NULL
     WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId} AND leased_by = ${worker}
    RETURNING delivery_id AS "deliveryId"`);
}

const failedRow = z.object({ failingMs: z.number() });

/**
 * What was delivered was not accepted: tried again after a while, by whichever server comes first. Resolves with how long
 * it has been failing; null where the delivery was taken away meanwhile.
 */
export async function postponeDelivery(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
  { worker, failure, waitMs }: { worker: string; failure: string; waitMs: number },
): Promise<{ readonly failingMs: number } | null> {
  return connection.maybeOne(sql.type(failedRow)`
    UPDATE delivery_progress
       SET attempts = attempts + 1, failure = ${failure},
           failing_since = least(failing_since, statement_timestamp()),
           due_at = statement_timestamp() + ${waitMs} * interval '1 millisecond',
           leased_by = NULL, leased_until = NULL
     WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId} AND leased_by = ${worker}
    RETURNING (extract(epoch FROM due_at - failing_since) * 1000 - ${waitMs})::float8
              AS "failingMs"`);
}

/** Gives a delivery back that there is nothing to do for. */
export function releaseDelivery(
  connection: Connection,
  ledgerId: string,
  deliveryId: string,
  worker: string,
): Promise<unknown> {
  return connection.run(command`
    UPDATE delivery_progress SET leased_by = NULL, leased_until = NULL
     WHERE ledger_id = ${ledgerId} AND delivery_id = ${deliveryId} AND leased_by = ${worker}`);
}

const failingRow = z.object({ paused: z.number(), failing: z.number() });

/** How many deliveries of all ledgers were paused because they failed for a day, and how many fail now. */
export function countFailingDeliveries(
  connection: Connection,
): Promise<{ readonly paused: number; readonly failing: number }> {
  return connection.one(sql.type(failingRow)`
    SELECT count(*) FILTER (WHERE deliveries.pause_reason = 'failing')::float8 AS paused,
           count(*) FILTER (WHERE deliveries.status = 'active'
                              AND progress.failing_since IS NOT NULL)::float8 AS failing
      FROM deliveries
      JOIN delivery_progress AS progress
        ON progress.ledger_id = deliveries.ledger_id
       AND progress.delivery_id = deliveries.delivery_id`);
}
