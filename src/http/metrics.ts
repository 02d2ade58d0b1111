// The metrics in Prometheus' text format: their names, units and meanings. What they are made of is counted
// elsewhere, as plain numbers, and read when somebody asks.
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from "prom-client";
import type { BooksFigures, BooksReader } from "../engine/books-figures.ts";
import type { QueueState } from "../engine/group-commit.ts";
import type { Journal } from "../engine/journal.ts";
import type { Poster } from "../engine/posting.ts";
import type { StreamHub } from "../engine/stream-hub.ts";
import type { Wallets } from "../engine/wallets.ts";
import type { PoolUsage } from "../store/database/pool.ts";
import type { HttpCounts } from "./http-counts.ts";

/** Figures as they travel between the processes of a server. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** What the metrics of a process are read from. */
export interface ProcessSources {
  readonly journal: Journal;
  readonly wallets: Wallets;
  readonly poster: Poster;
  readonly hub: StreamHub;
  readonly http: HttpCounts;
  readonly pools: Readonly<Record<string, { readonly usage: PoolUsage }>>;
  readonly version: string;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Metric<Source> {
  readonly name: string;
  /** What it means, in a sentence; docs/operations.md has the same. */
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly labels: readonly string[];
  /** Of several processes: the sum unless told. */
  readonly aggregator?: "first";
  /** No sample where a figure is not known. */
  readonly read: (source: Source) => readonly Sample[];
}

/** What one process has done and does. */
const processMetrics: readonly Metric<ProcessSources>[] = [
  {
    name: "ledgerctl_info",
    help: "1, with the version of the program as a label.",
    type: "gauge",
    labels: ["version"],
    aggregator: "first",
    read: ({ version }) => [{ labels: { version }, value: 1 }],
  },
  {
    name: "ledgerctl_writes_total",
    help: "Writes that were well-formed and permitted, by kind and by what became of them.",
    type: "counter",
    labels: ["kind", "outcome"],
    read: ({ journal, wallets }) =>
      [...journal.counts.list(), ...wallets.counts.list()].map(({ kind, outcome, count }) => ({
        labels: { kind, outcome },
        value: count,
      })),
  },
  {
    name: "ledgerctl_commit_retries_total",
    help: "Batches that were tried again: a lock not had in time, a database that was away.",
    type: "counter",
    labels: ["lane"],
    read: ofLanes(({ retries }) => retries),
  },
  {
    name: "ledgerctl_queue_writes",
    help: "Writes that wait for their commit or are being committed.",
    type: "gauge",
    labels: ["lane"],
    read: ofLanes(({ writes }) => writes),
  },
  {
    name: "ledgerctl_queue_bytes",
    help: "Bodies of these writes.",
    type: "gauge",
    labels: ["lane"],
    read: ofLanes(({ bytes }) => bytes),
  },
  {
    name: "ledgerctl_http_answers_total",
    help: "Answers by status and by route, which is none outside of the API; 101 is a stream that began.",
    type: "counter",
    labels: ["route", "status"],
    read: ({ http }) =>
      http.listAnswers().map(({ route, status, count }) => ({
        labels: { route, status: String(status) },
        value: count,
      })),
  },
  {
    name: "ledgerctl_http_connections",
    help: "Open connections, streams included.",
    type: "gauge",
    labels: [],
    read: ({ http }) => one(http.connections),
  },
  {
    name: "ledgerctl_streams",
    help: "Open streams of wallets.",
    type: "gauge",
    labels: [],
    read: ({ http }) => one(http.streams()),
  },
  {
    name: "ledgerctl_streamed_wallets",
    help: "Wallets that have a stream; one with streams in several workers counts in each.",
    type: "gauge",
    labels: [],
    read: ({ hub }) => one(hub.walletCount),
  },
  {
    name: "ledgerctl_stream_messages_total",
    help: "Messages that were sent to streams.",
    type: "counter",
    labels: [],
    read: ({ http }) => one(http.streamMessages),
  },
  {
    name: "ledgerctl_stream_slow_readers_total",
    help: "Streams that were closed because their reader could not keep up.",
    type: "counter",
    labels: [],
    read: ({ http }) => one(http.slowReaders),
  },
  {
    name: "ledgerctl_posting_entries_total",
    help: "Entries that this server posted for wallets, closes and changes of state aside.",
    type: "counter",
    labels: [],
    read: ({ poster }) => one(poster.counts.entries),
  },
  {
    name: "ledgerctl_posting_failures_total",
    help: "Rounds of posting, or ledgers in one, that failed; what waited is posted by a later one.",
    type: "counter",
    labels: [],
    read: ({ poster }) => one(poster.counts.failures),
  },
  {
    name: "ledgerctl_database_connections",
    help: "Open connections to the database.",
    type: "gauge",
    labels: ["pool"],
    read: ofPools(({ open }) => open),
  },
  {
    name: "ledgerctl_database_connections_busy",
    help: "Connections that are in use.",
    type: "gauge",
    labels: ["pool"],
    read: ofPools(({ busy }) => busy),
  },
  {
    name: "ledgerctl_database_connections_max",
    help: "Connections that there may be.",
    type: "gauge",
    labels: ["pool"],
    read: ofPools(({ max }) => max),
  },
  {
    name: "ledgerctl_database_waiting",
    help: "Who waits for a connection.",
    type: "gauge",
    labels: ["pool"],
    read: ofPools(({ waiting }) => waiting),
  },
  {
    name: "ledgerctl_database_errors_total",
    help: "Connections that could not be had, or that broke.",
    type: "counter",
    labels: ["pool"],
    read: ofPools(({ failures }) => failures),
  },
];

/** What the database says of all books, whichever server wrote them. */
const booksMetrics: readonly Metric<BooksFigures>[] = [
  {
    name: "ledgerctl_database_up",
    help: "1 where the database answers, else 0; what it would have said is left out then.",
    type: "gauge",
    labels: [],
    read: ({ backlog }) => one(backlog === null ? 0 : 1),
  },
  {
    name: "ledgerctl_posting_lag_seconds",
    help: "How long the oldest wallet write has waited that can be posted; 0 where none waits.",
    type: "gauge",
    labels: [],
    read: ({ backlog }) => one(backlog?.lagSeconds),
  },
  {
    name: "ledgerctl_posting_pending_batches",
    help: "Pending postings of wallets, also those that round to nothing.",
    type: "gauge",
    labels: [],
    read: ({ backlog }) => one(backlog?.pendingBatches),
  },
  {
    name: "ledgerctl_posting_assets_without_rate",
    help: "Assets, counted in each ledger, whose wallet writes wait for a first rate.",
    type: "gauge",
    labels: [],
    read: ({ backlog }) => one(backlog?.assetsWithoutRate),
  },
  {
    name: "ledgerctl_wallet_difference",
    help: "All wallets of an asset, less what is posted and pending, in smallest units: 0, or something is wrong.",
    type: "gauge",
    labels: ["ledger", "asset"],
    read: ({ reconciliation }) =>
      (reconciliation?.differences ?? []).map(({ ledgerId, assetCode, difference }) => ({
        labels: { ledger: ledgerId, asset: assetCode },
        value: Number(difference),
      })),
  },
  {
    name: "ledgerctl_wallet_difference_timestamp_seconds",
    help: "When these differences were computed, once a minute at most.",
    type: "gauge",
    labels: [],
    read: ({ reconciliation }) =>
      one(reconciliation === null ? undefined : reconciliation.atMs / 1000),
  },
];

/** The metrics of one process. Made once in it: they listen to its garbage collector. */
export class ProcessMetrics {
  readonly #registry = new Registry();

  constructor(sources: ProcessSources) {
    collectDefaultMetrics({ register: this.#registry });
    for (const metric of processMetrics) register(this.#registry, metric, () => sources);
    this.#observeBatches(sources);
  }

  async snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }

  /** The only figures that are kept as they come: once a batch, however many writes it has. */
  #observeBatches({ journal, wallets }: ProcessSources): void {
    const writes = new Histogram({
      name: "ledgerctl_batch_writes",
      help: "Writes of a committed batch.",
      labelNames: ["lane"],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers: [this.#registry],
    });
    const seconds = new Histogram({
      name: "ledgerctl_commit_seconds",
      help: "Time of a committed batch, from sending its locks to COMMIT's answer.",
      labelNames: ["lane"],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
      registers: [this.#registry],
    });
    for (const [lane, { counts }] of Object.entries({ journal, wallets })) {
      writes.zero({ lane });
      seconds.zero({ lane });
      counts.onBatch = (batchWrites, durationMs) => {
        writes.observe({ lane }, batchWrites);
        seconds.observe({ lane }, durationMs / 1000);
      };
    }
  }
}

/** The metrics of the books; one process of a server has them. */
export class BooksMetrics {
  readonly #registry = new Registry();
  readonly #reader: BooksReader;
  #figures: BooksFigures = { backlog: null, reconciliation: null };

  constructor(reader: BooksReader) {
    this.#reader = reader;
    for (const metric of booksMetrics) register(this.#registry, metric, () => this.#figures);
  }

  async snapshot(): Promise<MetricsSnapshot> {
    this.#figures = await this.#reader.read();
    return this.#registry.getMetricsAsJSON();
  }
}

/**
 * The text of several snapshots. A metric of several processes is their sum, or what it says itself; the start
 * is that of the process which has run longest.
 */
export function renderMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  const sound = snapshots.map((metrics) =>
    metrics.map((metric) =>
      metric.aggregator === "omit" ? { ...metric, aggregator: "min" as const } : metric,
    ),
  );
  return AggregatorRegistry.aggregate(sound).metrics();
}

function register<Source>(registry: Registry, metric: Metric<Source>, source: () => Source): void {
  const { name, help, labels: labelNames, read } = metric;
  const aggregator = metric.aggregator ?? ("sum" as const);
  const settings = { name, help, labelNames, aggregator, registers: [registry] };
  if (metric.type === "counter") {
    new Counter({
      ...settings,
      collect() {
        this.reset();
        for (const { labels, value } of read(source())) this.inc(labels, value);
      },
    });
    return;
  }
  new Gauge({
    ...settings,
    collect() {
      this.reset();
      const samples = read(source());
      // One without labels would be 0 where it is not known.
      if (labelNames.length === 0 && samples.length === 0) this.remove();
      for (const { labels, value } of samples) this.set(labels, value);
    },
  });
}

function one(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }];
}

function ofLanes(figure: (queue: QueueState) => number): Metric<ProcessSources>["read"] {
  return ({ journal, wallets }) =>
    Object.entries({ journal, wallets }).map(([lane, { queue }]) => ({
      labels: { lane },
      value: figure(queue),
    }));
}

function ofPools(figure: (usage: PoolUsage) => number): Metric<ProcessSources>["read"] {
  return ({ pools }) =>
    Object.entries(pools).map(([pool, { usage }]) => ({ labels: { pool }, value: figure(usage) }));
}
