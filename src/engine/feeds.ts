// What the hubs of streams share: feeds that somebody follows, each given its messages in order of their places in a log, none
// twice and none before a COMMIT has confirmed it. What the messages are, and where they are read, each hub knows.

/** The end of one log, for all who follow it. */
export interface Feed<Message> {
  /** Of the last message that the listeners were given: a seq, a sequence. */
  lastPlace: number;
  /** The last place that a COMMIT has confirmed: nothing beyond it is sent. */
  confirmedPlace: number;
  /** Each with what it is told by that the feed is over. */
  readonly listeners: Map<(message: Message) => void, () => void>;
  /** A sending that is under way; the next one waits for it, so that messages stay in order. */
  sending: Promise<void> | null;
}

export interface Subscription {
  /** The first message is of a later place than this. */
  readonly fromPlace: number;
  end(): void;
}

/** A feed that begins at a place that is confirmed. */
export function newFeed<Message>(place: number): Feed<Message> {
  return { lastPlace: place, confirmedPlace: place, listeners: new Map(), sending: null };
}

/** Takes note that a COMMIT has confirmed a log up to a place. */
export function confirm(feed: Pick<Feed<never>, "confirmedPlace">, place: number): void {
  feed.confirmedPlace = Math.max(feed.confirmedPlace, place);
}

/** The feeds of a hub by the keys of their logs. */
export class Feeds<Message, Followed extends Feed<Message>> {
  readonly #sendConfirmed: (feed: Followed) => Promise<void>;
  #feeds = new Map<string, Followed>();

  /** `sendConfirmed` gives the listeners of a feed all that is confirmed and that they have not been given. */
  constructor(sendConfirmed: (feed: Followed) => Promise<void>) {
    this.#sendConfirmed = sendConfirmed;
  }

  get count(): number {
    return this.#feeds.size;
  }

  find(key: string): Followed | undefined {
    return this.#feeds.get(key);
  }

  list(): Followed[] {
    return [...this.#feeds.values()];
  }

  /**
   * Follows a log from now on. Resolves when nothing recorded later can be missed. `onLost` is called when the feed is
   * forgotten, after which the listener is given nothing any more. `readStart` finds where the log ends, which has to be
   * confirmed; `open` makes the feed that begins there, if there is none.
   */
  async subscribe<Start extends { readonly place: number }>(
    key: string,
    { listener, onLost }: { listener: (message: Message) => void; onLost: () => void },
    {
      readStart,
      open,
    }: {
      readonly readStart: () => Promise<Start>;
      readonly open: (start: Start) => Promise<Followed> | Followed;
    },
  ): Promise<Subscription> {
    let feed: Followed;
    do {
      const feeds = this.#feeds;
      const start = await readStart();
      const opened = feeds.get(key) ?? (await open(start));
      // Others may have opened it meanwhile.
      feed = feeds.get(key) ?? opened;
      feeds.set(key, feed);
      confirm(feed, start.place);
      // What the feed has not sent yet was recorded before this listener came.
      await this.send(feed).catch((error: unknown) => {
        this.#closeUnfollowed(key, feed);
        throw error;
      });
      // Its last listener may have gone meanwhile, and the feed with it; or all of them were forgotten.
    } while (this.#feeds.get(key) !== feed);
    const { listeners, lastPlace } = feed;
    listeners.set(listener, onLost);
    return {
      fromPlace: lastPlace,
      end: () => {
        listeners.delete(listener);
        this.#closeUnfollowed(key, feed);
      },
    };
  }

  /** Sends all that is confirmed. One at a time; callers share the next. */
  async send(feed: Followed): Promise<void> {
    await feed.sending;
    feed.sending ??= this.#sendConfirmed(feed).finally(() => {
      feed.sending = null;
    });
    await feed.sending;
  }

  /** Ends all feeds, and tells their listeners. */
  forget(): void {
    const feeds = this.list();
    this.#feeds = new Map();
    for (const { listeners } of feeds) {
      const told = [...listeners.values()];
      listeners.clear();
      for (const tell of told) tell();
    }
  }

  #closeUnfollowed(key: string, feed: Followed): void {
    if (feed.listeners.size === 0 && this.#feeds.get(key) === feed) this.#feeds.delete(key);
  }
}
