// The worker nodes of a database that Citus spreads over machines: whether they can be reached, and which ledgers each has.
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import { LedgerMoved, sqlStateOf } from "./database/errors.ts";
import { startedAtText } from "./database/session.ts";
import { command, sql } from "./database/statement.ts";

const presenceRow = z.object({ isPresent: z.boolean() });

/** Whether the database is spread at all. */
export async function hasCitus(connection: Connection): Promise<boolean> {
  const { isPresent } = await connection.one(
    sql.type(presenceRow)`SELECT to_regclass('pg_dist_node') IS NOT NULL AS "isPresent"`,
  );
  return isPresent;
}

const nodeRow = z.object({ name: z.string(), port: z.number() });

export type CitusNode = z.output<typeof nodeRow>;

/** Nodes that hold parts of tables, by address. */
export function listNodes(connection: Connection): Promise<CitusNode[]> {
  return connection.any(sql.type(nodeRow)`
    SELECT nodename AS name, nodeport AS port FROM pg_dist_node
     WHERE isactive AND noderole = 'primary' AND groupid <> 0 ORDER BY nodename, nodeport`);
}

const reachedRow = z.object({ isReached: z.boolean() });

/** Whether the coordinator reaches a node. Rejects where that takes longer than a statement may. */
export async function isReached(
  connection: Connection,
  { name, port }: CitusNode,
): Promise<boolean> {
  const { isReached: reached } = await connection.one(sql.type(reachedRow)`
    SELECT coalesce(citus_check_connection_to_node(${name}, ${port}), false) AS "isReached"`);
  return reached;
}

const shardIdRow = z.object({ shardId: z.number() });

/** The shard that has a ledger. Each shard of a table has the same ledgers as one of `ledger_states`, which is meant. */
export async function findShardId(connection: Connection, ledgerId: string): Promise<number> {
  const { shardId } = await connection.one(sql.type(shardIdRow)`
    SELECT get_shard_id_for_distribution_column('ledger_states', ${ledgerId}::text) AS "shardId"`);
  return shardId;
}

const placementRow = nodeRow.extend({ shardId: z.number() });

/** A shard, and the node that has it. */
type ShardPlacement = z.output<typeof placementRow>;

/** Which node has each shard. */
export function listPlacements(connection: Connection): Promise<ShardPlacement[]> {
  return connection.any(sql.type(placementRow)`
    SELECT shards.shardid AS "shardId", nodes.nodename AS name, nodes.nodeport AS port
      FROM pg_dist_shard AS shards
      JOIN pg_dist_placement AS placements
        ON placements.shardid = shards.shardid AND placements.shardstate = 1
      JOIN pg_dist_node AS nodes ON nodes.groupid = placements.groupid AND nodes.noderole = 'primary'
     WHERE shards.logicalrelid = 'ledger_states'::regclass AND nodes.groupid <> 0`);
}

const shardNameRow = shardIdRow.extend({ table: z.string(), name: z.string() });

/** What each table is called on the node that has a shard, with the reference tables, of which each node has a copy. */
export function listShardNames(connection: Connection): Promise<z.output<typeof shardNameRow>[]> {
  return connection.any(sql.type(shardNameRow)`
    SELECT shards.shardid AS "shardId", beside.logicalrelid::text AS table,
           shard_name(beside.logicalrelid, beside.shardid) AS name
      FROM pg_dist_shard AS shards
      JOIN pg_dist_partition AS split ON split.logicalrelid = shards.logicalrelid
      JOIN pg_dist_partition AS tables
        ON tables.colocationid = split.colocationid OR tables.repmodel = 't'
      JOIN pg_dist_shard AS beside
        ON beside.logicalrelid = tables.logicalrelid
       AND (tables.repmodel = 't' OR beside.shardminvalue = shards.shardminvalue)
     WHERE shards.logicalrelid = 'ledger_states'::regclass`);
}

const startRow = z.object({ startedAt: z.string() });

/** Since when a node runs, as `startedAtText` says it there; null where the coordinator does not reach it. */
export async function findStart(
  connection: Connection,
  { name, port }: CitusNode,
): Promise<string | null> {
  const found = await connection.maybeOne(sql.type(startRow)`
    SELECT result AS "startedAt"
      FROM master_run_on_worker(ARRAY[${name}], ARRAY[${port}::integer], ARRAY[${`SELECT ${startedAtText}`}], false)
     WHERE success`);
  return found?.startedAt ?? null;
}

const ownerRow = z.object({ isOwner: z.boolean() });

/** Whether the role of a connection may lock shards: Citus lets the owner of the tables. */
export async function mayLockShards(connection: Connection): Promise<boolean> {
  const { isOwner } = await connection.one(sql.type(ownerRow)`
    SELECT pg_has_role(relowner, 'USAGE') AS "isOwner"
      FROM pg_class WHERE oid = 'ledger_states'::regclass`);
  return isOwner;
}

const lockRow = z.object({});
const hereRow = z.object({ isHere: z.boolean() });
/** PostgreSQL's ShareLock: writers have it together, a move or a split alone. */
const shareLock = 5;

/**
 * Locks a shard on its node until the transaction ends, as Citus does for its own writers: a move or a split waits for
 * it. Throws LedgerMoved where the node does not have the shard any more; what is there under its name is not written to.
 */
export async function lockShard(transaction: Connection, shardId: number): Promise<void> {
  try {
    const [, { isHere }] = await Promise.all([
      transaction.any(sql.type(lockRow)`
        SELECT FROM lock_shard_metadata(${shareLock}, ARRAY[${shardId}::bigint])`),
      // A statement of its own: it sees what was committed before the lock was granted.
      transaction.one(sql.type(hereRow)`
        SELECT EXISTS (
          SELECT FROM pg_dist_placement JOIN pg_dist_local_group USING (groupid)
           WHERE shardid = ${shardId} AND shardstate = 1) AS "isHere"`),
    ]);
    if (isHere) return;
  } catch (error) {
    // Citus has no code of its own for a shard that was split; both statements fail of it.
    if (sqlStateOf(error) !== "XX000") throw error;
  }
  throw new LedgerMoved();
}

/**
 * Keeps a ledger on its node until the transaction ends, where that goes through the coordinator. Citus does so from the first
 * statement on that changes rows, and not for one that locks them: when they are changed, they could be on another node,
 * where nobody has locked them. So this is a change, of no row. It comes before the locks.
 */
export async function lockPlace(transaction: Connection, ledgerId: string): Promise<void> {
  if (!transaction.isToCoordinator) return;
  await transaction.run(command`
    DELETE FROM ledger_state_requests WHERE ledger_id = ${ledgerId} AND waits_until = '-infinity'`);
}
