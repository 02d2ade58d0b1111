// Changing a ledger's state: asking writers to step aside, the lock that waits for them, the new state.
// Writers hold the same row shared (journal-writes.ts).
import type { LedgerStatus } from "../core/ledger.ts";
import type { StatementSender } from "./write-connections.ts";

/** Asks writers to step aside for a while; for a transaction of its own, before the lock is waited for. */
export function askForLedgerState(
  sender: StatementSender,
  ledgerId: string,
  waitMs: number,
): Promise<unknown> {
  return sender.send(
    {
      name: "ask_for_ledger_state",
      text: `INSERT INTO ledger_state_requests (ledger_id, waits_until)
             VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
             ON CONFLICT (ledger_id) DO UPDATE SET waits_until = EXCLUDED.waits_until`,
    },
    [ledgerId, waitMs],
  );
}

/** Lets writers go on, once the transaction that holds the state commits. */
export function withdrawStateRequest(sender: StatementSender, ledgerId: string): Promise<unknown> {
  return sender.send(
    {
      name: "withdraw_state_request",
      text: "DELETE FROM ledger_state_requests WHERE ledger_id = $1",
    },
    [ledgerId],
  );
}

/** Locks a ledger's state against all who hold it shared: waits for every batch of it that is under way. */
export async function lockLedgerState(
  sender: StatementSender,
  ledgerId: string,
): Promise<LedgerStatus | null> {
  const rows = await sender.send<{ status: LedgerStatus }>(
    {
      name: "lock_ledger_state",
      text: "SELECT status FROM ledger_states WHERE ledger_id = $1 FOR UPDATE",
    },
    [ledgerId],
  );
  return rows[0]?.status ?? null;
}

/** Changes the state of a ledger that is locked against all. */
export async function updateLedgerState(
  sender: StatementSender,
  ledgerId: string,
  status: LedgerStatus,
): Promise<void> {
  await sender.send(
    {
      name: "update_ledger_state",
      text: `UPDATE ledger_states SET status = $2, changed_at = clock_timestamp()
              WHERE ledger_id = $1`,
    },
    [ledgerId, status],
  );
}
