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
import { confirmRead, FeedPolling, pollEach, type FeedOptions } from "./feed-polling.ts";
import { confirm, Feeds, newFeed, type Feed, type Subscription } from "./feeds.ts";

/** Entries whose sequences follow each other; all followers of a journal are given the same array. */
export type EntryBatch = readonly StoredEntry[];

/** The end of one journal. Its places are the sequences. */
interface JournalFeed extends Feed<EntryBatch> {
  readonly ledgerId: string;
  /** What this process has committed and not sent yet, without gaps. */
  fresh: StoredEntry[];
  /** Whether this process has committed since the last poll: its COMMIT confirms what others recorded before it. */
  isBusy: boolean;
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
    this.#send(feed);
  });
  readonly #feeds = new Feeds<EntryBatch, JournalFeed>((feed) => this.#sendConfirmed(feed));

  /** `pool` commits; entries are read through `pages`. */
  constructor(pool: Pool, pages: Pool, options: FeedOptions) {
    this.#pool = pool;
    this.#pages = pages;
    this.#options = options;
    this.#polling = new FeedPolling(
      options,
      () => this.#feeds.count > 0,
      () => this.#poll(),
    );
  }

  /** Journals that somebody follows. */
  get journalCount(): number {
    return this.#feeds.count;
  }

  /**
   * Follows a journal from now on. Resolves when nothing recorded later can be missed. `onLost` is called when the hub
   * forgets the journal, after which the listener is given nothing any more.
   */
  async subscribe(
    ledgerId: string,
    listener: (batch: EntryBatch) => void,
    onLost: () => void = () => undefined,
  ): Promise<Subscription> {
    const subscription = await this.#feeds.subscribe(
      ledgerId,
      { listener, onLost },
      {
        readStart: async () => ({ place: await this.#readConfirmed(ledgerId) }),
        open: ({ place }) => ({
          ...newFeed<EntryBatch>(place),
          ledgerId,
          fresh: [],
          isBusy: false,
        }),
      },
    );
    this.#polling.soon();
    return subscription;
  }

  /** A piece of a journal after a sequence and up to another, which has to be confirmed. */
  async readBetween(ledgerId: string, after: number, upTo: number): Promise<EntryBatch> {
    const range = { afterSequence: after, upToSequence: upTo, offset: 0 };
    const page = { filter: everyEntry, ...range, ...pageLimits };
    return (await listEntries(this.#pages, ledgerId, page)).entries;
  }

  /** Takes what this process has just committed. Never throws: the entries are recorded, sent or not. */
  publish(ledgerId: string, entries: readonly Entry[]): void {
    const feed = this.#feeds.find(ledgerId);
    const [first] = entries;
    const last = entries.at(-1);
    if (feed === undefined || first === undefined || last === undefined) return;
    const isNext = first.sequence === (feed.fresh.at(-1)?.sequence ?? feed.lastPlace) + 1;
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
    else this.#send(feed);
  }

  /**
   * To be called when another database host serves. Its journals may lack entries that were sent, and have others with the
   * same sequence: no feed can go on.
   */
  forget(): void {
    this.#feeds.forget();
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
      const confirmed = this.#feeds.find(ledgerId)?.confirmedPlace ?? 0;
      if (lastSequence <= confirmed) return lastSequence;
      await confirmRead(connection, ledgerId, "what the journal has", this.#options);
      return lastSequence;
    });
  }

  #send(feed: JournalFeed): void {
    this.#feeds.send(feed).catch(this.#options.onFailure);
  }

  async #sendConfirmed(feed: JournalFeed): Promise<void> {
    while (feed.lastPlace < feed.confirmedPlace) {
      const fresh = feed.fresh.filter(({ sequence }) => sequence > feed.lastPlace);
      const upTo = (fresh[0]?.sequence ?? feed.confirmedPlace + 1) - 1;
      if (upTo === feed.lastPlace) {
        feed.fresh = [];
        await this.#give(feed, fresh);
        continue;
      }
      feed.fresh = fresh;
      const page = await this.readBetween(feed.ledgerId, feed.lastPlace, upTo);
      // The database has lost what it had: nobody can go on here, and somebody will call `forget`.
      if (page.length === 0) return;
      await this.#give(feed, page);
      // Sockets send meanwhile: a reader is slow only if it had time to read.
      if (feed.lastPlace < feed.confirmedPlace) await sleep(pagePauseMs);
    }
  }

  async #give(feed: JournalFeed, batch: EntryBatch): Promise<void> {
    feed.lastPlace = batch.at(-1)?.sequence ?? feed.lastPlace;
    await this.#fanOut.give(feed.listeners, batch);
  }

  /** Asks which journals are ahead of their feeds. */
  #poll(): Promise<void> {
    return pollEach(this.#feeds.list(), async (feed) => {
      if (feed.isBusy) feed.isBusy = false;
      else {
        confirm(feed, await this.#readConfirmed(feed.ledgerId));
        if (feed.confirmedPlace > feed.lastPlace) this.#fanOut.soon(feed);
      }
    });
  }
}
