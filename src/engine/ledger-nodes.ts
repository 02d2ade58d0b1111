// Which node of a Citus cluster has a ledger, and connections to it: lanes write there, past the coordinator
// (docs/decisions/0024).
import { haveLedgersOwnActs } from "../store/administration-acts.ts";
import {
  findShardId,
  findStart,
  listPlacements,
  listShardNames,
  mayLockShards,
  type CitusNode,
} from "../store/citus-nodes.ts";
import type { Pool } from "../store/database/pool.ts";
import { ShardNames } from "../store/database/shard-names.ts";
import { repeat } from "./repeat.ts";

export interface LedgerNodesOptions {
  readonly intervalMs: number;
  /** Opens connections to a node that runs since `startedAt`. */
  readonly openPool: (node: CitusNode, startedAt: string) => Pool;
  /** A node takes no writes from here: they go through the coordinator. */
  readonly onRefused: (address: string, error: unknown) => void;
  readonly onFailure: (error: unknown) => void;
  readonly onSuccess: () => void;
}

/** Where the ledgers of one shard are. */
export interface LedgerShard {
  readonly id: number;
  readonly pool: Pool;
  readonly names: ShardNames;
}

interface Node {
  /** Null where it can't be written to from here. */
  readonly pool: Pool | null;
  readonly metMs: number;
}

/** A node that refused us is asked again after so long: its log has a line for each time. */
const refusedMsMin = 60_000;

export class LedgerNodes {
  readonly #coordinator: Pool;
  readonly #options: LedgerNodesOptions;
  readonly #shardIds = new Map<string, number>();
  readonly #asked = new Set<string>();
  /** By address. */
  readonly #nodes = new Map<string, Node>();
  #names: ReadonlyMap<number, ShardNames> = new Map();
  #shards: ReadonlyMap<number, LedgerShard> = new Map();
  #stopLooking: () => Promise<void> = async () => undefined;

  constructor(coordinator: Pool, options: LedgerNodesOptions) {
    this.#coordinator = coordinator;
    this.#options = options;
  }

  /** The pools of the nodes that are written to, by address. */
  get pools(): ReadonlyMap<string, Pool> {
    return new Map(
      [...this.#nodes].flatMap(([address, { pool }]) => (pool === null ? [] : [[address, pool]])),
    );
  }

  /** Begins to look where shards are; on one machine it looks once. */
  start(): void {
    this.#stopLooking = repeat(this.#options.intervalMs, () => this.#refresh());
  }

  /** Looks no more; what is known is written to. */
  stop(): Promise<void> {
    return this.#stopLooking();
  }

  /** Ends the connections, when nothing is written any more and it has stopped. */
  async end(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.end()));
  }

  /** The shard of a ledger; null where it is not known yet, or its node can't be written to: then the coordinator is. */
  find(ledgerId: string): LedgerShard | null {
    if (this.#shards.size === 0) return null;
    const shardId = this.#shardIds.get(ledgerId);
    if (shardId !== undefined && this.#names.has(shardId)) return this.#shards.get(shardId) ?? null;
    // Not known yet, or in another one since its shard was split.
    void this.#learn(ledgerId);
    return null;
  }

  /** Has a shard that is elsewhere by now looked for again. */
  forget(shard: LedgerShard): void {
    this.#leave(({ id }) => id === shard.id);
  }

  /** Leaves a node that could not be connected to, until it is found again. */
  passOver(pool: Pool): void {
    for (const [address, node] of this.#nodes) {
      if (node.pool === pool) this.#nodes.delete(address);
    }
    this.#leave((shard) => shard.pool === pool);
    void pool.end();
  }

  #leave(isLeft: (shard: LedgerShard) => boolean): void {
    this.#shards = new Map([...this.#shards].filter(([, shard]) => !isLeft(shard)));
  }

  async #learn(ledgerId: string): Promise<void> {
    if (this.#asked.has(ledgerId)) return;
    this.#asked.add(ledgerId);
    try {
      this.#shardIds.set(ledgerId, await findShardId(this.#coordinator, ledgerId));
    } catch (error) {
      this.#options.onFailure(error);
    } finally {
      this.#asked.delete(ledgerId);
    }
  }

  /** True where there are no nodes to look for. */
  async #refresh(): Promise<boolean> {
    try {
      if (!(await haveLedgersOwnActs(this.#coordinator))) return true;
      const placements = await listPlacements(this.#coordinator);
      if (placements.some(({ shardId }) => !this.#names.has(shardId))) await this.#readNames();
      const nodes = new Map(placements.map((placement) => [addressOf(placement), placement]));
      for (const [address, node] of nodes) await this.#meet(address, node);
      const shards = placements.flatMap(({ shardId: id, ...node }): LedgerShard[] => {
        const pool = this.#nodes.get(addressOf(node))?.pool ?? null;
        const names = this.#names.get(id);
        if (pool === null || names === undefined) return [];
        const before = this.#shards.get(id);
        return [before?.pool === pool ? before : { id, pool, names }];
      });
      this.#shards = new Map(shards.map((shard) => [shard.id, shard]));
      this.#options.onSuccess();
    } catch (error) {
      this.#options.onFailure(error);
    }
    return false;
  }

  /** A shard keeps its names; one that was split is gone. */
  async #readNames(): Promise<void> {
    const tables = new Map<number, Map<string, string>>();
    for (const { shardId, table, name } of await listShardNames(this.#coordinator)) {
      const names = tables.get(shardId) ?? new Map<string, string>();
      tables.set(shardId, names.set(table, name));
    }
    this.#names = new Map(
      [...tables].map(([id, names]) => [
        id,
        this.#names.get(id) ?? new ShardNames(names, String(id)),
      ]),
    );
  }

  /** Opens connections to a node that is new here, where it lets us write. */
  async #meet(address: string, node: CitusNode): Promise<void> {
    const known = this.#nodes.get(address);
    const metMs = performance.now();
    if (known !== undefined && (known.pool !== null || metMs - known.metMs < refusedMsMin)) return;
    // One that hangs must not keep those from being found that do not.
    const startedAt = await findStart(this.#coordinator, node).catch(() => null);
    if (startedAt === null) return;
    const pool = this.#options.openPool(node, startedAt);
    try {
      if (!(await mayLockShards(pool))) throw new Error("the role does not own the tables");
      this.#nodes.set(address, { pool, metMs });
    } catch (error) {
      this.#nodes.set(address, { pool: null, metMs });
      void pool.end();
      if (known === undefined) this.#options.onRefused(address, error);
    }
  }
}

const addressOf = ({ name, port }: CitusNode) => `${name}:${port}`;
