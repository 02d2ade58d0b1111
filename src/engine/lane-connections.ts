// The connections of a lane that has work, to where its ledger is: to the node that has its shard, or without one to the
// database itself.
import { findCause, HostFailure } from "../store/database/errors.ts";
import type { PipelinedConnection, Transaction } from "../store/database/pipeline.ts";
import type { Pool } from "../store/database/pool.ts";
import type { LedgerShard } from "./ledger-nodes.ts";
import type { LaneContext } from "./lane-work.ts";

/** A connection, and once there are large batches a second one, on which the next begins while one is recorded. */
export class LaneConnections {
  readonly shard: LedgerShard | null;
  readonly #pool: Pool;
  #current: PipelinedConnection;
  #other: PipelinedConnection | null = null;
  #isOtherAskedFor = false;
  #areGivenBack = false;

  private constructor(pool: Pool, shard: LedgerShard | null, connection: PipelinedConnection) {
    this.#pool = pool;
    this.shard = shard;
    this.#current = connection;
  }

  /** Borrows one from the pool of the shard's node; where that can't be reached, from the database's. */
  static async borrow<Item, Reply>(
    { pool, options }: LaneContext<Item, Reply>,
    shard: LedgerShard | null,
  ): Promise<LaneConnections> {
    if (shard !== null) {
      try {
        return new LaneConnections(shard.pool, shard, await shard.pool.borrow());
      } catch (error) {
        if (findCause(error, HostFailure) === null) throw error;
        options.nodes?.passOver(shard.pool);
      }
    }
    return new LaneConnections(pool, null, await pool.borrow());
  }

  /** Whether others wait for a connection. */
  get areWanted(): boolean {
    return this.#pool.isWanted;
  }

  /** Begins a transaction on the connection whose turn it is. */
  begin(): Transaction {
    return this.#current.begin(this.shard?.names ?? null);
  }

  /** Gives the other connection its turn, if there is one. */
  takeTurns(): void {
    const other = this.#other;
    if (other?.isReusable === true) [this.#current, this.#other] = [other, this.#current];
  }

  /** Borrows a second one in the background, unless it would be waited for. */
  borrowSecond(): void {
    const { busy, max } = this.#pool.usage;
    if (this.#isOtherAskedFor || busy >= max) return;
    this.#isOtherAskedFor = true;
    this.#pool.borrow().then(
      (connection) => {
        if (this.#areGivenBack) this.#pool.giveBack(connection);
        else this.#other = connection;
      },
      // The first one does.
      () => undefined,
    );
  }

  giveBack(): void {
    this.#areGivenBack = true;
    this.#pool.giveBack(this.#current);
    if (this.#other !== null) this.#pool.giveBack(this.#other);
  }
}
