// Sending to many followers without keeping the rest of the process waiting: what comes is sent together, less often the longer
// that takes, and in slices, each in a tick of its own.
import { setImmediate as immediate } from "node:timers/promises";

/** Followers are written to no more often: each time costs a system call for each of them. */
const intervalMsMin = 20;
/** However long sending takes, they are written to no less often. */
const intervalMsMax = 500;
/** Of the process's time, sending takes about so much. */
const shareMax = 0.05;
const sliceMs = 1;

/** Paces the sending of feeds, which share the time of one process. */
export class FanOut<Feed> {
  readonly #send: (feed: Feed) => void;
  #due = new Set<Feed>();
  #timer: NodeJS.Timeout | null = null;
  #startedMs = 0;
  /** By giving, since then. */
  #spentMs = 0;
  #isStopped = false;

  /** `send` begins to send what a feed has. */
  constructor(send: (feed: Feed) => void) {
    this.#send = send;
  }

  /** To be called when a feed has something to send: at once after a pause, else together with what comes until then. */
  soon(feed: Feed): void {
    this.#due.add(feed);
    this.#wait();
  }

  /** Gives a message to all who listen. One that ends meanwhile is given nothing more, one that begins has begun behind it. */
  async give<Message>(
    listeners: ReadonlyMap<(message: Message) => void, unknown>,
    message: Message,
  ): Promise<void> {
    let sliceStartMs = performance.now();
    for (const listener of [...listeners.keys()]) {
      if (!listeners.has(listener)) continue;
      listener(message);
      const tookMs = performance.now() - sliceStartMs;
      if (tookMs < sliceMs) continue;
      this.#spentMs += tookMs;
      await immediate();
      sliceStartMs = performance.now();
    }
    this.#spentMs += performance.now() - sliceStartMs;
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #wait(): void {
    if (this.#timer !== null || this.#isStopped || this.#due.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // What was being given when the wait began has cost more since.
      if (this.#pauseMs() > 1) this.#wait();
      else this.#start();
    }, this.#pauseMs());
  }

  #pauseMs(): number {
    const intervalMs = Math.max(intervalMsMin, this.#spentMs / shareMax);
    return this.#startedMs + Math.min(intervalMsMax, intervalMs) - performance.now();
  }

  #start(): void {
    const due = this.#due;
    this.#due = new Set();
    this.#startedMs = performance.now();
    this.#spentMs = 0;
    for (const feed of due) this.#send(feed);
  }
}
