// A running service for tests: a fresh database with an organization, a key and a ledger, and the real
// server on a real socket. Only what an operator could do is done to the books here.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { Agent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { metricsOfOneProcess, openBooksMetrics } from "../../src/server/books-metrics.ts";
import { runningDatabase } from "../../src/server/database.ts";
import { loadLogSettings } from "../../src/server/log-settings.ts";
import { openInteractivePool } from "../../src/server/pools.ts";
import { createService } from "../../src/server/service.ts";
import { readEnvironment } from "../../src/config.ts";
import type { RateLimit } from "../../src/http/rate-limit.ts";
import type { Certificate } from "../../src/http/tls.ts";
import type { TlogPolicy } from "../../src/core/tlog-policy.ts";
import { createLog, type Log } from "../../src/log.ts";
import { openBooks, type OpenBooks } from "./books.ts";
import { authority } from "./certificates.ts";
import { createTestDatabase } from "./database.ts";
import { sendRequest, type Credentials, type Reply, type RequestParts } from "./signed-request.ts";

export interface TestBooks extends OpenBooks {
  /** A key of the organization with every scope. */
  readonly credentials: Credentials;
  /** A ledger of the organization in USD. */
  readonly ledgerId: string;
  drop(): Promise<void>;
}

export async function createBooks(): Promise<TestBooks> {
  const database = await createTestDatabase();
  const books = await openBooks(database.url, randomBytes(32));
  return {
    ...books,
    credentials: await books.createKey(),
    ledgerId: await books.createLedger(),
    drop: async () => {
      await books.pool.end();
      await database.drop();
    },
  };
}

export interface TestService {
  readonly port: number;
  readonly books: TestBooks;
  /** Sends a request signed with the books' key, unless other credentials (or null) are given. */
  send(parts: Omit<RequestParts, "credentials"> & Partial<RequestParts>): Promise<Reply>;
  get(target: string): Promise<Reply>;
  /** Posts a value as JSON, or text and bytes as they are. */
  post(target: string, body?: unknown): Promise<Reply>;
  /** Shows another certificate on new connections. */
  useCertificate(certificate: Certificate): void;
  stop(): Promise<void>;
}

/** The real service on the books' database, or on another way to it. */
export async function startService(
  books: TestBooks,
  options: {
    variables?: Record<string, string>;
    databaseUrl?: string;
    /** Of a replica, for long reads. */
    replicaUrl?: string;
    log?: Log;
    /** 127.0.0.1 unless given; `send` goes there. */
    host?: string;
    /** Serves TLS, and `send` speaks it. */
    certificate?: Certificate;
    rateLimit?: RateLimit;
    /** Whose witnesses get checkpoints; none without it. */
    logPolicy?: TlogPolicy;
    standbyWaitMsMax?: number;
  } = {},
): Promise<TestService> {
  const url = options.databaseUrl ?? books.databaseUrl;
  const pool = openInteractivePool(url);
  const booksMetrics = openBooksMetrics(url, pool);
  const environment = readEnvironment({
    LEDGERCTL_GRACE_MS: "2000",
    // All that it sends goes that other way, also on a cluster.
    ...(options.databaseUrl === undefined ? {} : { LEDGERCTL_NODE_CONNECTIONS_MAX: "0" }),
    ...options.variables,
  });
  const service = createService({
    environment,
    database: runningDatabase(url),
    replicaUrl: options.replicaUrl ?? null,
    pool,
    masterKeys: [books.masterKey],
    logSettings: await loadLogSettings(environment, pool, null),
    logPolicy: options.logPolicy ?? null,
    log: options.log ?? createLog("silent"),
    version: "0.0.0-test",
    gatherMetrics: metricsOfOneProcess(booksMetrics.metrics),
    certificate: options.certificate ?? null,
    rateLimit: options.rateLimit ?? null,
    ...(options.standbyWaitMsMax === undefined
      ? {}
      : { standbyWaitMsMax: options.standbyWaitMsMax }),
  });
  const address = await service.listen(options.host ?? "127.0.0.1", 0);
  const port = Number(new URL(address).port);
  const agentOptions = { keepAlive: true, maxSockets: 256 };
  const agent = options.certificate
    ? new HttpsAgent({ ...agentOptions, ca: authority })
    : new Agent(agentOptions);
  const send: TestService["send"] = (parts) =>
    sendRequest(port, agent, { credentials: books.credentials, ...parts });
  return {
    port,
    books,
    send,
    get: (target) => send({ target }),
    post: (target, body) =>
      send({
        target,
        method: "POST",
        ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
      }),
    useCertificate: (certificate) => {
      service.useCertificate(certificate);
    },
    stop: async () => {
      agent.destroy();
      await service.stop();
      await Promise.all([pool.end(), booksMetrics.end()]);
    },
  };
}

/** The service of a test file: started before its tests on books of its own, and gone after them. */
export function serveBooks(options: Parameters<typeof startService>[1] = {}): TestService {
  let running: TestService | null = null;
  const service = () => {
    if (running === null) throw new Error("the service runs only while tests do");
    return running;
  };
  beforeAll(async () => {
    running = await startService(await createBooks(), options);
  });
  afterAll(async () => {
    const { books } = service();
    await service().stop();
    await books.drop();
  });
  return {
    get port() {
      return service().port;
    },
    get books() {
      return service().books;
    },
    send: (parts) => service().send(parts),
    get: (target) => service().get(target),
    post: (target, body) => service().post(target, body),
    useCertificate: (certificate) => {
      service().useCertificate(certificate);
    },
    stop: () => service().stop(),
  };
}

function isRaw(body: unknown): body is string | Buffer {
  return typeof body === "string" || body instanceof Buffer;
}
