// Sends the requests of a benchmark and measures the answers. One request is under way on a connection.
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../core/thrown.ts";
import { Histogram } from "./histogram.ts";
import { outcomeOf, type OutcomeLog } from "./outcome-log.ts";
import { RawConnection, type RawReply } from "./raw-connection.ts";
import { fullSpeed, steadyRate, type Schedule } from "./schedule.ts";
import type { SignedRequests } from "./signed-requests.ts";

/** How long after the end requests that were due before it are still sent. */
const overtimeMs = 10_000;
const reconnectMs = 100;

export interface LoadSettings {
  /** Requests a second; null: as many as the service takes. */
  readonly rate: number | null;
  readonly durationMs: number;
  readonly connections: number;
}

export class Load {
  /** Microseconds, of acknowledged requests and (as far as they had waited) of those never sent. */
  readonly latencies = new Histogram();
  /** By status; `no answer` where the connection was lost. */
  readonly errors = new Map<string, number>();
  firstError: string | null = null;
  /** Were due, but no connection was free for them until the overtime was over. */
  unsent = 0;
  elapsedMs = 0;
  readonly #settings: LoadSettings;
  readonly #url: URL;
  readonly #requests: SignedRequests;
  readonly #outcomes: OutcomeLog;
  #startMs = 0;

  constructor(
    settings: LoadSettings,
    url: URL,
    { requests, outcomes }: { requests: SignedRequests; outcomes: OutcomeLog },
  ) {
    this.#settings = settings;
    this.#url = url;
    this.#requests = requests;
    this.#outcomes = outcomes;
  }

  get errorCount(): number {
    return [...this.errors.values()].reduce((sum, count) => sum + count, 0);
  }

  get perSecond(): number {
    return this.elapsedMs > 0 ? (this.#outcomes.acknowledged * 1000) / this.elapsedMs : 0;
  }

  /** Opens all connections first: making them is not what is measured. */
  async run(): Promise<void> {
    const { connections: count, durationMs, rate } = this.#settings;
    const opening = Array.from({ length: count }, () => RawConnection.open(this.#url));
    const connections = await Promise.all(opening);
    this.#startMs = performance.now();
    const schedule =
      rate === null
        ? fullSpeed(this.#startMs, durationMs)
        : steadyRate(this.#startMs, durationMs, rate);
    await Promise.all(connections.map((connection) => this.#work(connection, schedule)));
  }

  async #work(first: RawConnection, schedule: Schedule): Promise<void> {
    let connection = first;
    for (let dueMs = schedule.take(); dueMs !== null; dueMs = schedule.take()) {
      const waitMs = Math.round(dueMs - performance.now());
      if (waitMs > 0) await sleep(waitMs);
      if (!connection.isOpen) connection = (await this.#reopen()) ?? connection;
      if (connection.isOpen && performance.now() < this.#overtimeEndMs) {
        await this.#send(connection, dueMs);
      } else this.#giveUp(dueMs);
    }
    connection.destroy();
  }

  get #overtimeEndMs(): number {
    return this.#startMs + this.#settings.durationMs + overtimeMs;
  }

  async #reopen(): Promise<RawConnection | null> {
    while (performance.now() < this.#overtimeEndMs) {
      try {
        return await RawConnection.open(this.#url);
      } catch {
        await sleep(reconnectMs);
      }
    }
    return null;
  }

  async #send(connection: RawConnection, dueMs: number): Promise<void> {
    const { number, bytes } = this.#requests.take();
    // A timer may fire a fraction of a millisecond early.
    const startMs = Math.min(dueMs, performance.now());
    try {
      const reply = await connection.exchange(bytes);
      this.#record(number, reply, performance.now() - startMs);
    } catch (error) {
      this.#outcomes.record(number, "unknown");
      this.#countError("no answer", messageOf(error));
    }
  }

  #record(number: number, reply: RawReply, latencyMs: number): void {
    const outcome = outcomeOf(reply);
    this.#outcomes.record(number, outcome);
    this.elapsedMs = performance.now() - this.#startMs;
    if (outcome === "acknowledged") this.latencies.record(latencyMs * 1000);
    else this.#countError(String(reply.status), reply.body);
  }

  /** Left out, the longest waits would be missing from the percentiles. */
  #giveUp(dueMs: number): void {
    this.unsent += 1;
    this.latencies.record((performance.now() - dueMs) * 1000);
  }

  #countError(status: string, text: string): void {
    this.errors.set(status, (this.errors.get(status) ?? 0) + 1);
    this.firstError ??= `${status}: ${text}`;
  }
}
