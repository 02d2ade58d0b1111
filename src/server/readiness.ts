// Whether the server can take requests: what /readyz answers, from what was found out in the background.
import type { Log } from "../log.ts";
import { hasCitus, isReached, listNodes } from "../store/citus-nodes.ts";
import type { Pool } from "../store/database/pool.ts";
import { CommitProbe } from "./commit-probe.ts";
import type { Database } from "./database.ts";
import { repeat } from "../engine/repeat.ts";

export interface ReadinessState {
  readonly ready: boolean;
  /** Why not, and what to do; null where it is ready. */
  readonly reason: string | null;
  /** Of a database that Citus spreads: addresses of workers that can't be reached. The others' ledgers are served. */
  readonly nodesDown: readonly string[];
}

const notAsked = "the database has not been asked yet";
const probeIntervalMs = 1_000;
const nodeIntervalMs = 5_000;
/** Until then writes wait for a standby: one that restarts is back. */
const standbyMsMax = 30_000;

export class Readiness {
  readonly #database: Database;
  readonly #log: Log;
  readonly #probe: CommitProbe;
  readonly #probePool: Pool;
  readonly #interactive: Pool;
  readonly #waitMsMax: number;
  #stops: (() => Promise<void>)[] = [];
  #isStopped = false;
  #reason: string | null = notAsked;
  #onFirstResult: () => void = () => undefined;
  /** By address, whether each worker node is reached; empty where Citus is not used. */
  nodes: ReadonlyMap<string, boolean> = new Map();

  /** `probe` has one connection, with the settings of the write path. `waitMsMax`: how long COMMITs wait for a standby. */
  constructor(
    database: Database,
    pools: { probe: Pool; interactive: Pool },
    log: Log,
    waitMsMax = standbyMsMax,
  ) {
    this.#waitMsMax = waitMsMax;
    this.#database = database;
    this.#log = log;
    this.#probePool = pools.probe;
    this.#interactive = pools.interactive;
    this.#probe = new CommitProbe(pools.probe, pools.interactive, (reason, cause) => {
      this.#take(reason, cause);
    });
  }

  /** What was found out last. */
  get state(): ReadinessState {
    const down = [...this.nodes].filter(([, isUp]) => !isUp).map(([address]) => address);
    const state = this.#database.state();
    const reason = state === "running" ? this.#reason : `the database is ${state}`;
    return { ready: reason === null, reason, nodesDown: down };
  }

  /**
   * Whether COMMIT has waited for a standby for so long that no more should be sent: each leaves a session behind that
   * waits in the database, which would soon have none for anybody.
   */
  get areCommitsHalted(): boolean {
    const { waitingForStandbySinceMs: sinceMs } = this.#probe;
    return sinceMs !== null && performance.now() - sinceMs > this.#waitMsMax;
  }

  /** Begins to look; resolves with the first result, whichever it is. */
  start(): Promise<void> {
    const first = new Promise<void>((resolve) => {
      this.#onFirstResult = resolve;
    });
    this.#stops = [
      repeat(probeIntervalMs, () => this.#probe.commit()),
      repeat(nodeIntervalMs, () => this.#askNodes()),
    ];
    return first;
  }

  async stop(): Promise<void> {
    // What is under way may wait for the database as long as it likes.
    for (const stop of this.#stops) void stop();
    this.#isStopped = true;
    await this.#probePool.cut();
  }

  #take(reason: string | null, cause: string | null): void {
    this.#onFirstResult();
    if (this.#isStopped || reason === this.#reason) return;
    const isFirst = this.#reason === notAsked;
    this.#reason = reason;
    if (reason !== null)
      this.#log.warn({ reason, ...(cause === null ? {} : { cause }) }, "not ready");
    else if (!isFirst) this.#log.warn("ready again");
  }

  async #askNodes(): Promise<void> {
    try {
      if (!(await hasCitus(this.#interactive))) return;
      const nodes = await listNodes(this.#interactive);
      const answers = new Map<string, boolean>();
      // One after the other: those that hang must not keep the connections that requests are answered with.
      for (const node of nodes) {
        const isUp = await isReached(this.#interactive, node).catch(() => false);
        answers.set(`${node.name}:${node.port}`, isUp);
      }
      for (const [address, isUp] of answers) {
        if ((this.nodes.get(address) ?? true) === isUp) continue;
        this.#log.warn(
          { node: address },
          isUp ? "a Citus worker is back" : "a Citus worker is down",
        );
      }
      this.nodes = answers;
    } catch {
      // The database itself does not answer, which the probe says.
    }
  }
}
