// A worker: one of several processes that serve on one port. What it needs reaches it as a message from the first
// process, not in its environment, which others can read.
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import type { Environment } from "../config.ts";
import { errorCode, messageOf } from "../core/thrown.ts";
import { parseTlogPolicy } from "../core/tlog-policy.ts";
import type { RateLimit } from "../http/rate-limit.ts";
import type { Certificate } from "../http/tls.ts";
import type { Log } from "../log.ts";
import { runningDatabase } from "./database.ts";
import type { LogSettings } from "../engine/logs/log-signing.ts";
import { openInteractivePool } from "./pools.ts";
import { createService } from "./service.ts";
import { metricsOfAll, type MetricsMessage, type MetricsOrder } from "./worker-metrics.ts";

export interface Assignment {
  readonly databaseUrl: string;
  /** The folder of the embedded database, or null; a worker only has to know which it is. */
  readonly dataDir: string | null;
  readonly replicaUrl: string | null;
  readonly masterKeys: readonly string[];
  /** With its keys in base64; null where there is no log key. */
  readonly logSettings: { readonly logName: string; readonly logKeys: readonly string[] } | null;
  readonly areMetricsElsewhere: boolean;
  readonly certificate: Certificate | null;
  /** The octets of the policy file in base64; null without one. */
  readonly logPolicy: string | null;
  /** This worker's share. */
  readonly rateLimit: RateLimit | null;
  readonly allowsPrivateDeliveries: boolean;
  readonly version: string;
  readonly host: string;
  readonly port: number;
}

/** What a worker sends. */
export type WorkerMessage =
  | MetricsMessage
  | { readonly event: "waiting" }
  | { readonly event: "ready"; readonly url: string }
  | { readonly event: "failed"; readonly message: string; readonly code: string };

export const stopMessage = "stop";

/** Another certificate for a worker that serves. */
export interface CertificateMessage {
  readonly event: "certificate";
  readonly certificate: Certificate;
}

export function isWorker(): boolean {
  return cluster.isWorker;
}

/** Serves what the first process assigns, until it says stop or is gone. Resolves with whether it could. */
export async function serveAsWorker(environment: Environment, log: Log): Promise<boolean> {
  const { worker } = cluster;
  if (worker === undefined) throw new Error("only a worker serves as one");
  const stopRequested = new Promise<void>((resolve) => {
    worker.on("message", (message: unknown) => {
      if (message === stopMessage) resolve();
    });
    worker.once("disconnect", () => {
      // Without it Node ends a worker whose first process is gone on the spot, in the midst of its requests.
      worker.exitedAfterDisconnect = true;
      resolve();
    });
  });
  const assignment = await receiveAssignment(worker);
  if (assignment === null) {
    worker.disconnect();
    return true;
  }
  const { databaseUrl: url, dataDir, replicaUrl, host, port } = assignment;
  const pool = openInteractivePool(url);
  const service = createService({
    environment,
    database: runningDatabase(url, dataDir),
    replicaUrl,
    pool,
    masterKeys: assignment.masterKeys.map((key) => Buffer.from(key, "base64")),
    logSettings: logSettingsOf(assignment),
    log,
    version: assignment.version,
    gatherMetrics: (own) => metricsOfAll(worker, own),
    areMetricsElsewhere: assignment.areMetricsElsewhere,
    certificate: assignment.certificate,
    logPolicy:
      assignment.logPolicy === null
        ? null
        : parseTlogPolicy(Buffer.from(assignment.logPolicy, "base64")),
    rateLimit: assignment.rateLimit,
    allowsPrivateDeliveries: assignment.allowsPrivateDeliveries,
  });
  worker.on("message", (message: CertificateMessage | MetricsOrder | typeof stopMessage) => {
    if (message === stopMessage || !("event" in message)) return;
    service.useCertificate(message.certificate);
  });
  try {
    tell(worker, { event: "ready", url: await service.listen(host, port) });
    await stopRequested;
    await service.stop();
    return true;
  } catch (error) {
    tell(worker, { event: "failed", message: messageOf(error), code: errorCode(error) ?? "" });
    return false;
  } finally {
    await pool.end();
    if (worker.isConnected()) worker.disconnect();
  }
}

function logSettingsOf({ logSettings }: Assignment): LogSettings | null {
  const [first, ...others] = (logSettings?.logKeys ?? []).map((key) => Buffer.from(key, "base64"));
  if (logSettings === null || first === undefined) return null;
  return { logName: logSettings.logName, logKeys: [first, ...others] };
}

/** null where the first process stops already. */
async function receiveAssignment(worker: Worker): Promise<Assignment | null> {
  const first = once(worker, "message") as Promise<[Assignment | typeof stopMessage]>;
  tell(worker, { event: "waiting" });
  const [message] = await first;
  return message === stopMessage ? null : message;
}

function tell(worker: Worker, message: WorkerMessage): void {
  worker.send(message);
}
