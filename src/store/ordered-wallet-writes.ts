// The order of a ledger's wallet writes across its wallets, which is kept while a delivery asks for it: who appends to the
// logs of wallets numbers the rows under the lock of one row, and holds it until they are committed. So numbers have no gaps,
// and whoever sees one sees all before it.
import * as z from "zod";
import type { WalletLogEntry } from "../core/wallet.ts";
import type { Connection } from "./database/connection.ts";
import { column, command, sql } from "./database/statement.ts";
import { withinBytes } from "./pages.ts";
import { logColumns, logRow } from "./wallet-writes.ts";

const orderRow = z.object({ orderedAfter: z.number().nullable(), lastNumber: z.number() });

/** `orderedAfter`: the order has every write behind this number; null where writes are not numbered. */
export type WalletOrder = Readonly<z.output<typeof orderRow>>;

export function readWalletOrder(connection: Connection, ledgerId: string): Promise<WalletOrder> {
  return connection.one(sql.type(orderRow)`
    SELECT states.wallets_ordered_after AS "orderedAfter",
           coalesce(heads.last_number, 0) AS "lastNumber"
      FROM ledger_states AS states
      LEFT JOIN wallet_order_heads AS heads ON heads.ledger_id = ${ledgerId}
     WHERE states.ledger_id = ${ledgerId}`);
}

/** Makes the head of an order, where there was none. */
export function insertWalletOrderHead(connection: Connection, ledgerId: string): Promise<unknown> {
  return connection.run(command`
    INSERT INTO wallet_order_heads (ledger_id, last_number) VALUES (${ledgerId}, 0)
    ON CONFLICT (ledger_id) DO NOTHING`);
}

/**
 * Has wallet writes numbered from now on, or no longer. The ledger's state is locked against all, so that no batch is under
 * way that has read it otherwise.
 */
export function updateWalletOrder(
  connection: Connection,
  ledgerId: string,
  orderedAfter: number | null,
): Promise<unknown> {
  return connection.run(command`
    UPDATE ledger_states SET wallets_ordered_after = ${orderedAfter} WHERE ledger_id = ${ledgerId}`);
}

const headRow = z.object({ lastNumber: z.number() });

/** Numbers rows that a batch appends to logs, in their order. */
export function insertOrderedWrites(
  connection: Connection,
  ledgerId: string,
  writes: readonly Pick<WalletLogEntry, "walletId" | "seq">[],
): Promise<unknown> {
  return Promise.all([
    connection.one(sql.type(headRow)`
      UPDATE wallet_order_heads SET last_number = last_number + ${writes.length}
       WHERE ledger_id = ${ledgerId} RETURNING last_number AS "lastNumber"`),
    connection.run(command`
      INSERT INTO ordered_wallet_writes (ledger_id, number, wallet_id, seq)
      SELECT head.ledger_id, head.last_number - ${writes.length} + new.place, new.wallet_id, new.seq
        FROM (SELECT ledger_id, last_number FROM wallet_order_heads WHERE ledger_id = ${ledgerId}) AS head
        CROSS JOIN unnest(
          ${column(writes, ({ walletId }) => walletId, "uuid")},
          ${column(writes, ({ seq }) => seq, "int8")}) WITH ORDINALITY AS new (wallet_id, seq, place)`),
  ]);
}

const orderedRow = logRow.extend({ number: z.number(), assetCode: z.string() });

/** A row of a wallet's log with its number, and the asset of its wallet. */
export type OrderedWalletWrite = Readonly<z.output<typeof orderedRow>>;

/**
 * Wallet writes of a ledger by number, after one and up to another. A page ends early where the metadata would weigh more
 * than `bytesMax`, but never before its first write.
 */
export async function listOrderedWrites(
  connection: Connection,
  ledgerId: string,
  page: {
    readonly afterNumber: number;
    readonly upToNumber: number;
    readonly limit: number;
    readonly bytesMax: number;
  },
): Promise<readonly OrderedWalletWrite[]> {
  const rows = withinBytes(
    sql.fragment`
      SELECT places.number, rows.*
        FROM (
          SELECT number, wallet_id, seq FROM ordered_wallet_writes
           WHERE ledger_id = ${ledgerId}
             AND number > ${page.afterNumber} AND number <= ${page.upToNumber}
           ORDER BY number LIMIT ${page.limit}
        ) AS places
        CROSS JOIN LATERAL (
          SELECT * FROM wallet_writes
           WHERE ledger_id = ${ledgerId} AND wallet_id = places.wallet_id AND seq = places.seq
           LIMIT 1
        ) AS rows`,
    sql.fragment`octet_length(metadata)`,
    sql.fragment`number`,
    page.bytesMax,
  );
  return connection.any(sql.type(orderedRow)`
    SELECT writes.number, ${logColumns}, owner.asset_code AS "assetCode"
      FROM (${rows}) AS writes
      CROSS JOIN LATERAL (
        SELECT caller_key, wallet_id, asset_code FROM wallets
         WHERE ledger_id = ${ledgerId} AND wallet_id = writes.wallet_id
         LIMIT 1
      ) AS owner
      LEFT JOIN LATERAL (
        SELECT journal_id FROM wallet_batches
         WHERE ledger_id = ${ledgerId} AND batch_id = writes.batch_id
         LIMIT 1
      ) AS postings ON true
     ORDER BY writes.number`);
}
