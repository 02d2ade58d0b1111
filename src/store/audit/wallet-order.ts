// What an audit finds of the order of a ledger's wallet writes, which deliveries go by.
import type { Connection } from "../database/connection.ts";
import { sql } from "../database/statement.ts";
import { foundRow, type FoundRow } from "./journal.ts";

/**
 * Numbers that do not follow each other up to the head, rows that no log has, and rows of a wallet that are in another order
 * than in its log. Behind where the order is whole, it has all of them, up to the last.
 */
export function listOrderFaults(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    WITH placed AS (
      SELECT number, orders.wallet_id, orders.seq, state.wallets_ordered_after AS whole_after,
             coalesce(lag(number) OVER by_number, 0) AS number_before,
             lag(number) OVER of_wallet AS own_before, lag(orders.seq) OVER of_wallet AS seq_before,
             lead(number) OVER of_wallet AS own_after
        FROM ordered_wallet_writes AS orders
        LEFT JOIN ledger_states AS state ON state.ledger_id = ${ledgerId}
       WHERE orders.ledger_id = ${ledgerId}
      WINDOW by_number AS (ORDER BY number),
             of_wallet AS (PARTITION BY orders.wallet_id ORDER BY number)
    ), compared AS (
      SELECT number,
             CASE
               WHEN number <> number_before + 1 THEN 'follows number ' || number_before
               WHEN writes.seq IS NULL
               THEN 'is row ' || placed.seq || ' of wallet ' || placed.wallet_id || ', which its log does not have'
               WHEN placed.seq <= seq_before OR (own_before > whole_after AND placed.seq <> seq_before + 1)
               THEN 'is row ' || placed.seq || ' of wallet ' || placed.wallet_id || ', behind row ' || seq_before
               WHEN number > whole_after AND own_after IS NULL AND placed.seq <> wallets.last_seq
               THEN 'is row ' || placed.seq || ' of wallet ' || placed.wallet_id || ', whose log goes on to row '
                    || wallets.last_seq || ' in no order'
             END AS what
        FROM placed
        LEFT JOIN wallet_writes AS writes
          ON writes.ledger_id = ${ledgerId} AND writes.wallet_id = placed.wallet_id AND writes.seq = placed.seq
        LEFT JOIN wallets
          ON wallets.ledger_id = ${ledgerId} AND wallets.wallet_id = placed.wallet_id
      UNION ALL
      SELECT ends.number, 'is the last, but the head says ' || coalesce(head.last_number::text, 'nothing')
        FROM (SELECT coalesce(max(number), 0) AS number FROM placed) AS ends
        LEFT JOIN wallet_order_heads AS head ON head.ledger_id = ${ledgerId}
       WHERE ends.number <> coalesce(head.last_number, 0)
    )
    SELECT 'wallet write ' || number AS where, what, count(*) OVER () AS total
      FROM compared WHERE what IS NOT NULL ORDER BY number LIMIT 20`);
}
