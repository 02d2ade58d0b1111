// Several processes on one port: the first one owns the database and the signals, the others serve.
// What a worker needs reaches it as a message, not in its environment, which others can read.
import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { errorCode, messageOf } from "../core/thrown.ts";
import type { Environment } from "../config.ts";
import type { Log } from "../log.ts";
import { exitCodes } from "../cli/failure.ts";
import {
  composeService,
  openServiceReads,
  serviceConnectionsMax,
  type Service,
} from "./service.ts";
import { metricsOfAll, WorkerMetrics, type MetricsMessage } from "./worker-metrics.ts";
import type { BooksMetrics } from "../http/metrics.ts";
import { programVersion } from "../cli/version.ts";

interface Assignment {
  readonly databaseUrl: string;
  /** The folder of the embedded database, or null; a worker only has to know which it is. */
  readonly dataDir: string | null;
  readonly masterKeys: readonly string[];
  readonly areMetricsElsewhere: boolean;
  readonly host: string;
  readonly port: number;
}

type WorkerMessage =
  | MetricsMessage
  | { readonly event: "waiting" }
  | { readonly event: "ready"; readonly url: string }
  | { readonly event: "failed"; readonly message: string; readonly code: string };

const restartDelayMs = 1_000;
const stopMessage = "stop";

/** The first process's own: reads, its lease on an embedded database, migrations. */
const ownConnectionsMax = 8;

/** Connections to the database that so many workers and the process that started them have at most. */
export function connectionsOf(workers: number): number {
  return workers * serviceConnectionsMax + ownConnectionsMax;
}

/** A service that is served by workers; one that dies is replaced. */
export class WorkerService implements Service {
  readonly #count: number;
  readonly #database: Omit<Assignment, "host" | "port">;
  readonly #log: Log;
  readonly #metrics: WorkerMetrics;
  #isStopping = false;

  constructor(options: {
    count: number;
    databaseUrl: string;
    dataDir: string | null;
    masterKeys: readonly Buffer[];
    booksMetrics: BooksMetrics;
    areMetricsElsewhere: boolean;
    log: Log;
  }) {
    this.#count = options.count;
    this.#database = {
      databaseUrl: options.databaseUrl,
      dataDir: options.dataDir,
      masterKeys: options.masterKeys.map((key) => key.toString("base64")),
      areMetricsElsewhere: options.areMetricsElsewhere,
    };
    this.#log = options.log;
    this.#metrics = new WorkerMetrics(options.booksMetrics);
  }

  metrics(): Promise<string> {
    return this.#metrics.render();
  }

  /** Resolves when every worker serves. Port 0 is one free port for all, and for those who replace them. */
  async listen(host: string, port: number): Promise<string> {
    const shared = port === 0 ? await findFreePort(host) : port;
    const assignment = { ...this.#database, host, port: shared };
    const workers = Array.from({ length: this.#count }, () => this.#startWorker(assignment));
    const [url] = await Promise.all(workers);
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

  #startWorker(assignment: Assignment): Promise<string> {
    const worker = cluster.fork();
    return new Promise((resolve, reject) => {
      // What is sent to one that was killed a moment ago fails here; its exit tells the rest.
      worker.on("error", (error) => {
        this.#log.warn({ pid: worker.process.pid, err: error }, "a worker can't be reached");
      });
      worker.on("message", (message: WorkerMessage) => {
        // One that starts while the others stop hears of it here; nobody may have listened before.
        if (message.event === "waiting") worker.send(this.#isStopping ? stopMessage : assignment);
        else if (message.event === "ready") {
          this.#metrics.add(worker);
          resolve(message.url);
        } else if (message.event === "failed") {
          reject(Object.assign(new Error(message.message), { code: message.code }));
        } else this.#metrics.take(worker, message);
      });
      worker.once("exit", () => {
        reject(new Error("a worker ended before it served"));
      });
    });
  }
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

export function isWorker(): boolean {
  return cluster.isWorker;
}

/** Serves what the first process assigns, until it says stop or is gone. */
export async function serveAsWorker(environment: Environment, log: Log): Promise<number> {
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
    return exitCodes.done;
  }
  const { databaseUrl: url, dataDir, host, port } = assignment;
  const pool = openServiceReads(url);
  const service = composeService({
    environment,
    database: { url, dataDir, state: () => "running", stop: async () => undefined },
    pool,
    masterKeys: assignment.masterKeys.map((key) => Buffer.from(key, "base64")),
    log,
    version: programVersion(),
    gatherMetrics: (own) => metricsOfAll(worker, own),
    areMetricsElsewhere: assignment.areMetricsElsewhere,
  });
  try {
    tell(worker, { event: "ready", url: await service.listen(host, port) });
    await stopRequested;
    await service.stop();
    return exitCodes.done;
  } catch (error) {
    tell(worker, { event: "failed", message: messageOf(error), code: errorCode(error) ?? "" });
    return exitCodes.failed;
  } finally {
    await pool.end();
    if (worker.isConnected()) worker.disconnect();
  }
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
