// Looks, while a server runs behind a pooler, whether each of its sessions still has a backend of its own: the pooler's
// settings may change at any time, and nothing else would show it.
import type { Log } from "../log.ts";
import { hostsOf } from "../store/database/hosts.ts";
import { findSharing } from "../store/database/pooler.ts";
import { repeat } from "../engine/repeat.ts";

/** While sessions share backends, all connections are refused. Returns what ends the watch. */
export function watchPooler(databaseUrl: string, intervalMs: number, log: Log): () => void {
  const hosts = hostsOf(databaseUrl);
  let isRefused = false;
  const stop = repeat(intervalMs, async () => {
    // Where it can't be learned, the database is away or has no connection to give, which is dealt with elsewhere.
    const sharing = await findSharing(hosts).catch(() => undefined);
    if (sharing === undefined || (sharing !== null) === isRefused) return;
    isRefused = sharing !== null;
    hosts.refuse(sharing);
    if (sharing !== null)
      log.error({ cause: sharing.message }, "the database is not used any more");
    else log.warn("the pooler keeps sessions apart again: the database is used again");
  });
  return () => void stop();
}
