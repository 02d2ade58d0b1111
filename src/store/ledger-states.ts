// The state of a ledger, and the locks on it: all who write to a ledger hold it shared, who changes it holds
// it alone.
import * as z from "zod";
import { ledgerStatuses, type LedgerStatus } from "../core/ledger.ts";
import { lockPlace } from "./citus-nodes.ts";
import type { Connection } from "./database/connection.ts";
import { StateChangeRequested } from "./database/errors.ts";
import { command, sql } from "./database/statement.ts";

const statusRow = z.object({ status: z.enum(ledgerStatuses) });
const sharedRow = statusRow.extend({ ordersWalletWrites: z.boolean() });
const requestRow = z.object({ isPending: z.boolean() });

/** How long a request to change a ledger's state keeps writers away at most. */
export const stateRequestMsMax = 10_000;

/**
 * Lock 1 of 2 of the journal: the ledger's state, shared with all who write, against who changes it.
 * Throws StateChangeRequested while somebody waits to change it: whoever wants to write steps aside. A request that
 * ends later than any can was made before the clock was set back, and holds for nobody.
 */
export async function lockLedgerStateShared(
  connection: Connection,
  ledgerId: string,
): Promise<LedgerStatus> {
  return (await lockLedgerStateOfWallets(connection, ledgerId)).status;
}

/** The same lock, for a batch of wallet writes: also whether it has to number them (`ordered-wallet-writes.ts`). */
export async function lockLedgerStateOfWallets(
  connection: Connection,
  ledgerId: string,
): Promise<{ readonly status: LedgerStatus; readonly ordersWalletWrites: boolean }> {
  const [, state, request] = await Promise.all([
    lockPlace(connection, ledgerId),
    connection.one(sql.type(sharedRow)`
      SELECT status, wallets_ordered_after IS NOT NULL AS "ordersWalletWrites"
        FROM ledger_states WHERE ledger_id = ${ledgerId} FOR SHARE`),
    // Behind the lock. Of one table and without the clock, which is why a node of Citus keeps its plan.
    connection.maybeOne(sql.type(requestRow)`
      SELECT waits_until > statement_timestamp()
             AND waits_until <= statement_timestamp() + ${stateRequestMsMax} * interval '1 millisecond'
             AS "isPending"
        FROM ledger_state_requests WHERE ledger_id = ${ledgerId}`),
  ]);
  if (request?.isPending === true) throw new StateChangeRequested();
  return state;
}

/** The state as it stands, without its lock. */
export async function readLedgerState(
  connection: Connection,
  ledgerId: string,
): Promise<LedgerStatus> {
  const { status } = await connection.one(sql.type(statusRow)`
    SELECT status FROM ledger_states WHERE ledger_id = ${ledgerId}`);
  return status;
}

/**
 * Locks a ledger's state against all who hold it shared: waits for every batch of it that is under way. Null
 * when there is no such ledger.
 */
export async function lockLedgerState(
  connection: Connection,
  ledgerId: string,
): Promise<LedgerStatus | null> {
  const [, state] = await Promise.all([
    lockPlace(connection, ledgerId),
    connection.maybeOne(sql.type(statusRow)`
      SELECT status FROM ledger_states WHERE ledger_id = ${ledgerId} FOR UPDATE`),
  ]);
  return state?.status ?? null;
}

/**
 * Whether another transaction has a ledger's state locked, as all who write to it do; also where there is no such ledger.
 * Tried is a lock that conflicts with theirs. Who comes meanwhile waits until it is released, by the statement behind it. The
 * ledger's place is locked before, to stay so.
 */
export async function isLedgerStateLockedByOthers(
  connection: Connection,
  ledgerId: string,
): Promise<boolean> {
  const [, , status] = await Promise.all([
    lockPlace(connection, ledgerId),
    connection.run(command`SAVEPOINT tried`),
    tryLockLedgerState(connection, ledgerId),
    connection.run(command`ROLLBACK TO SAVEPOINT tried`),
    connection.run(command`RELEASE SAVEPOINT tried`),
  ]);
  return status === null;
}

/** Null where it would have to wait. Who only needs the row to be there (`writeBarrier`) does not conflict with it. */
export async function tryLockLedgerState(
  connection: Connection,
  ledgerId: string,
): Promise<LedgerStatus | null> {
  const state = await connection.maybeOne(sql.type(statusRow)`
    SELECT status FROM ledger_states WHERE ledger_id = ${ledgerId} FOR NO KEY UPDATE SKIP LOCKED`);
  return state?.status ?? null;
}

/**
 * Writes to the log where the ledger is stored, without changing a row: the COMMIT behind it is answered only when
 * the standbys have all that was visible here before (docs/decisions/0010). The lock waits only for who changes the
 * ledger's state, and keeps nobody else waiting.
 */
export async function writeBarrier(connection: Connection, ledgerId: string): Promise<void> {
  await connection.maybeOne(sql.type(statusRow)`
    SELECT status FROM ledger_states WHERE ledger_id = ${ledgerId} FOR KEY SHARE`);
}

/** Changes the state of a ledger that is locked against all. */
export async function updateLedgerState(
  connection: Connection,
  ledgerId: string,
  status: LedgerStatus,
): Promise<void> {
  await connection.run(command`
    UPDATE ledger_states SET status = ${status}, changed_at = statement_timestamp()
     WHERE ledger_id = ${ledgerId}`);
}

/** Asks writers to step aside for a while; for a transaction of its own, before the lock is waited for. */
export function upsertStateRequest(
  connection: Connection,
  ledgerId: string,
  waitMs: number,
): Promise<unknown> {
  return connection.run(command`
    INSERT INTO ledger_state_requests (ledger_id, waits_until)
    VALUES (${ledgerId}, clock_timestamp() + ${waitMs} * interval '1 millisecond')
    ON CONFLICT (ledger_id) DO UPDATE SET waits_until = EXCLUDED.waits_until`);
}

/** Lets writers go on, once the transaction that holds the state commits. */
export function deleteStateRequest(connection: Connection, ledgerId: string): Promise<unknown> {
  return connection.run(command`
    DELETE FROM ledger_state_requests WHERE ledger_id = ${ledgerId}`);
}
