// Sends the requests of a benchmark and measures the answers. One request is under way on a connection.
import { createHistogram } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../core/thrown.ts";
import { eachConcurrently } from "./concurrently.ts";
import { outcomeOf, type OutcomeLog } from "./outcome-log.ts";
import { RawConnection, type RawReply } from "./raw-connection.ts";
import { fullSpeed, steadyRate } from "./schedule.ts";
import type { SignedRequests } from "./signed-requests.ts";
import type { Workload } from "./workload.ts";

/** How long after the end requests that were due before it are still sent. */
const overtimeMs = 10_000;
const reconnectMs = 100;
/** Fewer than a server's backlog. */
const openedAtOnce = 200;
/** Latencies are told apart to a thousandth. */
const figures = 3;

export interface LoadSettings {
  /** Requests a second; null: as many as the service takes. */
  readonly rate: number | null;
  readonly durationMs: number;
  readonly connections: number;
  /** Whether a request that is due while no connection is free is dropped; else it waits. */
  readonly isLateDropped?: boolean;
}

/** What is sent, and who is told what became of it. */
interface LoadRequests {
  readonly url: URL;
  readonly requests: SignedRequests;
  readonly outcomes: OutcomeLog;
  readonly workload: Workload;
}

export class Load {
  /** Requests. */
  acknowledged = 0;
  /** Of these, those that were answered within the duration. */
  acknowledgedInTime = 0;
  /** By status; `no answer` where the connection was lost. */
  readonly errors = new Map<string, number>();
  firstError: string | null = null;
  /** Were due, but no connection was free for them in time. */
  unsent = 0;
  elapsedMs = 0;
  readonly settings: LoadSettings;
  readonly #sent: LoadRequests;
  /** Microseconds, of acknowledged requests and (as far as they had waited) of those never sent. */
  readonly #latencies = createHistogram({ figures });
  #startMs = 0;

  constructor(settings: LoadSettings, sent: LoadRequests) {
    this.settings = settings;
    this.#sent = sent;
  }

  get errorCount(): number {
    return [...this.errors.values()].reduce((sum, count) => sum + count, 0);
  }

  get perSecond(): number {
    return this.elapsedMs > 0 ? (this.acknowledged * 1000) / this.elapsedMs : 0;
  }

  /** Percentiles; zeros where nothing was acknowledged. */
  get latencyMs() {
    const at = (percent: number) =>
      this.acknowledged === 0 ? 0 : this.#latencies.percentile(percent) / 1000;
    return { p50: at(50), p90: at(90), p99: at(99), "p99.9": at(99.9), max: at(100) };
  }

  /** Opens all connections first: making them is not what is measured. */
  async run(): Promise<void> {
    const { durationMs, rate, isLateDropped = false } = this.settings;
    const connections: RawConnection[] = [];
    await eachConcurrently(this.settings.connections, openedAtOnce, async () => {
      connections.push(await RawConnection.open(this.#sent.url));
    });
    this.#startMs = performance.now();
    const countDropped = (count: number) => {
      this.unsent += count;
    };
    const schedule =
      rate === null
        ? fullSpeed(this.#startMs, durationMs)
        : steadyRate(this.#startMs, durationMs, rate, isLateDropped ? countDropped : null);
    await Promise.all(connections.map((connection) => this.#work(connection, schedule)));
  }

  async #work(first: RawConnection, schedule: Iterable<number>): Promise<void> {
    let connection = first;
    for (const dueMs of schedule) {
      const waitMs = Math.round(dueMs - performance.now());
      if (waitMs > 0) await sleep(waitMs);
      if (!connection.isOpen) connection = (await this.#reopen()) ?? connection;
      if (connection.isOpen && performance.now() < this.#overtimeEndMs) {
        await this.#send(connection, dueMs);
      } else this.#recordUnsent(dueMs);
    }
    connection.destroy();
  }

  get #overtimeEndMs(): number {
    return this.#startMs + this.settings.durationMs + overtimeMs;
  }

  async #reopen(): Promise<RawConnection | null> {
    while (performance.now() < this.#overtimeEndMs) {
      try {
        return await RawConnection.open(this.#sent.url);
      } catch {
        await sleep(reconnectMs);
      }
    }
    return null;
  }

  async #send(connection: RawConnection, dueMs: number): Promise<void> {
    const { number, bytes } = this.#sent.requests.take();
    this.#sent.outcomes.record(number, "unknown");
    // A timer may fire a fraction of a millisecond early.
    const startMs = Math.min(dueMs, performance.now());
    try {
      const reply = await connection.exchange(bytes);
      this.#record(number, reply, performance.now() - startMs);
    } catch (error) {
      this.#countError("no answer", messageOf(error));
    }
  }

  #record(number: number, reply: RawReply, latencyMs: number): void {
    const outcome = outcomeOf(reply);
    this.#sent.outcomes.record(number, outcome);
    const nowMs = performance.now();
    this.elapsedMs = nowMs - this.#startMs;
    if (outcome === "acknowledged") {
      this.acknowledged += 1;
      if (this.elapsedMs <= this.settings.durationMs) this.acknowledgedInTime += 1;
      this.#recordLatency(latencyMs);
      this.#sent.workload.acknowledged?.(number, nowMs);
    } else {
      const isBare = reply.status === 503 && !reply.hasRetryAfter;
      this.#countError(`${reply.status}${isBare ? " without Retry-After" : ""}`, reply.body);
    }
  }

  /** Left out, the longest waits would be missing from the percentiles. */
  #recordUnsent(dueMs: number): void {
    this.unsent += 1;
    this.#recordLatency(performance.now() - dueMs);
  }

  /** A histogram takes whole numbers from 1. */
  #recordLatency(latencyMs: number): void {
    this.#latencies.record(Math.max(1, Math.floor(latencyMs * 1000)));
  }

  #countError(status: string, text: string): void {
    this.errors.set(status, (this.errors.get(status) ?? 0) + 1);
    this.firstError ??= `${status}: ${text}`;
  }
}
