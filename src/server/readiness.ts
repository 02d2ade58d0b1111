// Whether the server can take requests: what /readyz answers.
import { setTimeout as sleep } from "node:timers/promises";
import { pingDatabase } from "../store/database-settings.ts";
import type { Pool } from "../store/database/pool.ts";
import type { Database } from "./database.ts";

const answerTimeoutMs = 2_000;

/** Asks the database, unless it is known to be away; those who ask at the same time share the answer. */
export class Readiness {
  readonly #database: Database;
  readonly #pool: Pool;
  #ping: Promise<boolean> | null = null;
  #isStopping = false;

  constructor(database: Database, pool: Pool) {
    this.#database = database;
    this.#pool = pool;
  }

  /** From now on the server is not ready. */
  stop(): void {
    this.#isStopping = true;
  }

  async check(): Promise<{ ready: boolean; reason: string | null }> {
    if (this.#isStopping) return { ready: false, reason: "the server is stopping" };
    const state = this.#database.state();
    if (state !== "running") return { ready: false, reason: `the database is ${state}` };
    this.#ping ??= pingDatabase(this.#pool)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#ping = null;
      });
    const ready = await Promise.race([this.#ping, sleep(answerTimeoutMs, false, { ref: false })]);
    return { ready, reason: ready ? null : "the database does not answer" };
  }
}
