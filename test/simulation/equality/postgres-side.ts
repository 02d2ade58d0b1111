// Real PostgreSQL as one of the two databases that are compared.
import * as z from "zod";
import type { Timestamp } from "../../../src/core/time.ts";
import { insertAccount } from "../../../src/store/accounts.ts";
import type { PipelinedConnection } from "../../../src/store/database/pipeline.ts";
import { Pool } from "../../../src/store/database/pool.ts";
import { sql } from "../../../src/store/database/statement.ts";
import { insertLedger } from "../../../src/store/ledgers.ts";
import { insertOrganization } from "../../../src/store/organizations.ts";
import { codes, functionalCurrency, organizationId } from "./domain.ts";
import { Side } from "./side.ts";

const createdAt = "2026-01-01T00:00:00.000Z" as Timestamp;

export class PostgresDatabase {
  readonly #pool: Pool;
  #connections: readonly PipelinedConnection[] = [];
  #pids: readonly number[] = [];

  constructor(databaseUrl: string) {
    this.#pool = new Pool({
      databaseUrl,
      connectionsMax: 4,
      lockTimeoutMs: 30_000,
      answerTimeoutMs: 40_000,
      keepsPlans: true,
    });
  }

  async open(sessions: number): Promise<void> {
    await insertOrganization(this.#pool, { organizationId, name: "first", createdAt });
    this.#connections = await Promise.all(
      Array.from({ length: sessions }, () => this.#pool.borrow()),
    );
    this.#pids = await Promise.all(this.#connections.map(pidOf));
  }

  /** Its sessions, with ledgers of their own. */
  async openSide(ledgerIds: readonly string[]): Promise<Side> {
    for (const ledgerId of ledgerIds) {
      const closesInOrder = ledgerId === ledgerIds[1];
      const identity = { ledgerId, organizationId, functionalCurrency };
      await insertLedger(this.#pool, { ...identity, name: "first", closesInOrder, createdAt });
      const account = { glAccountCode: codes[0] ?? "", name: "first", type: null, active: true };
      await insertAccount(this.#pool, ledgerId, account, createdAt);
    }
    return new Side(this.#connections, {
      settleOrWait: (session, isSettled) => this.#settleOrWait(session, isSettled),
    });
  }

  async end(): Promise<void> {
    for (const connection of this.#connections) this.#pool.giveBack(connection);
    await this.#pool.end();
  }

  async #settleOrWait(session: number, isSettled: () => boolean): Promise<readonly number[]> {
    const pid = this.#pids[session] ?? 0;
    for (;;) {
      // A round trip each time, so that this is no idle loop; a statement that never ends is ended by its timeout.
      const blockers = await listBlockers(this.#pool, pid);
      if (isSettled()) return [];
      if (blockers.length > 0) return blockers.map((each) => this.#pids.indexOf(each)).sort();
    }
  }
}

const pidRow = z.object({ pid: z.number() });

async function pidOf(connection: PipelinedConnection): Promise<number> {
  const { pid } = await connection.one(sql.type(pidRow)`SELECT pg_backend_pid() AS pid`);
  return pid;
}

const blockersRow = z.object({ pids: z.array(z.number()) });

async function listBlockers(pool: Pool, pid: number): Promise<readonly number[]> {
  const { pids } = await pool.one(sql.type(blockersRow)`
    SELECT to_json(pg_blocking_pids(${pid})) AS pids`);
  return pids;
}
