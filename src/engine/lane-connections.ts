// The connections of a lane that has work, to where its ledger is: to the node that has its shard, or without one to the
// database itself.
import { lockShard } from "../store/citus-nodes.ts";
import { findCause, HostFailure, LedgerMoved } from "../store/database/errors.ts";
import type { PipelinedConnection, Transaction } from "../store/database/pipeline.ts";
import type { Pool } from "../store/database/pool.ts";
import type { LedgerNodes, LedgerShard } from "./ledger-nodes.ts";

/** Where the lanes of all ledgers borrow from: `nodes` where the database is one that Citus spreads. */
interface LanePools {
  readonly pool: Pool;
  readonly nodes: LedgerNodes | null;
}

/** A connection, and once there are large batches a second one, on which the next begins while one is recorded. */
export class LaneConnections {
  readonly #ledgerId: string;
  readonly #nodes: LedgerNodes | null;
  readonly #pool: Pool;
  readonly #shard: LedgerShard | null;
  #current: PipelinedConnection;
  #other: PipelinedConnection | null = null;
  #isOtherAskedFor = false;
  #areGivenBack = false;

  private constructor(
    ledgerId: string,
    { pool, nodes }: LanePools,
    shard: LedgerShard | null,
    connection: PipelinedConnection,
  ) {
    this.#ledgerId = ledgerId;
    this.#nodes = nodes;
    this.#pool = pool;
    this.#shard = shard;
    this.#current = connection;
  }

  /** Borrows one from the pool of the node that has the ledger; where that can't be reached, from the database's. */
  static async borrow(ledgerId: string, pools: LanePools): Promise<LaneConnections> {
    const shard = pools.nodes?.find(ledgerId) ?? null;
    if (shard !== null) {
      const { pool } = shard;
      try {
        return new LaneConnections(ledgerId, { ...pools, pool }, shard, await pool.borrow());
      } catch (error) {
        if (findCause(error, HostFailure) === null) throw error;
        pools.nodes?.passOver(pool);
      }
    }
    return new LaneConnections(ledgerId, pools, null, await pools.pool.borrow());
  }

  /** Whether they are to be given back: others wait for a connection, or the ledger is found to be elsewhere. */
  get areDue(): boolean {
    return this.#pool.isWanted || (this.#nodes?.find(this.#ledgerId) ?? null) !== this.#shard;
  }

  /**
   * Begins a transaction on the connection whose turn it is. `located` rejects with LedgerMoved where the node does not have
   * the ledger any more; what was read there is of no use then.
   */
  begin(): { transaction: Transaction; located: Promise<void> } {
    const shard = this.#shard;
    const transaction = this.#current.begin(shard?.names ?? null);
    if (shard === null) return { transaction, located: Promise.resolve() };
    const located = lockShard(transaction, shard.id).catch((error: unknown) => {
      if (error instanceof LedgerMoved) this.#nodes?.forget(shard);
      throw error;
    });
    return { transaction, located };
  }

  /** Has the next transaction begin on the other connection, if there is one; says whether it does. */
  useOther(): boolean {
    const other = this.#other;
    if (other?.isReusable !== true) return false;
    [this.#current, this.#other] = [other, this.#current];
    return true;
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
      // One is enough.
      () => undefined,
    );
  }

  giveBack(): void {
    this.#areGivenBack = true;
    this.#pool.giveBack(this.#current);
    if (this.#other !== null) this.#pool.giveBack(this.#other);
  }
}
