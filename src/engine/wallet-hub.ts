// Streams of wallets: who reads which wallet, and every accepted write to each of them once and in
// order, whichever server accepted it. What this process commits is pushed at once; for the rest the
// logs of the wallets that have listeners are polled. What others wrote is sent only behind a COMMIT of our own
// (docs/decisions/0010). No socket is met here.
import { setImmediate as immediate } from "node:timers/promises";
import type { WalletLogEntry } from "../core/wallet.ts";
import { listPendingPostingIds, listPostings } from "../store/pending-postings.ts";
import {
  findLastWriteSeq,
  listWalletHistory,
  type PostedWalletLogEntry,
} from "../store/wallet-writes.ts";
import { listWalletFigures, type WalletFigures } from "../store/wallets.ts";
import type { Pool } from "../store/database/pool.ts";
import {
  commitBarrier,
  confirmRead,
  FeedPolling,
  pollEach,
  type FeedOptions,
} from "./feed-polling.ts";
import { confirm, Feeds, newFeed, type Subscription } from "./feeds.ts";
import {
  eventOf,
  sendPostings,
  sendWrite,
  type BalanceEvent,
  type WalletFeed,
} from "./wallet-feed.ts";

const rowsMax = 500;
const rowsPerTick = 50;
/** Wallets asked about in one poll; with more of them, each is asked every so many polls. */
const feedsPerPoll = 2_000;

export class WalletHub {
  readonly #pool: Pool;
  readonly #options: FeedOptions;
  readonly #polling: FeedPolling;
  readonly #feeds = new Feeds<BalanceEvent, WalletFeed>((feed) => this.#sendConfirmed(feed));
  #pollFrom = 0;

  constructor(pool: Pool, options: FeedOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#polling = new FeedPolling(
      options,
      () => this.#feeds.count > 0,
      () => this.#poll(),
    );
  }

  /** Wallets that somebody listens to. */
  get walletCount(): number {
    return this.#feeds.count;
  }

  /**
   * Listens to what is accepted from now on. Resolves when nothing accepted later can be missed. `onLost` is called
   * when the hub forgets the wallet, after which the listener is given nothing any more.
   */
  async subscribe(
    ledgerId: string,
    callerKey: string,
    listener: (event: BalanceEvent) => void,
    onLost: () => void = () => undefined,
  ): Promise<Subscription> {
    const key = feedKey(ledgerId, callerKey);
    const subscription = await this.#feeds.subscribe(
      key,
      { listener, onLost },
      {
        readStart: async () => {
          const figures = await this.#readConfirmed(ledgerId, callerKey);
          return { place: figures?.lastSeq ?? 0, figures };
        },
        open: ({ figures }) => this.#openFeed(ledgerId, callerKey, figures),
      },
    );
    this.#polling.soon();
    return subscription;
  }

  /**
   * A part of a wallet's log after a seq, for a listener that was here before, and the seq it reaches. Nothing of it
   * that is later than the subscription, or than the events since, may be sent: it may not be confirmed.
   */
  async readSince(
    ledgerId: string,
    callerKey: string,
    seq: number,
  ): Promise<{ events: BalanceEvent[]; reachedSeq: number }> {
    const rows = await this.#readRows(ledgerId, callerKey, seq);
    return {
      events: rows.flatMap((row) => (row.type === "expire" ? [] : [eventOf(row)])),
      reachedSeq: rows.at(-1)?.seq ?? seq,
    };
  }

  /** Sends what this process has just committed. Never throws: the writes are recorded, sent or not. */
  publish(ledgerId: string, writes: readonly WalletLogEntry[]): void {
    if (this.#feeds.count === 0) return;
    try {
      for (const write of writes) this.#publishOne(ledgerId, write);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  #publishOne(ledgerId: string, write: WalletLogEntry): void {
    const feed = this.#feeds.find(feedKey(ledgerId, write.callerKey));
    if (feed === undefined || write.seq <= feed.lastPlace) return;
    confirm(feed, write.seq);
    // Somebody else's write comes before this one: the log has both, in order.
    if (write.seq === feed.lastPlace + 1 && feed.sending === null) sendWrite(feed, write);
    else this.#feeds.send(feed).catch(this.#options.onFailure);
  }

  /**
   * To be called when another database host serves. Logs may have lost writes there that were sent, and have others
   * with the same seq: no feed can go on.
   */
  forget(): void {
    this.#feeds.forget();
  }

  /** Ends the polling; nothing is sent any more. */
  stop(): void {
    this.#polling.stop();
  }

  /**
   * A wallet's figures, behind a COMMIT that confirms them; null for one that was never written. Rejects with
   * `unavailable` where they can't be confirmed.
   */
  async #readConfirmed(ledgerId: string, callerKey: string): Promise<WalletFigures | null> {
    const confirmed = this.#feeds.find(feedKey(ledgerId, callerKey))?.confirmedPlace ?? 0;
    return this.#pool.withConnection(async (connection) => {
      const [figures = null] = await listWalletFigures(connection, ledgerId, [callerKey]);
      if (figures !== null && figures.lastSeq > confirmed) {
        await confirmRead(connection, ledgerId, "what is recorded of the wallet", this.#options);
      }
      return figures;
    });
  }

  async #openFeed(
    ledgerId: string,
    callerKey: string,
    figures: WalletFigures | null,
  ): Promise<WalletFeed> {
    const { balance, available, lastSeq } = figures ?? { balance: 0n, available: 0n, lastSeq: 0 };
    const [pending, lastWriteSeq] =
      figures === null ? [[], 0] : await this.#readWaiting(ledgerId, figures);
    return {
      ...newFeed<BalanceEvent>(lastSeq),
      ledgerId,
      callerKey,
      latest: { balance, available, seq: lastWriteSeq },
      pendingPostings: new Set(pending),
      sentEntries: new Set(),
    };
  }

  /** What waits to be posted of a wallet, and the seq of its last write when it had these figures. */
  #readWaiting(
    ledgerId: string,
    { walletId, lastSeq }: WalletFigures,
  ): Promise<[string[], number]> {
    return this.#pool.withConnection((connection) =>
      Promise.all([
        listPendingPostingIds(connection, ledgerId, walletId),
        findLastWriteSeq(connection, ledgerId, walletId, lastSeq),
      ]),
    );
  }

  /** From the log: what this process commits is sent at once, unless something comes before it. */
  async #sendConfirmed(feed: WalletFeed): Promise<void> {
    while (feed.lastPlace < feed.confirmedPlace) {
      const rows = await this.#readRows(feed.ledgerId, feed.callerKey, feed.lastPlace);
      for (const [index, row] of rows.entries()) {
        if (row.seq > feed.confirmedPlace) return;
        if (row.seq === feed.lastPlace + 1) sendWrite(feed, row);
        // Sockets send between ticks of the event loop: a reader is slow only if it had ticks to read in.
        if (index % rowsPerTick === rowsPerTick - 1) await immediate();
      }
      if (rows.length < rowsMax) return;
    }
  }

  async #readRows(
    ledgerId: string,
    callerKey: string,
    seq: number,
  ): Promise<PostedWalletLogEntry[]> {
    return listWalletHistory(this.#pool, ledgerId, callerKey, { afterSeq: seq, limit: rowsMax });
  }

  /** Asks which wallets are ahead of their feeds, and which batches have been posted. */
  async #poll(): Promise<void> {
    const feeds = this.#feeds.list();
    const from = this.#pollFrom < feeds.length ? this.#pollFrom : 0;
    const some = feeds.slice(from, from + feedsPerPoll);
    this.#pollFrom = from + feedsPerPoll;
    const byLedger = new Map<string, WalletFeed[]>();
    for (const feed of some) {
      const own = byLedger.get(feed.ledgerId) ?? [];
      own.push(feed);
      byLedger.set(feed.ledgerId, own);
    }
    await pollEach(byLedger, ([ledgerId, own]) => this.#pollLedger(ledgerId, own));
  }

  async #pollLedger(ledgerId: string, feeds: readonly WalletFeed[]): Promise<void> {
    const callerKeys = feeds.map(({ callerKey }) => callerKey);
    const waiting = new Set(feeds.flatMap(({ pendingPostings }) => [...pendingPostings]));
    const { seqOf, posted } = await this.#pool.withConnection(async (connection) => {
      const [figures, posted] = await Promise.all([
        listWalletFigures(connection, ledgerId, callerKeys),
        listPostings(connection, ledgerId, [...waiting]),
      ]);
      const seqOf = new Map(figures.map(({ callerKey, lastSeq }) => [callerKey, lastSeq]));
      // What this process has committed by now is confirmed, also if it was not when the poll began.
      const isAhead = feeds.some((feed) => (seqOf.get(feed.callerKey) ?? 0) > feed.confirmedPlace);
      // One for all of them, and none where nothing is new.
      if (isAhead || posted.length > 0) await commitBarrier(connection, ledgerId);
      return { seqOf, posted };
    });
    const journalOf = new Map(
      posted.map(({ pendingPostingId, journalId }) => [pendingPostingId, journalId]),
    );
    for (const feed of feeds) {
      confirm(feed, seqOf.get(feed.callerKey) ?? 0);
      if (feed.confirmedPlace > feed.lastPlace) await this.#feeds.send(feed);
      sendPostings(feed, journalOf);
    }
  }
}

function feedKey(ledgerId: string, callerKey: string): string {
  return `${ledgerId}:${callerKey}`;
}
