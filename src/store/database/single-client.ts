// One connection without a pool and without pipelining, for what those can't do, such as migrations.
import type { Client } from "pg";
import { ConnectionBroken } from "./errors.ts";
import { hostsOf } from "./hosts.ts";
import { requireOwnBackends } from "./pooler.ts";
import { openSession } from "./session.ts";

/** Runs `work` with a connection of its own, and closes it. `purpose` is shown in pg_stat_activity behind "ledgerctl". */
export async function withSingleClient<Result>(
  databaseUrl: string,
  purpose: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const hosts = hostsOf(databaseUrl);
  const client = await openSession({
    hosts,
    applicationName: `ledgerctl ${purpose}`,
    settings: {},
    driver: {},
    detectsDisconnects: false,
  });
  const breaks: ConnectionBroken[] = [];
  client.on("error", (error) => breaks.push(new ConnectionBroken(error)));
  try {
    // Before anything is locked: behind a pooler that shares backends, it would stay locked.
    await requireOwnBackends(hosts);
    return await work(client);
  } catch (error) {
    throw breaks[0] ?? error;
  } finally {
    await client.end();
  }
}
