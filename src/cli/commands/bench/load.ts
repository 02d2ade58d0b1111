// Sends the requests of a benchmark and measures the answers. One request is under way on a connection.
import { createHistogram } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../core/thrown.ts";
import { outcomeOf, type OutcomeLog } from "./outcome-log.ts";
import { RawConnection, type RawReply } from "./raw-connection.ts";
import { fullSpeed, steadyRate, type Schedule } from "./schedule.ts";
import type { SignedRequests } from "./signed-requests.ts";
import type { Workload } from "./workload.ts";

/** How long after the end requests that were due before it are still sent. */
const overtimeMs = 10_000;
const reconnectMs = 100;
/** Fewer than a server's backlog. */
const openedAtOnce = 200;
/** Values are told apart to a thousandth. */
const figures = 3;

export interface LoadSettings {
  /** Requests a second; null: as many as the service takes. */
  readonly rate: number | null;
  readonly durationMs: number;
  readonly connections: number;
  /** Whether a request that is due while no connection is free is dropped; else it waits. */
  readonly isLateDropped?: boolean;
}

export interface LoadRequests {
  readonly requests: SignedRequests;
  readonly outcomes: OutcomeLog;
  readonly acknowledged?: Workload["acknowledged"];
}

export class Load {
  /** Microseconds, of acknowledged requests and (as far as they had waited) of those never sent. */
  readonly latencies = createHistogram({ figures });
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
  readonly #url: URL;
  readonly #sent: LoadRequests;
  #startMs = 0;

  constructor(settings: LoadSettings, url: URL, sent: LoadRequests) {
    this.settings = settings;
    this.#url = url;
    this.#sent = sent;
  }

  get errorCount(): number {
    return [...this.errors.values()].reduce((sum, count) => sum + count, 0);
  }

  get perSecond(): number {
    return this.elapsedMs > 0 ? (this.acknowledged * 1000) / this.elapsedMs : 0;
  }

  /** Opens all connections first: making them is not what is measured. */
  async run(): Promise<void> {
    const { durationMs, rate, isLateDropped } = this.settings;
    const connections = await this.#open();
    this.#startMs = performance.now();
    const schedule =
      rate === null
        ? fullSpeed(this.#startMs, durationMs)
        : steadyRate(this.#startMs, durationMs, rate, isLateDropped);
    await Promise.all(connections.map((connection) => this.#work(connection, schedule)));
    this.unsent += schedule.dropped;
  }

  async #open(): Promise<RawConnection[]> {
    const connections: RawConnection[] = [];
    while (connections.length < this.settings.connections) {
      const count = Math.min(openedAtOnce, this.settings.connections - connections.length);
      const opening = Array.from({ length: count }, () => RawConnection.open(this.#url));
      connections.push(...(await Promise.all(opening)));
    }
    return connections;
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
    return this.#startMs + this.settings.durationMs + overtimeMs;
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
    const { number, bytes } = this.#sent.requests.take();
    // A timer may fire a fraction of a millisecond early.
    const startMs = Math.min(dueMs, performance.now());
    try {
      const reply = await connection.exchange(bytes);
      this.#record(number, reply, performance.now() - startMs);
    } catch (error) {
      this.#sent.outcomes.record(number, "unknown");
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
      this.latencies.record(microseconds(latencyMs));
      this.#sent.acknowledged?.(number, nowMs);
    } else {
      const isBare = reply.status === 503 && !reply.hasRetryAfter;
      this.#countError(`${reply.status}${isBare ? " without Retry-After" : ""}`, reply.body);
    }
  }

  /** Left out, the longest waits would be missing from the percentiles. */
  #giveUp(dueMs: number): void {
    this.unsent += 1;
    this.latencies.record(microseconds(performance.now() - dueMs));
  }

  #countError(status: string, text: string): void {
    this.errors.set(status, (this.errors.get(status) ?? 0) + 1);
    this.firstError ??= `${status}: ${text}`;
  }
}

/** A histogram takes whole numbers from 1. */
function microseconds(milliseconds: number): number {
  return Math.max(1, Math.floor(milliseconds * 1000));
}
