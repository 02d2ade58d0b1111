// Whether the server can take requests: what /readyz answers.
import { setTimeout as sleep } from "node:timers/promises";
import { pingDatabase } from "../store/database-settings.ts";
import type { Pool } from "../store/database/pool.ts";
import type { Database } from "./database.ts";

const answerTimeoutMs = 2_000;

/** Makes the check. It asks the database, unless that is known to be away; calls at the same time share the answer. */
export function createReadinessCheck(database: Database, pool: Pool) {
  let ping: Promise<boolean> | null = null;
  return async (): Promise<{ ready: boolean; reason: string | null }> => {
    const state = database.state();
    if (state !== "running") return { ready: false, reason: `the database is ${state}` };
    ping ??= pingDatabase(pool)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        ping = null;
      });
    const ready = await Promise.race([ping, sleep(answerTimeoutMs, false, { ref: false })]);
    return { ready, reason: ready ? null : "the database does not answer" };
  };
}
