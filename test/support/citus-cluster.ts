// The Citus cluster that LEDGERCTL_TEST_DATABASE_URL may name the coordinator of: a database for a test is one of this name
// on each node.
import { Client } from "pg";
import { distribute } from "../../src/store/distribution.ts";
import { migrate } from "../../src/store/migrate.ts";
import {
  closeDatabase,
  dropFrom,
  listNodes,
  makeDatabaseName,
  runStatement,
  withDatabase,
  type TestDatabase,
} from "./database.ts";

/** The URLs of a server and, where it is the coordinator of a cluster, of the nodes with parts of tables. */
export async function findNodes(url: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const found = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'");
    if (found.rowCount === 0) return [url];
    const { rows } = await client.query<{ host: string; port: number }>(
      `SELECT nodename AS host, nodeport AS port FROM pg_dist_node
        WHERE isactive AND noderole = 'primary' ORDER BY groupid`,
    );
    return rows.map(({ host, port }) => {
      const node = new URL(url);
      node.host = `${host}:${port}`;
      return node.href;
    });
  } finally {
    await client.end();
  }
}

/** Few, so that tests do not wait for them: each node has some. */
const shardCount = 4;

/** A database of a test without a schema, on each node of the cluster. */
export async function createEmptyCluster(): Promise<TestDatabase> {
  const nodes = await listNodes();
  const name = makeDatabaseName();
  const url = await makeCluster(nodes, name);
  return { url, drop: () => dropFrom(nodes, name) };
}

/** Makes an empty database on each node, and a cluster of them. Returns the URL of the coordinator's. */
async function makeCluster(nodes: readonly string[], name: string): Promise<string> {
  for (const node of nodes) {
    await runStatement(node, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
    await runStatement(node, `ALTER DATABASE ${name} SET citus.shard_count = ${shardCount}`);
    await runStatement(withDatabase(node, name), "CREATE EXTENSION citus");
  }
  const [coordinator = "", ...workers] = nodes.map((node) => withDatabase(node, name));
  const address = (url: string) => [new URL(url).hostname, Number(new URL(url).port)];
  await runStatement(
    coordinator,
    "SELECT citus_set_coordinator_host($1, $2)",
    address(coordinator),
  );
  for (const worker of workers) {
    await runStatement(coordinator, "SELECT citus_add_node($1, $2)", address(worker));
  }
  return coordinator;
}

/** Makes a migrated database that is spread over the nodes, and that nobody can connect to, so that it can be cloned. */
export async function makeDistributedTemplate(
  nodes: readonly string[],
  name: string,
): Promise<void> {
  const coordinator = await makeCluster(nodes, name);
  await migrate(coordinator);
  await distribute(coordinator);
  for (const node of nodes) await closeDatabase(node, name);
}
