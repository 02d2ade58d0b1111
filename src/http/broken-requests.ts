// Answers to what could not be read as a request, or breaks HTTP itself before it gets to a route.
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { newId } from "../engine/new-id.ts";
import { endBroken, exchangesOf } from "./exchanges.ts";
import { unreadableReply } from "./problems.ts";
import { pathOf, pathOfTarget } from "./request-notes.ts";

export const headerBytesMax = 16 * 1024;
/** In which a request has to arrive whole. */
export const requestTimeoutMs = 30_000;

const brokenRequestStatuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** What Node reports of bytes that are no request: its parser's code, the last bytes, and how many it has read. */
interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
  readonly bytesParsed?: number;
}

/** Bytes that are no HTTP request: there is no route and no reply object, only the socket. */
export function answerBrokenRequest(error: ClientError, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const status = brokenRequestStatuses[error.code ?? ""] ?? 400;
  const path = pathOfTarget(targetOf(error, socket));
  endBroken(socket, lastAnswer(status, path, "the request could not be read as HTTP"));
}

/** Plain bytes where TLS is spoken; `opening` is the first of them. */
export function answerPlain(socket: Socket, opening: Buffer): void {
  const path = pathOfTarget(lastTargetIn(opening.toString("latin1", 0, headerBytesMax)) ?? "");
  endBroken(socket, lastAnswer(400, path, "TLS is spoken here: begin the URL with https://"));
  socket.resume();
}

/** The bytes of an answer that ends its connection. */
function lastAnswer(status: number, path: string, detail: string): string {
  const request = { id: newId(), path };
  const { type, body } = unreadableReply(request, status, detail);
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nContent-Type: ${type}\r\n` +
    `X-Request-Id: ${request.id}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Connection: close\r\n\r\n${body}`
  );
}

/**
 * The target of a broken request as far as it was sent, since the form of the answer depends on it: that of a request
 * whose body broke; else from the bytes that came last, or from the first ones of the connection. Where a later
 * request broke in a packet after that of its first line, only what its client asked for before is left.
 */
function targetOf({ rawPacket, bytesParsed = 0 }: ClientError, socket: Socket): string {
  const { latest, opening } = exchangesOf(socket);
  if (latest?.req.complete === false) return latest.req.url ?? "";
  let packet = "";
  if (rawPacket instanceof Buffer) {
    // What comes after the line that broke belongs to none.
    const lineEnd = rawPacket.indexOf("\n", bytesParsed);
    packet = rawPacket.toString("latin1", 0, lineEnd < 0 ? rawPacket.length : lineEnd);
  }
  return lastTargetIn(packet) ?? lastTargetIn(opening ?? "") ?? latest?.req.url ?? "";
}

/** The target of the last request line in some bytes. Unlike a word in a header's value, a method follows no space. */
function lastTargetIn(text: string): string | null {
  const lines = text.matchAll(/(?<![\w\t -])[\w-]+ (\/\S*|https?:\/\/\S*)/gi);
  return [...lines].at(-1)?.[1] ?? null;
}

/** A host, as a name or an address, and perhaps a port (RFC 3986, section 3.2.2). Two lines of `Host` come as one. */
const hostValue = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-fv.:]+\])(?::\d*)?$/i;

/**
 * What is wrong with the headers that say for whom a request is and where its body ends, although they could be read;
 * null where nothing is. Another server in between may read them in another way (RFC 9112, section 11.2).
 */
export function headerFault({ headers, httpVersion }: IncomingMessage): string | null {
  const { host, "transfer-encoding": coding } = headers;
  // RFC 9112, section 3.2.
  if (host === undefined && httpVersion === "1.1") return "a request has to name its Host";
  if (host !== undefined && !hostValue.test(host)) {
    return "a request names one Host, which is a name or an address, and perhaps a port";
  }
  // Section 6.1.
  if (coding !== undefined && !/^chunked$/i.test(coding)) {
    return "a body may be sent in chunks, and with no other transfer coding: Transfer-Encoding: chunked";
  }
  return null;
}

/** Answers a request that has such a fault. */
export function answerHeaderFault(
  request: FastifyRequest,
  reply: FastifyReply,
  fault: string,
): FastifyReply {
  const { type, body } = unreadableReply({ id: request.id, path: pathOf(request) }, 400, fault);
  return reply.code(400).type(type).send(body);
}

/** RFC 9110, section 10.1.1: an expectation other than 100-continue can't be met. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const id = newId();
  const named = { id, path: pathOfTarget(request.url ?? "") };
  const { type, body } = unreadableReply(named, 417, "no expectation but 100-continue can be met");
  response
    .writeHead(417, {
      "content-type": type,
      "content-length": Buffer.byteLength(body),
      "x-request-id": id,
    })
    .end(body);
}
