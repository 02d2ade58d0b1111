// Several processes on one port. The first, whose part is here, owns the database and the signals; the others serve.
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { isSea } from "node:sea";
import type { ReadMetrics } from "../http/metrics.ts";
import { shareOf, type RateLimit } from "../http/rate-limit.ts";
import type { Certificate } from "../http/tls.ts";
import type { Log } from "../log.ts";
import type { LogSettings } from "../engine/logs/log-signing.ts";
import type { Database } from "./database.ts";
import type { LogPolicy } from "./log-policy.ts";
import type { Service } from "./service.ts";
import { WorkerMetrics } from "./worker-metrics.ts";
import {
  stopMessage,
  type Assignment,
  type CertificateMessage,
  type WorkerMessage,
} from "./worker.ts";

const restartDelayMs = 1_000;

interface WorkerServiceOptions {
  readonly workers: number;
  readonly database: Database;
  readonly replicaUrl: string | null;
  readonly masterKeys: readonly Buffer[];
  readonly logSettings: LogSettings | null;
  readonly booksMetrics: ReadMetrics;
  readonly areMetricsElsewhere: boolean;
  readonly certificate: Certificate | null;
  readonly logPolicy: LogPolicy | null;
  /** Of each API key on the whole server. */
  readonly rateLimit: RateLimit | null;
  readonly allowsPrivateDeliveries: boolean;
  readonly log: Log;
  readonly version: string;
}

/** A service that is served by workers; one that dies is replaced. */
export class WorkerService implements Service {
  readonly #options: WorkerServiceOptions;
  readonly #log: Log;
  readonly #metrics: WorkerMetrics;
  /** Those that serve, and can be sent another certificate. */
  readonly #serving = new Set<Worker>();
  #certificate: Certificate | null;
  #isStopping = false;

  constructor(options: WorkerServiceOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#metrics = new WorkerMetrics(options.booksMetrics);
    this.#certificate = options.certificate;
  }

  metrics(): Promise<string> {
    return this.#metrics.render();
  }

  useCertificate(certificate: Certificate): void {
    // Of those who start later.
    this.#certificate = certificate;
    for (const worker of this.#serving) sendCertificate(worker, certificate);
  }

  /** Resolves when every worker serves. Port 0 is one free port for all, and for those who replace them. */
  async listen(host: string, port: number): Promise<string> {
    if (isSea()) prepareForkOfExecutable();
    const { workers, database, replicaUrl, masterKeys, logSettings } = this.#options;
    const { areMetricsElsewhere, logPolicy, rateLimit, version } = this.#options;
    const { allowsPrivateDeliveries } = this.#options;
    const assignment = {
      databaseUrl: database.url,
      dataDir: database.dataDir,
      replicaUrl,
      masterKeys: masterKeys.map((key) => key.toString("base64")),
      logSettings: logSettings && {
        logName: logSettings.logName,
        logKeys: logSettings.logKeys.map((key) => Buffer.from(key).toString("base64")),
      },
      areMetricsElsewhere,
      logPolicy: logPolicy && logPolicy.octets.toString("base64"),
      rateLimit: rateLimit && shareOf(rateLimit, workers),
      allowsPrivateDeliveries,
      version,
      host,
      port: port === 0 ? await findFreePort(host) : port,
    };
    const starts = Array.from({ length: workers }, () => this.#startWorker(assignment));
    const [url] = await Promise.all(starts);
    if (url === undefined) throw new Error("there is at least one worker");
    cluster.on("exit", (worker, code, signal) => {
      if (this.#isStopping) return;
      this.#log.error({ pid: worker.process.pid, code, signal }, "a worker died; starting another");
      setTimeout(() => {
        if (this.#isStopping) return;
        this.#startWorker(assignment).catch((error: unknown) => {
          this.#log.error({ err: error }, "a worker could not be started");
        });
      }, restartDelayMs);
    });
    return url;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const workers = Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []);
    await Promise.all(
      workers.map(async (worker) => {
        if (worker.isDead()) return;
        const exited = once(worker, "exit");
        if (worker.isConnected()) worker.send(stopMessage);
        await exited;
      }),
    );
  }

  #startWorker(assignment: Omit<Assignment, "certificate">): Promise<string> {
    const worker = cluster.fork();
    let certificate: Certificate | null = null;
    const assign = () => {
      // One that starts while the others stop is told here: before, it may not have listened.
      if (this.#isStopping) {
        worker.send(stopMessage);
        return;
      }
      certificate = this.#certificate;
      worker.send({ ...assignment, certificate });
    };
    return new Promise((resolve, reject) => {
      // What is sent to one that was killed a moment ago fails here; its exit tells the rest.
      worker.on("error", (error) => {
        this.#log.warn({ pid: worker.process.pid, err: error }, "a worker can't be reached");
      });
      worker.on("message", (message: WorkerMessage) => {
        if (message.event === "waiting") assign();
        else if (message.event === "ready") {
          this.#metrics.add(worker);
          this.#serving.add(worker);
          // It may have been renewed while the worker started.
          if (this.#certificate !== null && this.#certificate !== certificate) {
            sendCertificate(worker, this.#certificate);
          }
          resolve(message.url);
        } else if (message.event === "failed") {
          reject(Object.assign(new Error(message.message), { code: message.code }));
        } else this.#metrics.take(worker, message);
      });
      worker.once("exit", () => {
        this.#serving.delete(worker);
        reject(new Error("a worker ended before it served"));
      });
    });
  }
}

function sendCertificate(worker: Worker, certificate: Certificate): void {
  const message: CertificateMessage = { event: "certificate", certificate };
  if (worker.isConnected()) worker.send(message);
}

/**
 * A single executable has no script that a fork could name: what stands there is the first word of the command line. It
 * also brings Node's own options by itself, and would take any here for the program's.
 */
function prepareForkOfExecutable(): void {
  const [exec = "", ...args] = process.argv.slice(2);
  cluster.setupPrimary({ exec, args, execArgv: [] });
}

/** Workers that all asked for port 0 would get another one once all of them had died. */
async function findFreePort(host: string): Promise<number> {
  const listener = createServer().listen(0, host);
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, "close");
  return port;
}
