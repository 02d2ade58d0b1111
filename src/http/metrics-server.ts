// Who may read the metrics: on the API's port only this machine, else whoever reaches an address of their own.
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { metricsContentType } from "./metrics.ts";

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

const requestTimeoutMs = 30_000;

/** What proxies and tunnels commonly say of whom they pass on. */
const proxyHeader = /^(forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-.+)$/;

/**
 * Whether a request comes from this machine itself: over loopback, and not passed on by a proxy that says so. One
 * that says nothing has to keep the path back.
 */
export function isFromLoopback(request: IncomingMessage): boolean {
  return !isPassedOn(request) && /^(::1$|(::ffff:)?127\.)/.test(request.socket.remoteAddress ?? "");
}

/** Whether a proxy says that it passes a request on: its connection is not one client's alone. */
function isPassedOn({ headers }: IncomingMessage): boolean {
  return Object.keys(headers).some((name) => proxyHeader.test(name));
}

/** Serves nothing but `GET /metrics`. Rejects when it can't bind; port 0 takes a free one. */
export async function listenForMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  render: () => Promise<string>,
): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    const path = (request.url ?? "").replace(/\?.*$/s, "");
    const status = path !== "/metrics" ? 404 : request.method !== "GET" ? 405 : 200;
    if (status !== 200) {
      response.writeHead(status, status === 405 ? { allow: "GET" } : {}).end();
      return;
    }
    render().then(
      (text) => response.writeHead(200, { "content-type": metricsContentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}/metrics`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
