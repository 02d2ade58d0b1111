// A pooler in front of PostgreSQL, as far as sessions can tell: each client has a made-up id to cancel by, and either a
// backend of its own or, for the time of a transaction, the one that all share.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { MessageReader, upstreamOf } from "./cutting-proxy.ts";

export interface Pooler {
  /** The database's URL by way of the pooler. */
  readonly url: string;
  /** From their next transaction on, all clients share one backend, or have their own again. */
  setSharing(isSharing: boolean): void;
  close(): Promise<void>;
}

class Backend {
  readonly socket: Socket;
  /** Who is in a transaction on it. */
  owner: PoolerClient | null = null;
  readonly waiting = new Set<PoolerClient>();
  /** Answers that are still to come until the end of what was sent. */
  pendingAnswers = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }
}

class PoolerClient {
  readonly socket: Socket;
  /** The backend that it signed in to. */
  readonly own: Backend;
  /** The one that it is in a transaction on. */
  current: Backend | null = null;
  isSignedIn = false;
  readonly unsent: Buffer[] = [];

  constructor(socket: Socket, own: Backend) {
    this.socket = socket;
    this.own = own;
  }

  /** Passes on what it has sent, as soon as the backend is free. */
  pump(next: Backend): void {
    const backend = this.current ?? next;
    if (backend.owner !== null && backend.owner !== this) {
      backend.waiting.add(this);
      return;
    }
    for (const message of this.unsent.splice(0)) {
      const type = String.fromCharCode(message[0] ?? 0);
      if (type === "X") continue;
      backend.owner = this;
      this.current = backend;
      // A simple query or a Sync: answered with ReadyForQuery.
      if (type === "Q" || type === "S") backend.pendingAnswers += 1;
      backend.socket.write(message);
    }
  }
}

export async function openPooler(databaseUrl: string, isSharing: boolean): Promise<Pooler> {
  const sockets = new Set<Socket>();
  let isShared = isSharing;
  let shared: Backend | null = null;
  let madeUpId = 1_000_000;
  const backendFor = (client: PoolerClient) => (isShared ? (shared ?? client.own) : client.own);

  const listener = createServer((socket) => {
    const own = new Backend(connect(upstreamOf(databaseUrl)));
    const client = new PoolerClient(socket, own);
    const [fromClient, fromServer] = [new MessageReader(true), new MessageReader(false)];
    for (const each of [socket, own.socket]) {
      sockets.add(each);
      each.setNoDelay(true).on("error", () => each.destroy());
    }
    socket.on("close", () => {
      if (own !== shared) own.socket.destroy();
    });
    own.socket.on("close", () => socket.destroy());
    socket.on("data", (chunk) => {
      for (const message of fromClient.read(chunk)) {
        if (client.isSignedIn) client.unsent.push(message);
        else own.socket.write(message);
      }
      if (client.unsent.length > 0) client.pump(backendFor(client));
    });
    own.socket.on("data", (chunk) => {
      for (const message of fromServer.read(chunk)) {
        const type = String.fromCharCode(message[0] ?? 0);
        if (type === "K") message.writeInt32BE((madeUpId += 1), 5);
        if (type === "Z" && !client.isSignedIn) {
          client.isSignedIn = true;
          shared ??= own;
          socket.write(message);
          continue;
        }
        (own.owner?.socket ?? socket).write(message);
        if (type !== "Z") continue;
        own.pendingAnswers -= 1;
        const isIdle = String.fromCharCode(message[5] ?? 0) === "I";
        if (isIdle && own.pendingAnswers === 0) release(own);
      }
    });
  });

  function release(backend: Backend): void {
    if (backend.owner !== null) backend.owner.current = null;
    backend.owner = null;
    const [next] = backend.waiting;
    if (next === undefined) return;
    backend.waiting.delete(next);
    next.pump(backend);
  }

  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  const { port } = listener.address() as AddressInfo;
  return {
    url: `postgresql://${url.username}:${url.password}@127.0.0.1:${port}${url.pathname}${url.search}`,
    setSharing: (sharing) => {
      isShared = sharing;
    },
    close: async () => {
      const closed = new Promise((resolve) => listener.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
