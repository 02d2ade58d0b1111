// A TCP proxy in front of PostgreSQL that can forget a connection: its client is cut, and the database is not
// told, as when a firewall between them drops what it knew. What the session holds it holds on.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { upstreamOf } from "./cutting-proxy.ts";

export interface ForgettingProxy {
  /** The database's URL by way of the proxy. */
  readonly url: string;
  /** Forgets the connection that sends these bytes, one piece after the other, once they are passed on. */
  forgetAfter(...pieces: readonly string[]): Promise<void>;
  /** Lets the database know. */
  remember(): void;
  close(): void;
}

export async function openForgettingProxy(databaseUrl: string): Promise<ForgettingProxy> {
  const sockets = new Set<Socket>();
  const forgotten = new Set<Socket>();
  let awaited: { pieces: readonly string[]; done: () => void } | null = null;
  const listener = createServer((client) => {
    const server = connect(upstreamOf(databaseUrl));
    let sent = "";
    const cutBoth = () => {
      client.destroy();
      if (!forgotten.has(server)) server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true).on("error", cutBoth);
      socket.on("close", () => {
        sockets.delete(socket);
        cutBoth();
      });
    }
    server.on("data", (chunk) => {
      if (!forgotten.has(server)) client.write(chunk);
    });
    client.on("data", (chunk: Buffer) => {
      server.write(chunk);
      if (awaited === null) return;
      sent += chunk.toString("latin1");
      if (!isInOrder(sent, awaited.pieces)) return;
      forgotten.add(server);
      client.destroy();
      awaited.done();
      awaited = null;
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  const { port } = listener.address() as AddressInfo;
  return {
    url: `postgresql://${url.username}:${url.password}@127.0.0.1:${port}${url.pathname}${url.search}`,
    forgetAfter: (...pieces) =>
      new Promise((resolve) => {
        awaited = { pieces, done: resolve };
      }),
    remember: () => {
      for (const server of forgotten) server.destroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}

function isInOrder(text: string, pieces: readonly string[]): boolean {
  let from = 0;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}
