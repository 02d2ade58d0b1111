// The network between one connection of a server and its session: both directions in order, with delays, and every way
// in which it can break.
import type { SeededRandom } from "../../../src/seed/seeded-random.ts";
import type { Scheduler } from "../world/scheduler.ts";
import type { Cluster } from "./cluster.ts";
import type { Message } from "./message.ts";
import type { Session } from "./session.ts";

/** `closed`: both ends learn of it. `halfOpen`: the database does not. `silent`: nobody does. */
export type Break = "closed" | "halfOpen" | "silent";

class Direction {
  readonly #scheduler: Scheduler;
  readonly #delayMs: () => number;
  #lastAtMs = 0;
  isOpen = true;

  constructor(scheduler: Scheduler, delayMs: () => number) {
    this.#scheduler = scheduler;
    this.#delayMs = delayMs;
  }

  stall(ms: number): void {
    this.#lastAtMs = Math.max(this.#lastAtMs, this.#scheduler.nowMs) + ms;
  }

  deliver(receive: () => void): void {
    const { nowMs } = this.#scheduler;
    this.#lastAtMs = Math.max(this.#lastAtMs, nowMs + this.#delayMs());
    this.#scheduler.at(this.#lastAtMs, () => {
      if (this.isOpen) receive();
    });
  }
}

export class Link {
  /** Which server's it is. */
  readonly owner: number;
  readonly session: Session;
  readonly #toServer: Direction;
  readonly #toClient: Direction;
  readonly #onBroken: (reason: string) => void;
  readonly #random: SeededRandom;
  readonly #scheduler: Scheduler;

  /** `onBroken`: the client's end learns that the connection is gone. */
  constructor(
    cluster: Cluster,
    owner: number,
    onBroken: (reason: string) => void,
    delayMs: () => number,
  ) {
    const { scheduler, random } = cluster.options;
    this.owner = owner;
    this.#random = random;
    this.#scheduler = scheduler;
    this.#toServer = new Direction(scheduler, delayMs);
    this.#toClient = new Direction(scheduler, delayMs);
    this.#onBroken = onBroken;
    this.session = cluster.accept(this);
  }

  toServer(message: Message): void {
    this.#toServer.deliver(() => {
      this.session.receive(message);
    });
  }

  toClient(receive: () => void): void {
    this.#toClient.deliver(receive);
  }

  /** The session has ended: what it has answered still arrives, or not. */
  closeFromServer(): void {
    this.#toServer.isOpen = false;
    if (this.#random.happens(50)) this.#toClient.isOpen = false;
    this.#tellClient("the connection was terminated unexpectedly");
  }

  /** The client has closed its end. */
  closeFromClient(): void {
    this.#toClient.isOpen = false;
    this.#toServer.deliver(() => {
      this.session.receive("end");
    });
  }

  /** Keeps what is sent to one end from now on back for a while. */
  stall(end: "database" | "client", ms: number): void {
    (end === "database" ? this.#toServer : this.#toClient).stall(ms);
  }

  /** Breaks the network between the ends, now. */
  break(how: Break): void {
    // What is on its way may still arrive.
    const isDelivered = how !== "silent" && this.#random.happens(50);
    this.#toClient.isOpen = false;
    if (how === "closed") {
      if (!isDelivered) this.#toServer.isOpen = false;
      this.#scheduler.after(0.5, () => {
        this.session.receive("end");
      });
    } else if (isDelivered) {
      this.#scheduler.after(0.5, () => {
        this.#toServer.isOpen = false;
      });
    } else this.#toServer.isOpen = false;
    if (how !== "silent") this.#tellClient("read ECONNRESET");
  }

  #tellClient(reason: string): void {
    this.#scheduler.after(this.#random.between(10, 900) / 1_000, () => {
      this.#onBroken(reason);
    });
  }
}
