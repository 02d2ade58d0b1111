// Those who read the streams of wallets: one for each wallet at each server, from its start on.
import type { BalanceEvent } from "../../../src/engine/wallet-feed.ts";
import { hasConfirmed, logVersions } from "../model/replication.ts";
import { shown } from "../model/violation.ts";
import { walletKeys } from "./make-plan.ts";
import type { Server } from "./server.ts";
import type { World } from "./world.ts";

export interface StreamReader {
  readonly server: Server;
  readonly ledgerId: string;
  readonly callerKey: string;
  /** The first event is of a later seq; null before it has subscribed. */
  fromSeq: number | null;
  readonly events: BalanceEvent[];
}

const retryMs = 300;

export class StreamReaders {
  readonly all: StreamReader[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Begins to read all streams of a server. */
  open(server: Server): void {
    for (const { ledgerId } of this.#world.ledgers) {
      for (const callerKey of walletKeys) {
        const reader = { server, ledgerId, callerKey, fromSeq: null, events: [] };
        this.all.push(reader);
        void this.#subscribe(reader);
      }
    }
  }

  async #subscribe(reader: StreamReader): Promise<void> {
    const { server, ledgerId, callerKey } = reader;
    try {
      const { fromPlace } = await server.hub.subscribe(ledgerId, callerKey, (event) => {
        if (!server.isDead) this.#read(reader, event);
      });
      reader.fromSeq = fromPlace;
    } catch {
      this.#world.scheduler.after(retryMs, () => {
        if (!server.isDead) void this.#subscribe(reader);
      });
    }
  }

  #read(reader: StreamReader, event: BalanceEvent): void {
    reader.events.push(event);
    const isRight = event.isPosting ? this.#isPosted(reader) : this.#isLogged(reader, event);
    this.#world.violations.expect(
      isRight,
      "told before the standby has it",
      () => `the stream of ${reader.callerKey} told of ${shown(event)}`,
    );
  }

  #isLogged({ ledgerId, callerKey }: StreamReader, event: BalanceEvent): boolean {
    const { cluster } = this.#world;
    const versions = logVersions(
      cluster,
      ledgerId,
      callerKey,
      ({ seq, balance, held }) =>
        seq === event.seq && balance === event.balance && balance - held === event.available,
    );
    return hasConfirmed(cluster, versions);
  }

  /** An event does not say which entry posted: no more are told of than there are. */
  #isPosted({ ledgerId, callerKey, events }: StreamReader): boolean {
    const { cluster } = this.#world;
    const { wallets, walletBatches } = cluster.tables;
    const made = wallets.versionsOf(wallets.keyOf({ ledgerId, callerKey }));
    const posted = new Set<string>();
    for (const { row, createdBy } of walletBatches.allVersions()) {
      if (row.journalId === null || !cluster.isConfirmed(createdBy)) continue;
      if (made.some((wallet) => row.walletIds.includes(wallet.row.walletId))) {
        posted.add(row.journalId);
      }
    }
    return events.filter(({ isPosting }) => isPosting).length <= posted.size;
  }
}
