// Finds out soon when the host that serves hangs and another one does not. Without it, whoever waits for an answer of that
// host would wait for as long as a statement may take.
import type { Log } from "../log.ts";
import { isStandby } from "../store/database-settings.ts";
import { hostsOf } from "../store/database/hosts.ts";
import { Pool } from "../store/database/pool.ts";
import { repeat } from "../engine/repeat.ts";

const intervalMs = 1_000;
const answerTimeoutMs = 2_000;

/** Whether a database has hosts to choose from. If so, each process has a session of its own to watch them. */
export function hasHostsToWatch(databaseUrl: string): boolean {
  const { isSeveral, needsPrimary } = hostsOf(databaseUrl);
  return isSeveral && needsPrimary;
}

/**
 * Asks the host that serves whether it still does. Where it does not answer, the next session is opened on one that
 * does and is the primary, and that one ends all sessions on others. Returns what ends the watch.
 */
export function watchHosts(databaseUrl: string, log: Log): () => Promise<void> {
  if (!hasHostsToWatch(databaseUrl)) return async () => undefined;
  const hosts = hostsOf(databaseUrl);
  const pool = new Pool({
    databaseUrl,
    connectionsMax: 1,
    answerTimeoutMs,
    purpose: "host watch",
  });
  let { serving } = hosts;
  const stop = repeat(intervalMs, async () => {
    try {
      await pool.withConnection(async (connection) => {
        // A proxy in front of the host may have gone on to a standby.
        if (await isStandby(connection)) connection.cut();
      });
    } catch {
      // Whoever needs the database says what is wrong with it.
      return;
    }
    const before = serving;
    ({ serving } = hosts);
    if (before === null || before === serving) return;
    log.warn({ host: serving?.name }, "another host of the database serves now");
  });
  return async () => {
    void stop();
    await pool.cut();
  };
}
