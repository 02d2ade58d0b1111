// A small client of the service, written from the contract and from nothing in src/: tests check the
// server's reading of a signature against a second hand. Every byte of a request can be chosen.
import { createHmac, hkdfSync } from "node:crypto";
import type { Agent } from "node:http";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { connect } from "node:net";

export interface Credentials {
  readonly apiKey: string;
  readonly apiSecret: string;
}

export interface RequestParts {
  /** GET, unless there is a body. */
  readonly method?: string;
  /** The request target as it is to stand on the request line. */
  readonly target: string;
  readonly body?: string | Buffer;
  /** null: not signed at all. */
  readonly credentials: Credentials | null;
  /** Unix seconds; now, unless given. */
  readonly timestamp?: string;
  /** Headers to add or replace; one that is undefined is taken away. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text read as JSON; null where there is none. */
  readonly body: unknown;
}

/** The signature of the contract: HMAC-SHA256 over timestamp, method, target and body, in hex. */
export function sign(
  apiSecret: string,
  parts: { timestamp: string; method: string; target: string; body: string | Buffer },
): string {
  const head = `${parts.timestamp}\n${parts.method}\n${parts.target}\n`;
  const message = Buffer.concat([Buffer.from(head), Buffer.from(parts.body)]);
  return createHmac("sha256", Buffer.from(apiSecret, "utf8")).update(message).digest("hex");
}

/** The secret of an API key, derived from the master key as the contract says. */
export function deriveSecret(masterKey: Buffer, apiKey: string): string {
  const info = Buffer.from(`ledgerctl/api-secret/v1/${apiKey}`);
  const bytes = hkdfSync("sha256", masterKey, Buffer.alloc(0), info, 32);
  return `ls_${Buffer.from(bytes).toString("base64url")}`;
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Sends one request and reads the whole answer; over TLS with an agent that does. */
export function sendRequest(port: number, agent: Agent, parts: RequestParts): Promise<Reply> {
  const { target, credentials } = parts;
  const body = parts.body ?? "";
  const method = parts.method ?? (parts.body === undefined ? "GET" : "POST");
  const timestamp = parts.timestamp ?? String(nowSeconds());
  const headers: Record<string, string | string[] | undefined> = {
    ...(credentials === null
      ? {}
      : {
          authorization: `Bearer ${credentials.apiKey}`,
          "x-timestamp": timestamp,
          "x-signature": sign(credentials.apiSecret, { timestamp, method, target, body }),
        }),
    ...(parts.body === undefined
      ? {}
      : {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body)),
        }),
    ...parts.headers,
  };
  return new Promise((resolve, reject) => {
    const send = agent instanceof HttpsAgent ? httpsRequest : httpRequest;
    const request = send(
      {
        host: "127.0.0.1",
        port,
        agent,
        method,
        path: target,
        headers: Object.fromEntries(
          Object.entries(headers).filter(([, value]) => value !== undefined),
        ),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            body: parseJson(text),
          });
        });
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A signed request as the bytes that travel, for connections that a test keeps in its own hands. */
export function signedRequestBytes(parts: {
  credentials: Credentials;
  target: string;
  body?: string;
}): Buffer {
  const { credentials, target, body } = parts;
  const method = body === undefined ? "GET" : "POST";
  const timestamp = String(nowSeconds());
  const signed = { timestamp, method, target, body: body ?? "" };
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${credentials.apiKey}`,
    `X-Timestamp: ${timestamp}`,
    `X-Signature: ${sign(credentials.apiSecret, signed)}`,
    ...(body === undefined
      ? []
      : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

/** Sends bytes as they are, closes this side and resolves with everything that came back. */
export function sendBytes(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      resolve(Buffer.concat(chunks).toString("utf8"));
    });
    socket.end(bytes);
  });
}
