// From two scrapes of a server to what an operator wants to know. Pure.
import type { Scrape } from "./metrics-text.ts";

/** Of batches to the journal or to wallets. Means and percentiles are null where no batch was committed. */
export interface LaneFigures {
  readonly lane: string;
  readonly batchesPerSecond: number;
  readonly writesPerBatch: number | null;
  readonly commitMsMean: number | null;
  readonly commitMsP99: number | null;
  readonly queueWrites: number;
  readonly queueBytes: number;
  readonly retriesPerSecond: number;
}

/** The document of `top --json` (docs/cli.md). What a server could not tell is null. */
export interface Figures {
  readonly version: string | null;
  readonly upSeconds: number | null;
  readonly intervalSeconds: number;
  readonly writes: {
    /** Accepted ones. */
    readonly perSecond: number;
    readonly byKind: Readonly<Record<string, number>>;
    readonly duplicatesPerSecond: number;
    readonly refusedPerSecond: number;
    /** Unavailable, of unknown outcome, or failed. */
    readonly troublePerSecond: number;
  };
  readonly lanes: readonly LaneFigures[];
  readonly posting: {
    readonly lagSeconds: number | null;
    readonly pendingBatches: number | null;
    readonly assetsWithoutRate: number | null;
    readonly entriesPerSecond: number;
    readonly failuresPerSecond: number;
    /** Ledgers' assets whose wallets differ from what is posted and pending. */
    readonly differences: number | null;
  };
  readonly streams: {
    readonly open: number;
    readonly wallets: number;
    readonly messagesPerSecond: number;
    readonly slowReaders: number;
  };
  readonly http: {
    readonly connections: number;
    readonly answersPerSecond: number;
    /** With a status from 500 on. */
    readonly errorsPerSecond: number;
  };
  readonly database: {
    readonly isUp: boolean;
    readonly connections: number;
    readonly busy: number;
    readonly max: number;
    readonly waiting: number;
    readonly errorsPerSecond: number;
  };
  readonly process: {
    /** 1: one core, all the time. */
    readonly cpuCores: number;
    readonly residentBytes: number;
    readonly eventLoopLagMsP99: number | null;
  };
}

/** `now` is the later scrape; `nowMs` is Unix time. */
export function figuresOf(before: Scrape, now: Scrape, nowMs: number): Figures {
  const rates = new Rates(before, now);
  const figure = (name: string) => now.sum(`ledgerctl_${name}`) ?? 0;
  const known = (name: string) => now.sum(`ledgerctl_${name}`);
  const startedAt = now.sum("process_start_time_seconds");
  const differences = now.list("ledgerctl_wallet_difference");
  const lag = now.sum("nodejs_eventloop_lag_p99_seconds");
  return {
    version: now.list("ledgerctl_info")[0]?.labels["version"] ?? null,
    upSeconds: startedAt === null ? null : Math.max(0, nowMs / 1000 - startedAt),
    intervalSeconds: rates.seconds,
    writes: writesOf(now, rates),
    lanes: valuesOf(now, "ledgerctl_queue_writes", "lane").map((lane) => laneOf(lane, now, rates)),
    posting: {
      lagSeconds: known("posting_lag_seconds"),
      pendingBatches: known("posting_pending_batches"),
      assetsWithoutRate: known("posting_assets_without_rate"),
      entriesPerSecond: rates.of("ledgerctl_posting_entries_total"),
      failuresPerSecond: rates.of("ledgerctl_posting_failures_total"),
      differences:
        known("wallet_difference_timestamp_seconds") === null
          ? null
          : differences.filter(({ value }) => value !== 0).length,
    },
    streams: {
      open: figure("streams"),
      wallets: figure("streamed_wallets"),
      messagesPerSecond: rates.of("ledgerctl_stream_messages_total"),
      slowReaders: figure("stream_slow_readers_total"),
    },
    http: {
      connections: figure("http_connections"),
      answersPerSecond: rates.of("ledgerctl_http_answers_total"),
      errorsPerSecond: valuesOf(now, "ledgerctl_http_answers_total", "status")
        .filter((status) => Number(status) >= 500)
        .reduce((sum, status) => sum + rates.of("ledgerctl_http_answers_total", { status }), 0),
    },
    database: {
      isUp: figure("database_up") === 1,
      connections: figure("database_connections"),
      busy: figure("database_connections_busy"),
      max: figure("database_connections_max"),
      waiting: figure("database_waiting"),
      errorsPerSecond: rates.of("ledgerctl_database_errors_total"),
    },
    process: {
      cpuCores: rates.of("process_cpu_seconds_total"),
      residentBytes: now.sum("process_resident_memory_bytes") ?? 0,
      eventLoopLagMsP99: lag === null ? null : lag * 1000,
    },
  };
}

/** What counters grew by. One that is less than it was began anew, with its process. */
class Rates {
  readonly seconds: number;
  readonly #before: Scrape;
  readonly #now: Scrape;

  constructor(before: Scrape, now: Scrape) {
    this.seconds = Math.max(0.001, (now.atMs - before.atMs) / 1000);
    this.#before = before;
    this.#now = now;
  }

  growth(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.#now.list(name, labels).reduce((sum, { labels: own, value }) => {
      const before = this.#before.sum(name, own) ?? 0;
      return sum + (value < before ? value : value - before);
    }, 0);
  }

  of(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.growth(name, labels) / this.seconds;
  }
}

function writesOf(now: Scrape, rates: Rates): Figures["writes"] {
  const name = "ledgerctl_writes_total";
  const kinds = valuesOf(now, name, "kind");
  const rate = (outcome: string) => rates.of(name, { outcome });
  return {
    perSecond: rate("accepted"),
    byKind: Object.fromEntries(
      kinds.map((kind) => [kind, rates.of(name, { kind, outcome: "accepted" })]),
    ),
    duplicatesPerSecond: rate("duplicate"),
    refusedPerSecond: rate("refused"),
    troublePerSecond: rate("unavailable") + rate("unknown") + rate("failed"),
  };
}

function laneOf(lane: string, now: Scrape, rates: Rates): LaneFigures {
  const batches = rates.growth("ledgerctl_batch_writes_count", { lane });
  const writes = rates.growth("ledgerctl_batch_writes_sum", { lane });
  const seconds = rates.growth("ledgerctl_commit_seconds_sum", { lane });
  return {
    lane,
    batchesPerSecond: batches / rates.seconds,
    writesPerBatch: batches === 0 ? null : writes / batches,
    commitMsMean: batches === 0 ? null : (seconds / batches) * 1000,
    commitMsP99: batches === 0 ? null : percentile(0.99, commitBuckets(lane, now, rates)) * 1000,
    queueWrites: now.sum("ledgerctl_queue_writes", { lane }) ?? 0,
    queueBytes: now.sum("ledgerctl_queue_bytes", { lane }) ?? 0,
    retriesPerSecond: rates.of("ledgerctl_commit_retries_total", { lane }),
  };
}

interface Bucket {
  readonly upTo: number;
  /** Of this and of all lower buckets. */
  readonly count: number;
}

function commitBuckets(lane: string, now: Scrape, rates: Rates): Bucket[] {
  const name = "ledgerctl_commit_seconds_bucket";
  return valuesOf(now, name, "le")
    .map((le) => ({
      upTo: le === "+Inf" ? Infinity : Number(le),
      count: rates.growth(name, { lane, le }),
    }))
    .sort((a, b) => a.upTo - b.upTo);
}

/** Within its bucket taken as spread evenly; of what is beyond the last bound, that bound. */
export function percentile(share: number, buckets: readonly Bucket[]): number {
  const wanted = share * (buckets.at(-1)?.count ?? 0);
  const index = buckets.findIndex(({ count }) => count >= wanted);
  const from = buckets[index - 1] ?? { upTo: 0, count: 0 };
  const bucket = buckets[index];
  if (bucket === undefined || bucket.upTo === Infinity) return from.upTo;
  const within = (wanted - from.count) / Math.max(1e-9, bucket.count - from.count);
  return from.upTo + within * (bucket.upTo - from.upTo);
}

function valuesOf(scrape: Scrape, name: string, label: string): string[] {
  return [...new Set(scrape.list(name).flatMap(({ labels }) => labels[label] ?? []))];
}
