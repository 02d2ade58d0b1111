// A receiver of deliveries: a real HTTPS server that keeps what it accepts, and that can be away, slow or wrong.
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { readDelivery, type DeliveryMessage } from "../../src/client/ledger-client.ts";
import { certificate } from "./certificates.ts";
import { until } from "./until.ts";

type DeliveredEvent = DeliveryMessage["events"][number];

export interface Receiver {
  readonly url: string;
  /** What was accepted, in the order in which it came. */
  readonly events: DeliveredEvent[];
  /** Requests so far, whatever was answered. */
  readonly requestCount: () => number;
  /** Bodies and signatures of all requests, as they came. */
  readonly requests: { readonly body: string; readonly signature: string }[];
  secret: string;
  /** How it answers; null: not at all. */
  answer: ((response: ServerResponse) => void) | null;
  reach(count: number): Promise<void>;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

const accept = (response: ServerResponse) => {
  response.writeHead(204).end();
};

export const answering = (status: number, headers: Record<string, string> = {}) => {
  return (response: ServerResponse) => {
    response.writeHead(status, headers).end("no");
  };
};

/** Accepts after a while. */
export const acceptingAfter = (ms: number) => (response: ServerResponse) => {
  setTimeout(() => {
    accept(response);
  }, ms);
};

export async function openReceiver(): Promise<Receiver> {
  let port = 0;
  let server: Server;
  const sockets = new Set<Socket>();
  const listen = async () => {
    server = createServer(certificate, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        const signature = String(request.headers["ledgerctl-signature"]);
        receiver.requests.push({ body, signature });
        const { answer, secret } = receiver;
        if (answer === null) return;
        response.on("finish", () => {
          if (response.statusCode < 200 || response.statusCode >= 300) return;
          receiver.events.push(...readDelivery({ secret, signature, body }).events);
        });
        answer(response);
      });
    });
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    await once(server.listen(port, "127.0.0.1"), "listening");
    ({ port } = server.address() as AddressInfo);
  };
  const receiver: Receiver = {
    get url() {
      return `https://localhost:${port}/hook`;
    },
    events: [],
    requests: [],
    requestCount: () => receiver.requests.length,
    secret: "",
    answer: accept,
    reach: async (count) => {
      await until(`${count} events`, () => receiver.events.length >= count);
    },
    goAway: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    comeBack: listen,
  };
  await listen();
  return receiver;
}

/** What a receiver does that goes by cursors: an event that comes again is left. */
export function onceEach(events: readonly DeliveredEvent[]): DeliveredEvent[] {
  const seen = new Set<string>();
  return events.filter(({ cursor, type }) => {
    const key = `${cursor} ${type}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
