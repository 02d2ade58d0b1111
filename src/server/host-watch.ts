// Finds out soon when the host that serves hangs and another one does not, or when another one was promoted. Without it,
// whoever waits for an answer of a host that hangs would wait for as long as a statement may take, and a host that
// answers would be written to although another one is the primary.
import type { Log } from "../log.ts";
import { isStandby } from "../store/database-settings.ts";
import { HostProbe } from "../store/database/host-probe.ts";
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
 * does and is the primary, and that one ends all sessions on others. The other hosts are asked whether they were
 * promoted: the one that serves may not know it, and answer. Returns what ends the watch.
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
  const unlisten = hosts.onTakeover((host) => {
    log.warn({ host: host.name }, "another host of the database serves now");
  });
  const askServing = async () => {
    try {
      await pool.withConnection(async (connection) => {
        // A proxy in front of the host may have gone on to a standby.
        if (await isStandby(connection)) connection.cut();
      });
    } catch {
      // Whoever needs the database says what is wrong with it.
    }
  };
  const probes = hosts.all.map((host) => new HostProbe(hosts, host));
  const stops = [
    repeat(intervalMs, askServing),
    ...probes.map((probe) => repeat(intervalMs, () => probe.look())),
  ];
  return async () => {
    unlisten();
    const stopped = stops.map((stop) => stop());
    for (const probe of probes) probe.cut();
    await Promise.all([...stopped, pool.cut()]);
  };
}
