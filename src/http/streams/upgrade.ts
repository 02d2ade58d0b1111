// The upgrade of a connection to a WebSocket (RFC 6455, section 4): which stream it asks for, and how it is
// answered while the connection still speaks HTTP.
import { STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { pathTemplates } from "../../contract/paths.ts";
import type { Refusal } from "../../core/errors.ts";
import { newId } from "../../engine/new-id.ts";
import type { Caller } from "../authenticate.ts";
import type { HttpCounts } from "../http-counts.ts";
import { problemReply } from "../problems.ts";
import type { TokenBucket } from "../rate-limit.ts";
import type { PathParameters } from "../path-parameters.ts";
import type { LogAnswer } from "../request-log.ts";
import { pathOfTarget } from "../request-notes.ts";

interface UpgradeServices {
  readonly logAnswer: LogAnswer;
  readonly counts: HttpCounts;
}

/** An upgrade that is asked for. It is counted and logged when it is answered. */
export class Upgrade {
  readonly requestId = newId();
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly target: StreamTarget;
  /** Once it is known. */
  caller: Caller | undefined;
  /** Of the caller's key, where there is a rate limit. */
  bucket: TokenBucket | undefined;
  /** From that bucket. */
  tokensTaken = 0;
  isAccepted = false;
  readonly #services: UpgradeServices;
  readonly #startedAtMs = performance.now();

  constructor(
    request: IncomingMessage,
    socket: Duplex,
    target: StreamTarget,
    services: UpgradeServices,
  ) {
    this.request = request;
    this.socket = socket;
    this.target = target;
    this.#services = services;
  }

  /** The headers of its answer, whatever that is. */
  headers(): Record<string, string> {
    return { "x-request-id": this.requestId, ...this.bucket?.headers() };
  }

  /** To be called when the WebSocket is open. */
  noteAccepted(): void {
    this.isAccepted = true;
    this.#note(101, undefined);
  }

  /** Answers with the problem and ends the connection. */
  refuse(refusal: Refusal): void {
    if (refusal.problem === "unavailable") this.bucket?.giveBack(this.tokensTaken);
    const id = this.requestId;
    const path = this.request.url ?? "";
    const { status, headers, body } = problemReply(refusal, { id, path, hasExternalId: false });
    const lines = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      ...Object.entries({ ...headers, ...this.headers() }).map(
        ([name, value]) => `${name}: ${value}`,
      ),
      ...(refusal.problem === "validation" ? ["sec-websocket-version: 13"] : []),
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
    ];
    this.socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
    this.#note(status, refusal);
  }

  #note(status: number, refusal: Refusal | undefined): void {
    const { logAnswer, counts } = this.#services;
    counts.countAnswer(this.target.route, status, refusal);
    const { method, url, socket } = this.request;
    logAnswer(status, refusal, () => ({
      requestId: this.requestId,
      method: method ?? "",
      path: pathOfTarget(url ?? ""),
      durationMs: performance.now() - this.#startedAtMs,
      remoteAddress: socket.remoteAddress,
      caller: this.caller,
    }));
  }
}

/** The routes that are streams. */
export type StreamRoute = "streamWallet" | "followEntries";

/** A stream that a request wants to upgrade to, and what its path names. */
export interface StreamTarget {
  readonly route: StreamRoute;
  readonly parameters: PathParameters;
}

const streamPaths = (["streamWallet", "followEntries"] as const).map((route) => {
  const template = pathTemplates[route].replace(/\{\w+\}/, "([^/?]+)");
  const [, parameter = ""] = /\{(\w+)\}/.exec(pathTemplates[route]) ?? [];
  return { route, parameter, pattern: new RegExp(`^${template}(?:\\?|$)`) };
});

/** The stream that a request wants to upgrade to; null where it wants anything else. */
export function streamTarget({ method, url, headers }: IncomingMessage): StreamTarget | null {
  if (method !== "GET" || !/^websocket$/i.test(headers.upgrade ?? "")) return null;
  for (const { route, parameter, pattern } of streamPaths) {
    const value = pattern.exec(url ?? "")?.[1];
    if (value === undefined) continue;
    try {
      return { route, parameters: { [parameter]: decodeURIComponent(value) } };
    } catch {
      return null;
    }
  }
  return null;
}

/**
 * Has a request answered as if it had offered no upgrade, which a server may ignore (RFC 9110, section 7.8). Node lets
 * go of the connection of every request that offers one, so the server is given the same bytes again without the offer.
 */
export function ignoreUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method ?? ""} ${url ?? ""} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    const options = value.split(",").filter((option) => !/^\s*upgrade\s*$/i.test(option));
    const kept = /^connection$/i.test(name) ? options.join(",") : value;
    if (!/^upgrade$/i.test(name)) lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

/**
 * Has Node decline the upgrade of a request with a body. From version 25 on it would read the body first, and let go of the
 * connection only then. What comes in one packet behind such a request is lost, a fault of Node's.
 */
export function declineUpgradesOfBodies(server: Server): void {
  if (Number(process.versions.node.split(".")[0]) < 25) return;
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
  Object.assign(server, { shouldUpgradeCallback });
}
