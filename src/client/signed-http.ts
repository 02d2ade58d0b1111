// Signed requests over kept-alive connections, tried again where that is safe.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { certificateFault } from "../core/certificate-fault.ts";
import { signRequest } from "../core/signing.ts";
import { errorCode } from "../core/thrown.ts";
import { requireText } from "../contract/paths.ts";
import type { Problem } from "../contract/types.ts";
import { ServiceProblem, ServiceUnreachable } from "./errors.ts";

/** Where the service is, whose key signs, and how long to try. */
export interface SignedHttpOptions {
  /** Where the service is, such as `http://127.0.0.1:8420`. A path in it is a proxy's, and is not signed. */
  readonly url: string;
  /** `lk_…` */
  readonly apiKey: string;
  /** `ls_…`; signs requests and is never sent. */
  readonly apiSecret: string;
  /** Connections kept open at most, 16 unless given; each carries one request at a time. */
  readonly connections?: number;
  /** How long one request may take; 30,000 unless given. */
  readonly timeoutMs?: number;
  /** For how long a request is sent again after 429, 503 and lost connections; 5,000 unless given. */
  readonly retryForMs?: number;
  /** Is called when a request is sent; its exchange follows. */
  readonly onRequest?: () => void;
  /** Is called with each exchange; for diagnosis. The secret is not part of it. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** Is called when a request is going to be sent again. */
  readonly onRetry?: () => void;
  /** Ends requests under way or between attempts, with ServiceUnreachable or the last answer. */
  readonly signal?: AbortSignal;
}

/** One attempt of a request and its answer, for diagnosis. */
export interface Exchange {
  readonly method: string;
  readonly target: string;
  readonly requestBody: string;
  /** null where there was no answer. */
  readonly status: number | null;
  readonly replyBody: string;
  readonly requestId: string | null;
  readonly durationMs: number;
}

export interface SignedRequestInput {
  readonly method: string;
  /** With the query, percent-encoded as it is to be sent. */
  readonly target: string;
  readonly body?: string | Uint8Array;
}

/** An answer, whatever its status. */
export interface HttpReply {
  readonly status: number;
  readonly requestId: string | null;
  /** What `Retry-After` said. */
  readonly retryAfterSeconds: number | null;
  readonly text: string;
}

/** A pool of connections to one service, with what signs their requests. */
export class SignedHttp {
  readonly #options: SignedHttpOptions;
  readonly #pool: Pool;
  readonly #pathPrefix: string;

  constructor(options: SignedHttpOptions) {
    for (const name of ["url", "apiKey", "apiSecret"] as const) requireText(name, options[name]);
    const url = readUrl(options.url);
    this.#options = options;
    this.#pathPrefix = url.pathname.replace(/\/+$/, "");
    // Every request under way listens to it, and there may be many.
    if (options.signal !== undefined) setMaxListeners(0, options.signal);
    this.#pool = new Pool(url.origin, {
      connections: options.connections ?? 16,
      pipelining: 1,
      headersTimeout: options.timeoutMs ?? 30_000,
      bodyTimeout: options.timeoutMs ?? 30_000,
    });
  }

  /**
   * Sends a request that does no harm when it is sent twice (a read, a write with an externalId, a hold's
   * end), again where that may help, and resolves with a reply of status 2xx and whether an
   * earlier attempt's answer was lost. Rejects with ServiceProblem or ServiceUnreachable.
   */
  async send(request: SignedRequestInput): Promise<{ reply: HttpReply; wasRepeated: boolean }> {
    const untilMs = Date.now() + (this.#options.retryForMs ?? 5_000);
    let wasRepeated = false;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const reply = await this.sendOnce(request);
        if (reply.status < 300) return { reply, wasRepeated };
        throw problemOf(reply, wasRepeated);
      } catch (error) {
        const waitMs = retryDelayMs(error, attempt);
        const isEnded = this.#options.signal?.aborted === true;
        if (isEnded || waitMs === null || Date.now() + waitMs > untilMs) throw error;
        wasRepeated ||= mayHaveArrived(error);
        this.#options.onRetry?.();
        const { signal } = this.#options;
        await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => {
          throw error;
        });
      }
    }
  }

  /** Sends a request once and resolves with whatever was answered. */
  async sendOnce(request: SignedRequestInput): Promise<HttpReply> {
    const { method, target, body = "" } = request;
    const startedMs = performance.now();
    let reply: HttpReply | null = null;
    this.#options.onRequest?.();
    try {
      reply = await this.#readReply(await this.#request(method, target, body));
      return reply;
    } finally {
      this.#options.onExchange?.({
        method,
        target,
        requestBody: Buffer.from(body).toString(),
        status: reply?.status ?? null,
        replyBody: reply?.text ?? "",
        requestId: reply?.requestId ?? null,
        durationMs: performance.now() - startedMs,
      });
    }
  }

  /**
   * Reads a reply of status 2xx as it comes. Rejects with ServiceProblem or ServiceUnreachable; with the latter reading does
   * too, where the connection breaks meanwhile.
   */
  async stream(target: string): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#request("GET", target, "");
    if (response.statusCode >= 300) throw problemOf(await this.#readReply(response), false);
    // Whoever reads is told. Until then an error that nobody listens to would end the process.
    response.body.on("error", () => undefined);
    return this.#chunksOf(response.body);
  }

  /** Where and with which headers a WebSocket on a target is opened now. */
  upgrade(target: string): { url: string; headers: Record<string, string> } {
    const url = new URL(this.#options.url);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return {
      url: `${url.origin}${this.#pathPrefix}${target}`,
      headers: this.#headers("GET", target, ""),
    };
  }

  /** Ends the connections once what is under way has finished. */
  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #request(
    method: string,
    target: string,
    body: string | Uint8Array,
  ): Promise<Dispatcher.ResponseData> {
    const { signal } = this.#options;
    try {
      return await request.call(this.#pool, {
        method,
        path: this.#pathPrefix + target,
        headers: this.#headers(method, target, body),
        ...(body.length > 0 ? { body } : {}),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw new ServiceUnreachable(this.#options.url, error);
    }
  }

  async #readReply({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<HttpReply> {
    try {
      return {
        status: statusCode,
        requestId: oneHeader(headers["x-request-id"]),
        retryAfterSeconds: parseSeconds(oneHeader(headers["retry-after"])),
        text: await body.text(),
      };
    } catch (error) {
      throw new ServiceUnreachable(this.#options.url, error);
    }
  }

  async *#chunksOf(body: Dispatcher.ResponseData["body"]): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of body) yield chunk as Uint8Array;
    } catch (error) {
      // What the reader throws into it is the reader's own.
      throw error === body.errored ? new ServiceUnreachable(this.#options.url, error) : error;
    }
  }

  #headers(method: string, target: string, body: string | Uint8Array): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = signRequest(this.#options.apiSecret, { timestamp, method, target, body });
    return {
      authorization: `Bearer ${this.#options.apiKey}`,
      "x-timestamp": timestamp,
      "x-signature": signature.toString("hex"),
      ...(body.length === 0 ? {} : { "content-type": "application/json" }),
    };
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new TypeError("url must be an http:// or https:// URL");
}

/** The parsed body of a reply. */
export function parseReply(reply: HttpReply): unknown {
  return JSON.parse(reply.text);
}

/** What the service answered with an error status, as it is thrown. */
export function problemOf(reply: HttpReply, wasRepeated: boolean): ServiceProblem {
  let problem: Partial<Problem>;
  try {
    const value = parseReply(reply) as Partial<Problem> & { error?: string };
    problem = value.error === undefined ? value : { detail: value.error };
  } catch {
    problem = { detail: `the service answered ${reply.status} with no JSON` };
  }
  return new ServiceProblem({ ...reply, problem, wasRepeated });
}

/**
 * How long to wait before trying again; null where that would be in vain. Never less than `Retry-After` says, and
 * varied, so that clients that failed together do not come back together.
 */
function retryDelayMs(error: unknown, attempt: number): number | null {
  const backoffMs = Math.min(2_000, 50 * 2 ** attempt) * (0.5 + Math.random() / 2);
  if (error instanceof ServiceUnreachable) {
    return certificateFault(error.cause) === null ? backoffMs : null;
  }
  if (!(error instanceof ServiceProblem)) return null;
  if (error.status !== 429 && error.status !== 503) return null;
  return (error.retryAfterSeconds ?? 0) * 1000 + backoffMs;
}

/** Whether a request that failed may have been carried out all the same. */
function mayHaveArrived(error: unknown): boolean {
  // A proxy's own 503 says nothing about what became of the request behind it.
  if (error instanceof ServiceProblem) return error.code !== "UNAVAILABLE" && error.status !== 429;
  const code = errorCode(error instanceof Error ? error.cause : null);
  return code !== "ECONNREFUSED" && code !== "ENOTFOUND" && code !== "UND_ERR_CONNECT_TIMEOUT";
}

function oneHeader(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** What a `Retry-After` says, as far as it says seconds. */
export function parseSeconds(text: string | null): number | null {
  return text !== null && /^[0-9]+$/.test(text) ? Number(text) : null;
}
