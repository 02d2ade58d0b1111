// The engine of one server process: everything that writes, and the streams that tell of it.
import type { Environment } from "../config.ts";
import type { LogIdentity } from "../core/log-origin.ts";
import type { TlogPolicy } from "../core/tlog-policy.ts";
import { messageOf } from "../core/thrown.ts";
import { ClosedPeriods } from "../engine/closed-periods.ts";
import { Closes } from "../engine/closes.ts";
import { DaySums } from "../engine/day-sums.ts";
import { JournalHub } from "../engine/journal-hub.ts";
import { Deliverer } from "../engine/deliveries/deliverer.ts";
import { DeliveryAdministration } from "../engine/deliveries/delivery-administration.ts";
import { Journal } from "../engine/journal.ts";
import { LedgerAdministration } from "../engine/ledger-administration.ts";
import { CheckpointMaker, type CheckpointMakerOptions } from "../engine/logs/checkpoint-maker.ts";
import type { SignedCheckpoints } from "../engine/logs/kept-checkpoint.ts";
import type { LogSettings } from "../engine/logs/log-signing.ts";
import { WitnessFeeds } from "../engine/logs/witness-feeds.ts";
import { WitnessedLogs } from "../engine/logs/witnessed-logs.ts";
import { LedgerNodes } from "../engine/ledger-nodes.ts";
import { Poster } from "../engine/posting.ts";
import { WalletHub } from "../engine/wallet-hub.ts";
import { WalletLogDigests } from "../engine/wallet-log-digests.ts";
import { Wallets } from "../engine/wallets.ts";
import { deliveryMessage } from "../http/handlers/deliveries.ts";
import type { Log } from "../log.ts";
import { submissionWitnesses } from "./log-policy.ts";
import { logOutages } from "./outage-log.ts";
import { openNodePool, type Pools } from "./pools.ts";
import { logWitnesses } from "./witness-outages.ts";

export type Engine = ReturnType<typeof createEngine>;

const queueItemsMax = 20_000;
const queueBytesMin = 64 * 1024 * 1024;
/** How long a write is tried while the database is away; a restarting one is back well within it. */
const writeDeadlineMs = 5_000;

/** `areCommitsHalted`: whether COMMITs wait for a standby without end, so that none may be added. */
export function createEngine(
  databaseUrl: string,
  pools: Pools,
  environment: Environment,
  log: Log,
  areCommitsHalted: () => boolean,
  logs: LogOptions,
  receivers: ReceiverOptions,
) {
  const nodes = new LedgerNodes(pools.interactive, {
    intervalMs: 5_000,
    openPool: (node, startedAt) =>
      openNodePool(databaseUrl, node, startedAt, environment.nodeConnectionsMax),
    onRefused: (node, error) => {
      log.warn(
        { node, cause: messageOf(error) },
        "a Citus worker takes no writes from this server: they go through the coordinator, which takes longer",
      );
    },
    ...logOutages(log, "finding the nodes of ledgers"),
  });
  const limits = { ...writeLimits(environment.bodyBytesMax, log), areCommitsHalted, nodes };
  const walletHub = new WalletHub(pools.write, {
    pollIntervalMs: 25,
    areCommitsHalted,
    ...logOutages(log, "reading the logs of wallets for streams"),
  });
  const journalHub = new JournalHub(pools.write, pools.interactive, {
    pollIntervalMs: 25,
    areCommitsHalted,
    ...logOutages(log, "reading journals for streams"),
  });
  const onHalt = ({ ledgerId, log: name }: LogIdentity, reason: string) => {
    log.error(
      { ledgerId, log: name, reason },
      "a log was halted: it signs nothing until `ledgerctl log resume` or `log restart`",
    );
  };
  const witnesses = new WitnessFeeds(
    new WitnessedLogs(pools.longRunning),
    logs.policy === null ? [] : submissionWitnesses(logs.policy),
    { areCommitsHalted, onHalt, ...logWitnesses(log), ...logOutages(log, "feeding witnesses") },
  );
  const checkpoints = createCheckpointMaker(pools, environment, log, areCommitsHalted, logs, {
    onHalt,
    onCheckpoint: (identity) => {
      witnesses.announce(identity);
    },
  });
  return {
    nodes,
    journal: new Journal(pools.write, limits, (ledgerId, entries) => {
      journalHub.publish(ledgerId, entries);
    }),
    wallets: new Wallets(pools.write, limits, (ledgerId, writes) => {
      walletHub.publish(ledgerId, writes);
    }),
    checkpoints,
    witnesses,
    closes: new Closes(pools.longRunning, new ClosedPeriods(), {
      areCommitsHalted,
      onClose: (ledgerId) => checkpoints?.signSoon(ledgerId),
      onChangedClose: (ledgerId, periodId) => {
        log.error(
          { ledgerId, periodId },
          "the opening was summed from all entries, since an earlier close was changed in the database: run `ledgerctl audit`",
        );
      },
    }),
    administration: new LedgerAdministration(pools.write, areCommitsHalted),
    deliveries: new DeliveryAdministration(pools.write, {
      ...receivers,
      masterKey: receivers.masterKeys[0] as Buffer,
      areCommitsHalted,
    }),
    deliverer: new Deliverer(pools.write, pools.interactive, {
      ...receivers,
      intervalMs: 500,
      writeBody: deliveryMessage,
      areCommitsHalted,
      onPaused: ({ ledgerId, deliveryId }, failure) => {
        log.error(
          { ledgerId, deliveryId, failure },
          "a delivery has failed for a day and was paused: `ledgerctl delivery resume` lets it go on",
        );
      },
      ...logOutages(log, "delivering events"),
    }),
    poster: new Poster(pools.write, {
      intervalMs: environment.postIntervalMs,
      areCommitsHalted,
      ...logOutages(log, "posting wallets"),
    }),
    digests: new WalletLogDigests(pools.longRunning, {
      pauseMs: 250,
      ...logOutages(log, "making digests of wallets' logs"),
    }),
    daySums: new DaySums(pools.longRunning, {
      intervalMs: 1_000,
      areCommitsHalted,
      ...logOutages(log, "summing entries by day"),
    }),
    walletHub,
    journalHub,
  };
}

/** What a server needs for deliveries. */
export interface ReceiverOptions {
  /** The first is that of new deliveries. */
  readonly masterKeys: readonly Buffer[];
  /** Whether receivers may be at addresses that are not of the public internet. */
  readonly allowsPrivate: boolean;
}

/** What a server knows of logs. */
export interface LogOptions {
  /** Null where it has no key, and signs nothing. */
  readonly settings: LogSettings | null;
  /** Where the log key is in a file: beside it. */
  readonly signedCheckpoints: SignedCheckpoints | null;
  /** Whose witnesses get checkpoints; null where there are none. */
  readonly policy: TlogPolicy | null;
}

function createCheckpointMaker(
  { longRunning }: Pools,
  environment: Environment,
  log: Log,
  areCommitsHalted: () => boolean,
  { settings, signedCheckpoints }: LogOptions,
  listeners: Pick<CheckpointMakerOptions, "onHalt" | "onCheckpoint">,
): CheckpointMaker | null {
  if (settings === null) return null;
  const told = new Set<string>();
  return new CheckpointMaker(longRunning, {
    ...settings,
    intervalMs: environment.checkpointIntervalMs,
    signedCheckpoints,
    areCommitsHalted,
    ...listeners,
    onWrongSettings: ({ ledgerId, log: name }, reason) => {
      // Each time that it is due it is found anew.
      if (told.has(reason)) return;
      told.add(reason);
      log.error({ ledgerId, log: name, reason }, "this server does not sign a log");
    },
    ...logOutages(log, "signing checkpoints"),
  });
}

function writeLimits(bodyBytesMax: number, log: Log) {
  const queueBytesMax = Math.max(queueBytesMin, 4 * bodyBytesMax);
  return {
    batchItemsMax: 500,
    batchBytesMax: 2 * 1024 * 1024,
    queueItemsMax,
    queueBytesMax,
    // A quarter: a ledger that is stuck leaves the rest of the queue to the others.
    laneItemsMax: queueItemsMax / 4,
    laneBytesMax: queueBytesMax / 4,
    laneWaitMsMax: 1_000,
    largeBatchItems: 200,
    deadlineMs: writeDeadlineMs,
    nowMs: () => performance.now(),
    onFailure: logOutages(log, "committing writes").onFailure,
  };
}
