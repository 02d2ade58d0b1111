// Holds: amounts of wallets that are reserved.
import * as z from "zod";
import { holdStatuses, type Hold } from "../core/wallet.ts";
import { timestampColumn } from "./columns.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, newRows, sql } from "./database/statement.ts";

const holdRow = z.object({
  holdId: z.string(),
  walletId: z.string(),
  amount: z.bigint(),
  expiresAt: timestampColumn.nullable(),
  status: z.enum(holdStatuses),
}) satisfies z.ZodType<Hold>;

const columns = sql.fragment`
  holds.hold_id AS "holdId", holds.wallet_id AS "walletId", holds.amount,
  holds.expires_at AS "expiresAt", holds.status`;

/** Of the wallets' holds, those that are active in the log. */
export async function listActiveHolds(
  connection: Connection,
  ledgerId: string,
  walletIds: readonly string[],
): Promise<Hold[]> {
  if (walletIds.length === 0) return [];
  return connection.any(sql.type(holdRow)`
    SELECT ${columns}
      FROM unnest(${sql.array(walletIds, "uuid")}) AS wanted (wallet_id)
      CROSS JOIN LATERAL (
        SELECT * FROM wallet_holds
         WHERE ledger_id = ${ledgerId} AND wallet_id = wanted.wallet_id AND status = 'active'
         ORDER BY expires_at, hold_id
      ) AS holds`);
}

/** Holds by id, whatever became of them. */
export async function listHolds(
  connection: Connection,
  ledgerId: string,
  holdIds: readonly string[],
): Promise<Hold[]> {
  if (holdIds.length === 0) return [];
  return connection.any(sql.type(holdRow)`
    SELECT ${columns}
      FROM unnest(${sql.array(holdIds, "uuid")}) AS wanted (hold_id)
      CROSS JOIN LATERAL (
        SELECT * FROM wallet_holds
         WHERE ledger_id = ${ledgerId} AND hold_id = wanted.hold_id
         LIMIT 1
      ) AS holds`);
}

/** Makes holds, or moves those that exist to their new status. */
export function upsertHolds(
  connection: Connection,
  ledgerId: string,
  holds: readonly Hold[],
): Promise<unknown> {
  if (holds.length === 0) return Promise.resolve();
  return connection.run(command`
    INSERT INTO wallet_holds ${newRows(ledgerId, {
      hold_id: column(holds, ({ holdId }) => holdId, "uuid"),
      wallet_id: column(holds, ({ walletId }) => walletId, "uuid"),
      amount: column(holds, ({ amount }) => amount, "numeric"),
      expires_at: column(holds, ({ expiresAt }) => expiresAt, "timestamptz"),
      status: column(holds, ({ status }) => status, "text"),
    })}
    ON CONFLICT (ledger_id, hold_id) DO UPDATE SET status = EXCLUDED.status`);
}
