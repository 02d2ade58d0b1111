// A primary each of whose COMMITs waits for a standby, and who waits there: with that, what nobody may be told yet.
import { Client } from "pg";
import { migrate } from "../../src/store/migrate.ts";
import { runStatement } from "./database.ts";
import { PostgresCluster } from "./postgres-cluster.ts";
import { until } from "./until.ts";

export interface SynchronousClusters {
  readonly primary: PostgresCluster;
  readonly standby: PostgresCluster;
}

/** Both run, the primary is migrated, and the standby follows it. */
export async function startWithStandby(): Promise<SynchronousClusters> {
  const primary = await PostgresCluster.create();
  await primary.start();
  await migrate(primary.url);
  await primary.stop();
  const standby = await primary.copyAsStandby();
  await primary.configure("synchronous_standby_names = '*'");
  await Promise.all([primary.start(), standby.start()]);
  await standbyFollows(primary);
  return { primary, standby };
}

/** Resolves when COMMITs of the primary reach its standby (again). */
export function standbyFollows(primary: PostgresCluster): Promise<unknown> {
  return until("the standby to follow", () =>
    runStatement(primary.url, "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'"),
  );
}

/** The URL of the primary for a server whose sessions have a name there. */
export function urlWithName(primary: PostgresCluster, name: string): string {
  return `${primary.url}?application_name=${name}`;
}

/** Processes of the primary that wait for the standby with what the server of a name has committed. */
export async function waitingProcesses(primary: PostgresCluster, name: string): Promise<number[]> {
  const client = new Client({ connectionString: primary.url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = $1",
    [name],
  );
  await client.end();
  return rows.map(({ pid }) => pid);
}
