// Readers of wallet streams, signed by hand: one that takes every message, and bare sockets for refusals
// and for readers that stop reading.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import { nowSeconds, sign, type Credentials, type Reply } from "./signed-request.ts";
import type { TestService } from "./service.ts";

export interface StreamMessage {
  readonly type: string;
  readonly balance: string;
  readonly available: string;
  readonly seq?: number;
}

export interface StreamReader {
  readonly messages: StreamMessage[];
  /** Texts of the messages as they came. */
  readonly texts: string[];
  readonly socket: WebSocket;
  /** Resolves with the code once the connection is closed. */
  readonly closed: Promise<number>;
  /** Resolves when that many messages have come. */
  reach(count: number): Promise<void>;
  /** Resolves when a message passes. */
  until(test: (message: StreamMessage) => boolean): Promise<void>;
  end(): Promise<void>;
}

export function streamTarget(walletKey: string, since?: number | string): string {
  const query = since === undefined ? "" : `?since=${since}`;
  return `/v1/wallets/${encodeURIComponent(walletKey)}/ws${query}`;
}

export function signedHeaders(
  { apiKey, apiSecret }: Credentials,
  target: string,
  method = "GET",
): Record<string, string> {
  const timestamp = String(nowSeconds());
  return {
    authorization: `Bearer ${apiKey}`,
    "x-timestamp": timestamp,
    "x-signature": sign(apiSecret, { timestamp, method, target, body: "" }),
  };
}

/** Opens a stream; resolves when the upgrade was answered. */
export async function openStream(
  service: TestService,
  walletKey: string,
  options: { since?: number; credentials?: Credentials } = {},
): Promise<StreamReader> {
  const target = streamTarget(walletKey, options.since);
  const headers = signedHeaders(options.credentials ?? service.books.credentials, target);
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}${target}`, { headers });
  const messages: StreamMessage[] = [];
  const texts: string[] = [];
  const waiting = new Set<() => void>();
  socket.on("message", (data: Buffer) => {
    texts.push(data.toString());
    messages.push(JSON.parse(data.toString()) as StreamMessage);
    for (const look of waiting) look();
  });
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  const when = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = () => {
        if (!condition()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      void closed.then((code) => {
        if (waiting.has(look)) reject(new Error(`the stream was closed with ${code}`));
      });
      look();
    });
  return {
    messages,
    texts,
    socket,
    closed,
    reach: (count) => when(() => messages.length >= count),
    until: (test) => when(() => messages.some(test)),
    end: async () => {
      socket.close();
      await closed;
    },
  };
}

/** A socket that has sent an upgrade request of which every line can be chosen. */
export function sendUpgrade(
  service: TestService,
  target: string,
  headers: Readonly<Record<string, string>>,
  method = "GET",
): Socket {
  const socket = connect(service.port, "127.0.0.1");
  const all: Record<string, string> = {
    host: "127.0.0.1",
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": randomBytes(16).toString("base64"),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write([`${method} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  return socket;
}

/** The plain HTTP answer to an upgrade that is refused. */
export async function refusedUpgrade(
  service: TestService,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET",
): Promise<Reply> {
  const closing = { connection: "Upgrade, close", ...headers };
  const socket = sendUpgrade(service, target, closing, method);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks).toString();
  const [head = "", ...rest] = all.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const text = rest.join("\r\n\r\n");
  const named = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: Object.fromEntries(named) as Reply["headers"],
    text,
    body: text.startsWith("{") ? (JSON.parse(text) as unknown) : null,
  };
}

/** Takes unmasked frames (RFC 6455, section 5.2) out of a stream of bytes. */
export class FrameReader {
  #rest = Buffer.alloc(0);

  /** The frames that are complete with this chunk. */
  read(chunk: Buffer): { opcode: number; payload: Buffer }[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: { opcode: number; payload: Buffer }[] = [];
    for (;;) {
      if (this.#rest.length < 4) return frames;
      const short = this.#rest.readUInt8(1) & 0x7f;
      const head = short === 126 ? 4 : 2;
      const end = head + (short === 126 ? this.#rest.readUInt16BE(2) : short);
      if (this.#rest.length < end) return frames;
      const opcode = this.#rest.readUInt8(0) & 0x0f;
      frames.push({ opcode, payload: this.#rest.subarray(head, end) });
      this.#rest = this.#rest.subarray(end);
    }
  }
}
