// The worker nodes of a database that Citus spreads over machines, asked whether they can be reached.
import * as z from "zod";
import type { Connection } from "./database/connection.ts";
import { sql } from "./database/statement.ts";

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
