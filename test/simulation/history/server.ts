// A server of a history: the real engine over simulated connections. One that is killed is never heard of again.
import { ClosedPeriods } from "../../../src/engine/closed-periods.ts";
import { Closes } from "../../../src/engine/closes.ts";
import { Journal } from "../../../src/engine/journal.ts";
import { WalletHub } from "../../../src/engine/wallet-hub.ts";
import { Poster } from "../../../src/engine/posting.ts";
import { Wallets } from "../../../src/engine/wallets.ts";
import type { WalletLogEntry } from "../../../src/core/wallet.ts";
import { SimulatedPool } from "../database/simulated-pool.ts";
import type { World } from "./world.ts";

const queueItemsMax = 1_000;
const queueBytesMax = 1_000_000;

export class Server {
  readonly index: number;
  readonly pool: SimulatedPool;
  readonly journal: Journal;
  readonly wallets: Wallets;
  readonly closes: Closes;
  readonly poster: Poster;
  readonly hub: WalletHub;
  /** What its streams were told. */
  readonly told: WalletLogEntry[] = [];
  isDead = false;

  constructor(world: World, index: number) {
    const { cluster, delayMs, plan, scheduler } = world;
    const { connectionsMax, batchItemsMax, pollIntervalMs } = plan.setup;
    this.index = index;
    this.pool = new SimulatedPool({ cluster, owner: index, connectionsMax, delayMs });
    const pool = this.pool.asPool;
    const limits = {
      batchItemsMax,
      batchBytesMax: 100_000,
      queueItemsMax,
      queueBytesMax,
      laneItemsMax: queueItemsMax / 4,
      laneBytesMax: queueBytesMax / 4,
      laneWaitMsMax: 1_000,
      // The batches of the one overlap, those of the other don't.
      largeBatchItems: index % 2 === 0 ? 1 : Infinity,
      deadlineMs: 5_000,
      nowMs: () => scheduler.nowMs,
      onFailure: () => undefined,
    };
    this.journal = new Journal(pool, limits);
    this.hub = new WalletHub(pool, {
      pollIntervalMs: pollIntervalMs ?? Infinity,
      onFailure: () => undefined,
    });
    this.wallets = new Wallets(pool, limits, (ledgerId, writes) => {
      if (this.isDead) return;
      this.told.push(...writes);
      this.hub.publish(ledgerId, writes);
    });
    this.closes = new Closes(pool, new ClosedPeriods());
    this.poster = new Poster(pool, { intervalMs: 1_000, onFailure: () => undefined });
  }

  kill(isSilent: boolean): void {
    this.isDead = true;
    this.pool.die(isSilent);
  }
}
