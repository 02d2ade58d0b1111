// Streams of journals: who follows which ledger's journal, and every entry to each of them once and in order of sequence,
// whichever server recorded it. What this process commits is taken from memory; for the rest the heads of the journals
// that are followed are polled, one query for each whatever the number of followers. What others recorded is sent only
// behind a COMMIT of our own (docs/decisions/0010). No socket is met here.
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, StoredEntry } from "../core/journal.ts";
import type { Pool } from "../store/database/pool.ts";
import { everyEntry, listEntries } from "../store/entry-lists.ts";
import { readJournalHead } from "../store/journal-heads.ts";
import { FanOut } from "./fan-out.ts";
import { confirmRead, FeedPolling, type FeedOptions } from "./feed-polling.ts";

/** Entries whose sequences follow each other; all followers of a journal are given the same array. */
export type EntryBatch = readonly StoredEntry[];

export type EntryListener = (batch: EntryBatch) => void;

export interface JournalSubscription {
  /** The first entry has a later sequence than this. */
  readonly fromSequence: number;
  end(): void;
}

interface JournalFeed {
  readonly ledgerId: string;
  /** Of the last entry that the listeners were given. */
  lastSequence: number;
  /** The last that a COMMIT has confirmed: nothing beyond it is sent. */
  confirmedSequence: number;
  /** What this process has committed and not sent yet, without gaps. */
  fresh: StoredEntry[];
  /** Whether this process has committed since the last poll: its COMMIT confirms what others recorded before it. */
  isBusy: boolean;
  /** Each with what it is told by that the feed is over. */
  readonly listeners: Map<EntryListener, () => void>;
  sending: Promise<void> | null;
}

/** A piece that is read, and how long followers have to take it before the next. */
const pageLimits = { limit: 200, bytesMax: 128 * 1024 };
const pagePauseMs = 2;
/** What waits in memory; more is read from the journal instead. */
const freshMax = 2_000;
/** So many are sent without waiting for others: it costs their bytes by far the most. */
const freshEnough = 400;

export class JournalHub {
  readonly #pool: Pool;
  readonly #pages: Pool;
  readonly #options: FeedOptions;
  readonly #polling: FeedPolling;
  readonly #fanOut = new FanOut<JournalFeed>((feed) => {
    this.#send(feed).catch(this.#options.onFailure);
  });
  #feeds = new Map<string, JournalFeed>();

  /** `pool` commits; entries are read through `pages`. */
  constructor(pool: Pool, pages: Pool, options: FeedOptions) {
    this.#pool = pool;
    this.#pages = pages;
    this.#options = options;
    this.#polling = new FeedPolling(
      options,
      () => this.#feeds.size > 0,
      () => this.#poll(),
    );
  }

  /** Journals that somebody follows. */
  get journalCount(): number {
    return this.#feeds.size;
  }

  /**
   * Follows a journal from now on. Resolves when nothing recorded later can be missed. `onLost` is called when the hub
   * forgets the journal, after which the listener is given nothing any more.
   */
  async subscribe(
    ledgerId: string,
    listener: EntryListener,
    onLost: () => void = () => undefined,
  ): Promise<JournalSubscription> {
    let feed: JournalFeed;
    do {
      const feeds = this.#feeds;
      const sequence = await this.#readConfirmed(ledgerId);
      feed = feeds.get(ledgerId) ?? newFeed(ledgerId, sequence);
      feeds.set(ledgerId, feed);
      confirm(feed, sequence);
      // What the feed has not sent yet was recorded before this listener came.
      await this.#send(feed).catch((error: unknown) => {
        this.#closeUnfollowed(feed);
        throw error;
      });
      // Its last listener may have gone meanwhile, and the feed with it; or the hub has forgotten all of them.
    } while (this.#feeds.get(ledgerId) !== feed);
    const { listeners, lastSequence } = feed;
    listeners.set(listener, onLost);
    this.#polling.soon();
    return {
      fromSequence: lastSequence,
      end: () => {
        listeners.delete(listener);
        this.#closeUnfollowed(feed);
      },
    };
  }

  /** A piece of a journal after a sequence and up to another, which has to be confirmed. */
  async readBetween(ledgerId: string, after: number, upTo: number): Promise<EntryBatch> {
    const range = { afterSequence: after, upToSequence: upTo, offset: 0 };
    const page = { filter: everyEntry, ...range, ...pageLimits };
    return (await listEntries(this.#pages, ledgerId, page)).entries;
  }

  /** Takes what this process has just committed. Never throws: the entries are recorded, sent or not. */
  publish(ledgerId: string, entries: readonly Entry[]): void {
    const feed = this.#feeds.get(ledgerId);
    const [first] = entries;
    const last = entries.at(-1);
    if (feed === undefined || first === undefined || last === undefined) return;
    const isNext = first.sequence === (feed.fresh.at(-1)?.sequence ?? feed.lastSequence) + 1;
    if (isNext && feed.fresh.length < freshMax) {
      const reversals = new Map(
        entries.map(({ reversesJournalId, journalId }) => [reversesJournalId, journalId]),
      );
      for (const entry of entries) {
        const reversedByJournalId = reversals.get(entry.journalId) ?? null;
        feed.fresh.push({ ...entry, reversedByJournalId });
      }
    }
    confirm(feed, last.sequence);
    feed.isBusy = true;
    if (feed.fresh.length < freshEnough) this.#fanOut.soon(feed);
    else this.#send(feed).catch(this.#options.onFailure);
  }

  /**
   * To be called when another database host serves. Its journals may lack entries that were sent, and have others with the
   * same sequence: no feed can go on.
   */
  forget(): void {
    const feeds = this.#feeds;
    this.#feeds = new Map();
    for (const { listeners } of feeds.values()) {
      const told = [...listeners.values()];
      listeners.clear();
      for (const tell of told) tell();
    }
  }

  /** Ends the polling; nothing is sent any more. */
  stop(): void {
    this.#polling.stop();
    this.#fanOut.stop();
  }

  /** The journal's last sequence, behind a COMMIT that confirms it. Rejects with `unavailable` where that can't be. */
  #readConfirmed(ledgerId: string): Promise<number> {
    return this.#pool.withConnection(async (connection) => {
      const { lastSequence } = await readJournalHead(connection, ledgerId);
      if (lastSequence <= (this.#feeds.get(ledgerId)?.confirmedSequence ?? 0)) return lastSequence;
      await confirmRead(connection, ledgerId, "what the journal has", this.#options);
      return lastSequence;
    });
  }

  #closeUnfollowed(feed: JournalFeed): void {
    const { ledgerId, listeners } = feed;
    if (listeners.size === 0 && this.#feeds.get(ledgerId) === feed) this.#feeds.delete(ledgerId);
  }

  /** Sends all that is confirmed. One at a time; callers share the next. */
  async #send(feed: JournalFeed): Promise<void> {
    await feed.sending;
    feed.sending ??= this.#sendConfirmed(feed).finally(() => {
      feed.sending = null;
    });
    await feed.sending;
  }

  async #sendConfirmed(feed: JournalFeed): Promise<void> {
    while (feed.lastSequence < feed.confirmedSequence) {
      const fresh = feed.fresh.filter(({ sequence }) => sequence > feed.lastSequence);
      const upTo = (fresh[0]?.sequence ?? feed.confirmedSequence + 1) - 1;
      if (upTo === feed.lastSequence) {
        feed.fresh = [];
        await this.#give(feed, fresh);
        continue;
      }
      feed.fresh = fresh;
      const page = await this.readBetween(feed.ledgerId, feed.lastSequence, upTo);
      // The database has lost what it had: nobody can go on here, and somebody will call `forget`.
      if (page.length === 0) return;
      await this.#give(feed, page);
      // Sockets send meanwhile: a reader is slow only if it had time to read.
      if (feed.lastSequence < feed.confirmedSequence) await sleep(pagePauseMs);
    }
  }

  async #give(feed: JournalFeed, batch: EntryBatch): Promise<void> {
    feed.lastSequence = batch.at(-1)?.sequence ?? feed.lastSequence;
    await this.#fanOut.give(feed.listeners, batch);
  }

  /** Asks which journals are ahead of their feeds. */
  async #poll(): Promise<void> {
    for (const feed of [...this.#feeds.values()]) {
      if (feed.isBusy) feed.isBusy = false;
      else {
        confirm(feed, await this.#readConfirmed(feed.ledgerId));
        if (feed.confirmedSequence > feed.lastSequence) this.#fanOut.soon(feed);
      }
    }
  }
}

function newFeed(ledgerId: string, sequence: number): JournalFeed {
  return {
    ledgerId,
    lastSequence: sequence,
    confirmedSequence: sequence,
    fresh: [],
    isBusy: false,
    listeners: new Map(),
    sending: null,
  };
}

/** Takes note that a COMMIT has confirmed the journal up to a sequence. */
function confirm(feed: JournalFeed, sequence: number): void {
  feed.confirmedSequence = Math.max(feed.confirmedSequence, sequence);
}
