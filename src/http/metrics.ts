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
import type { CheckpointMaker } from "../engine/logs/checkpoint-maker.ts";
import type { WitnessFeed } from "../engine/logs/witness-feed.ts";
import type { WitnessFeeds } from "../engine/logs/witness-feeds.ts";
import type { Poster } from "../engine/posting.ts";
import type { Deliverer } from "../engine/deliveries/deliverer.ts";
import type { JournalHub } from "../engine/journal-hub.ts";
import type { WalletHub } from "../engine/wallet-hub.ts";
import type { Wallets } from "../engine/wallets.ts";
import type { PoolUsage } from "../store/database/pool.ts";
import type { Replica } from "../store/database/replica.ts";
import type { HttpCounts } from "./http-counts.ts";

/** Figures as they travel between the processes of a server. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export type ReadMetrics = () => Promise<MetricsSnapshot>;

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** What the metrics of a process are read from. */
interface ProcessSources {
  readonly journal: Journal;
  readonly wallets: Wallets;
  readonly poster: Poster;
  /** Null without a log key. */
  readonly checkpoints: CheckpointMaker | null;
  readonly witnesses: WitnessFeeds;
  readonly walletHub: WalletHub;
  readonly journalHub: JournalHub;
  readonly deliverer: Deliverer;
  readonly http: HttpCounts;
  readonly readiness: {
    readonly state: { readonly ready: boolean };
    /** By address, whether each node of a spread database is reached. */
    readonly nodes: ReadonlyMap<string, boolean>;
  };
  readonly pools: Readonly<Record<string, { readonly usage: PoolUsage }>>;
  readonly replica: Pick<Replica, "unusedFor" | "lagMs" | "counts"> | null;
  readonly version: string;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Metric<Source> {
  /** What it means, in a sentence; docs/operations.md has the same. */
  readonly help: string;
  readonly labels?: readonly string[];
  /** Of several processes: the sum unless another is named. */
  readonly aggregator?: "first" | "min" | "max";
  /** A sample for each set of labels, or the one number of a metric without labels; undefined where it is not known. */
  readonly read: (source: Source) => readonly Sample[] | number | null | undefined;
}

/** By name: a counter's ends in `_total`, a gauge's does not. */
type MetricTable<Source> = Readonly<Record<string, Metric<Source>>>;

/** What one process has done and does. */
const processTable: MetricTable<ProcessSources> = {
  ledgerctl_info: {
    help: "1, with the version of the program as a label.",
    labels: ["version"],
    aggregator: "first",
    read: ({ version }) => [{ labels: { version }, value: 1 }],
  },
  ledgerctl_writes_total: {
    help: "Writes that were well-formed and permitted, by kind and by what became of them.",
    labels: ["kind", "outcome"],
    read: ({ journal, wallets }) =>
      [...journal.counts.list(), ...wallets.counts.list()].map(({ kind, outcome, count }) => ({
        labels: { kind, outcome },
        value: count,
      })),
  },
  ledgerctl_commit_retries_total: {
    help: "Batches that were tried again: a lock not had in time, a database that was away.",
    labels: ["lane"],
    read: ofLanes(({ retries }) => retries),
  },
  ledgerctl_queue_writes: {
    help: "Writes that wait for their commit or are being committed.",
    labels: ["lane"],
    read: ofLanes(({ writes }) => writes),
  },
  ledgerctl_queue_bytes: {
    help: "Bodies of these writes.",
    labels: ["lane"],
    read: ofLanes(({ bytes }) => bytes),
  },
  ledgerctl_http_answers_total: {
    help: "Answers by status (its fault's where one broke off) and route, none outside of the API; 101: a stream.",
    labels: ["route", "status"],
    read: ({ http }) =>
      http.listAnswers().map(({ route, status, count }) => ({
        labels: { route, status: String(status) },
        value: count,
      })),
  },
  ledgerctl_rejections_total: {
    help: "Requests that were too many: for the rate limit of their key (429), or for this server (503).",
    labels: ["limit"],
    read: ({ http }) =>
      Object.entries(http.rejections).map(([limit, value]) => ({ labels: { limit }, value })),
  },
  ledgerctl_http_connections: {
    help: "Open connections, streams included.",
    read: ({ http }) => http.connections,
  },
  ledgerctl_tls_certificate_expiry_timestamp_seconds: {
    help: "When the certificate expires; left out without TLS.",
    aggregator: "first",
    read: ({ http: { certificateExpiresAtMs } }) =>
      certificateExpiresAtMs === null ? undefined : certificateExpiresAtMs / 1000,
  },
  ledgerctl_streams: {
    help: "Open streams of wallets and of journals.",
    read: ({ http }) => http.countStreams(),
  },
  ledgerctl_streamed_wallets: {
    help: "Wallets that have a stream; one with streams in several workers counts in each.",
    read: ({ walletHub }) => walletHub.walletCount,
  },
  ledgerctl_streamed_journals: {
    help: "Journals that have a stream; one with streams in several workers counts in each.",
    read: ({ journalHub }) => journalHub.journalCount,
  },
  ledgerctl_stream_messages_total: {
    help: "Messages that were sent to streams.",
    read: ({ http }) => http.streamMessages,
  },
  ledgerctl_stream_slow_readers_total: {
    help: "Streams that were closed because their reader could not keep up.",
    read: ({ http }) => http.slowReaders,
  },
  ledgerctl_delivery_requests_total: {
    help: "Requests to receivers of deliveries, by what became of them: accepted or failed.",
    labels: ["outcome"],
    read: ({ deliverer: { counts } }) =>
      (["accepted", "failed"] as const).map((outcome) => ({
        labels: { outcome },
        value: counts[outcome],
      })),
  },
  ledgerctl_delivered_events_total: {
    help: "Events that receivers of deliveries have accepted.",
    read: ({ deliverer }) => deliverer.counts.events,
  },
  ledgerctl_posting_entries_total: {
    help: "Entries that this server posted for wallets, closes and changes of state aside.",
    read: ({ poster }) => poster.counts.entries,
  },
  ledgerctl_posting_failures_total: {
    help: "Rounds of posting, or ledgers in one, that failed; what waited is posted by a later one.",
    read: ({ poster }) => poster.counts.failures,
  },
  ledgerctl_checkpoints_total: {
    help: "Checkpoints of logs that this server signed.",
    read: ({ checkpoints }) => checkpoints?.counts.checkpoints ?? 0,
  },
  ledgerctl_checkpoint_failures_total: {
    help: "Attempts to sign a log that failed; they are made again.",
    read: ({ checkpoints }) => checkpoints?.counts.failures ?? 0,
  },
  ledgerctl_witness_up: {
    help: "1 where the witness answered as it should when it was last asked, else 0.",
    labels: ["witness"],
    aggregator: "min",
    read: ofWitnesses(({ isUp }) => (isUp ? 1 : 0)),
  },
  ledgerctl_witness_waiting_logs: {
    help: "Logs whose newest checkpoint this server is to bring to the witness.",
    labels: ["witness"],
    read: ofWitnesses(({ waiting }) => waiting),
  },
  ledgerctl_witness_submissions_total: {
    help: "Checkpoints that were brought to the witness, by what became of them.",
    labels: ["witness", "outcome"],
    read: ({ witnesses }) =>
      witnesses.all.flatMap(({ witness, counts }) =>
        Object.entries(counts).map(([outcome, value]) => ({
          labels: { witness: witness.name, outcome },
          value,
        })),
      ),
  },
  ledgerctl_ready: {
    help: "1 where a write would succeed now, as /readyz says; 0 where a process of the server says no.",
    aggregator: "min",
    read: ({ readiness }) => (readiness.state.ready ? 1 : 0),
  },
  ledgerctl_database_node_up: {
    help: "Of a database that Citus spreads: 1 where a worker node is reached, else 0.",
    labels: ["node"],
    aggregator: "min",
    read: ({ readiness }) =>
      [...readiness.nodes].map(([node, isUp]) => ({ labels: { node }, value: isUp ? 1 : 0 })),
  },
  ledgerctl_database_connections: {
    help: "Open connections to the database.",
    labels: ["pool"],
    read: ofPools(({ open }) => open),
  },
  ledgerctl_database_connections_busy: {
    help: "Connections that are in use.",
    labels: ["pool"],
    read: ofPools(({ busy }) => busy),
  },
  ledgerctl_database_connections_max: {
    help: "Connections that there may be.",
    labels: ["pool"],
    read: ofPools(({ max }) => max),
  },
  ledgerctl_database_waiting: {
    help: "Who waits for a connection.",
    labels: ["pool"],
    read: ofPools(({ waiting }) => waiting),
  },
  ledgerctl_database_errors_total: {
    help: "Connections that could not be had, or that broke.",
    labels: ["pool"],
    read: ofPools(({ failures }) => failures),
  },
  ledgerctl_long_reads_total: {
    help: "Long reads by the database that did them, replica or primary; left out without a replica.",
    labels: ["database"],
    read: ({ replica }) =>
      Object.entries(replica?.counts ?? {}).map(([database, value]) => ({
        labels: { database },
        value,
      })),
  },
  ledgerctl_replica_ready: {
    help: "1 where long reads go to the replica, else 0; left out without a replica.",
    aggregator: "min",
    read: ({ replica }) => replica && (replica.unusedFor === null ? 1 : 0),
  },
  ledgerctl_replica_lag_seconds: {
    help: "How long the replica takes to have what the primary has; left out without a replica.",
    aggregator: "max",
    read: ({ replica }) => replica && replica.lagMs / 1000,
  },
};

/** What the database says of all books, whichever server wrote them. */
const booksTable: MetricTable<BooksFigures> = {
  ledgerctl_database_up: {
    help: "1 where the database answers, else 0; what it would have said is left out then.",
    read: ({ backlog }) => (backlog === null ? 0 : 1),
  },
  ledgerctl_posting_lag_seconds: {
    help: "How long the oldest wallet write has waited that can be posted; 0 where none waits.",
    read: ({ backlog }) => backlog?.lagSeconds,
  },
  ledgerctl_posting_pending_batches: {
    help: "Pending postings of wallets, also those that round to nothing.",
    read: ({ backlog }) => backlog?.pendingBatches,
  },
  ledgerctl_posting_assets_without_rate: {
    help: "Assets, counted in each ledger, whose wallet writes wait for a first rate.",
    read: ({ backlog }) => backlog?.assetsWithoutRate,
  },
  ledgerctl_backup_timestamp_seconds: {
    help: "When the last backup was taken by the command; 0 where none was.",
    read: ({ backlog, lastBackup }) => {
      if (backlog === null) return undefined;
      return lastBackup === null ? 0 : Date.parse(lastBackup.takenAt) / 1000;
    },
  },
  ledgerctl_logs_halted: {
    help: "Logs that sign nothing until an operator resumes them or begins them anew; 0, or something is wrong.",
    read: ({ haltedLogs }) => haltedLogs ?? undefined,
  },
  ledgerctl_deliveries_paused: {
    help: "Deliveries that were paused because they failed for a day.",
    read: ({ deliveries }) => deliveries?.paused,
  },
  ledgerctl_deliveries_failing: {
    help: "Deliveries whose last request failed, and that are tried again.",
    read: ({ deliveries }) => deliveries?.failing,
  },
  ledgerctl_wallet_difference: {
    help: "All wallets of an asset, less what is posted and pending, in smallest units: 0, or something is wrong.",
    labels: ["ledger", "asset"],
    read: ({ reconciliation }) =>
      (reconciliation?.differences ?? []).map(({ ledgerId, assetCode, difference }) => ({
        labels: { ledger: ledgerId, asset: assetCode },
        value: Number(difference),
      })),
  },
  ledgerctl_wallet_difference_timestamp_seconds: {
    help: "When these differences were computed, once a minute at most.",
    read: ({ reconciliation }) => (reconciliation ? reconciliation.atMs / 1000 : undefined),
  },
};

/** Reads the metrics of one process. Made once in it: they listen to its garbage collector. */
export function processMetrics(sources: ProcessSources): ReadMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  register(registry, processTable, () => sources);
  observeBatches(registry, sources);
  return () => registry.getMetricsAsJSON();
}

/** The only figures that are kept as they come: once a batch, however many writes it has. */
function observeBatches(registry: Registry, { journal, wallets }: ProcessSources): void {
  const writes = new Histogram({
    name: "ledgerctl_batch_writes",
    help: "Writes of a committed batch.",
    labelNames: ["lane"],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "ledgerctl_commit_seconds",
    help: "Time of a committed batch, from sending its locks to COMMIT's answer.",
    labelNames: ["lane"],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
    registers: [registry],
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

/** Reads the metrics of the books; one process of a server has them. */
export function booksMetrics(reader: BooksReader): ReadMetrics {
  const registry = new Registry();
  let figures: BooksFigures = {
    backlog: null,
    lastBackup: null,
    haltedLogs: null,
    deliveries: null,
    reconciliation: null,
  };
  register(registry, booksTable, () => figures);
  return async () => {
    figures = await reader.read();
    return registry.getMetricsAsJSON();
  };
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

function register<Source>(
  registry: Registry,
  table: MetricTable<Source>,
  source: () => Source,
): void {
  for (const [name, metric] of Object.entries(table)) {
    const { help, labels: labelNames = [], aggregator = "sum" as const, read } = metric;
    const settings = { name, help, labelNames, aggregator, registers: [registry] };
    const readSamples = (): readonly Sample[] => {
      const figures = read(source()) ?? [];
      return typeof figures === "number" ? [{ labels: {}, value: figures }] : figures;
    };
    if (name.endsWith("_total")) {
      new Counter({
        ...settings,
        collect() {
          this.reset();
          for (const { labels, value } of readSamples()) this.inc(labels, value);
        },
      });
    } else {
      new Gauge({
        ...settings,
        collect() {
          this.reset();
          const samples = readSamples();
          // One without labels would be 0 where it is not known.
          if (labelNames.length === 0 && samples.length === 0) this.remove();
          for (const { labels, value } of samples) this.set(labels, value);
        },
      });
    }
  }
}

function ofLanes(figure: (queue: QueueState) => number): Metric<ProcessSources>["read"] {
  return ({ journal, wallets }) =>
    Object.entries({ journal, wallets }).map(([lane, { lanes }]) => ({
      labels: { lane },
      value: figure(lanes.state),
    }));
}

function ofWitnesses(figure: (feed: WitnessFeed) => number): Metric<ProcessSources>["read"] {
  return ({ witnesses }) =>
    witnesses.all.map((feed) => ({
      labels: { witness: feed.witness.name },
      value: figure(feed),
    }));
}

function ofPools(figure: (usage: PoolUsage) => number): Metric<ProcessSources>["read"] {
  return ({ pools }) =>
    Object.entries(pools).map(([pool, { usage }]) => ({ labels: { pool }, value: figure(usage) }));
}
