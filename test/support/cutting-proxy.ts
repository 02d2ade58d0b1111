// A TCP proxy in front of PostgreSQL that reads the frontend/backend protocol (version 3) just far
// enough to cut a connection at a chosen moment around COMMIT, and that can be away altogether.
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** Where the next COMMIT's connection is cut: before the server gets it, or once the server has done it. */
export type CutPoint = "beforeCommit" | "afterCommit" | "withCommit";

export interface CuttingProxy {
  /** The database's URL by way of the proxy. */
  readonly url: string;
  /** Cuts the connection of the next COMMIT, once; resolves when that has happened. */
  cutNext(point: CutPoint): Promise<void>;
  /** Lets the next COMMIT be carried out, and answers it with an error of this SQLSTATE, once. */
  failNext(sqlState: string): Promise<void>;
  /** Cuts all connections and refuses new ones, like a server that is down. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Lets nothing through any more, without a word, like a server that is stopped (SIGSTOP). */
  freeze(): void;
  thaw(): void;
  /** Lets nothing more through of the connections that there are, without a word, like a firewall that forgot them. */
  strand(): void;
  close(): Promise<void>;
}

interface Cut {
  /** Or the SQLSTATE that takes the place of the answer. */
  readonly point: CutPoint | { readonly sqlState: string };
  readonly done: () => void;
}

export async function openCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const upstream = upstreamOf(databaseUrl);
  const sockets = new Set<Socket>();
  let armed: Cut | null = null;
  let isFrozen = false;
  const takeCut = (): Cut | null => {
    const cut = armed;
    armed = null;
    return cut;
  };
  const onClient = (client: Socket) => {
    const server = connect(upstream);
    sockets.add(client).add(server);
    forward(client, server, takeCut);
    if (isFrozen) for (const socket of [client, server]) socket.pause();
    for (const socket of [client, server]) {
      socket.on("close", () => sockets.delete(socket));
    }
  };
  let listener = await listen(onClient, 0);
  const { port } = listener.address() as AddressInfo;
  const goAway = async () => {
    const closed = new Promise((resolve) => listener.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const url = new URL(databaseUrl);
  return {
    url: `postgresql://${url.username}:${url.password}@127.0.0.1:${port}${url.pathname}${url.search}`,
    cutNext: (point) =>
      new Promise((resolve) => {
        armed = { point, done: resolve };
      }),
    failNext: (sqlState) =>
      new Promise((resolve) => {
        armed = { point: { sqlState }, done: resolve };
      }),
    goAway,
    comeBack: async () => {
      listener = await listen(onClient, port);
    },
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    strand: () => {
      for (const socket of sockets) socket.pause();
    },
    close: goAway,
  };
}

export function upstreamOf(databaseUrl: string): { path: string } | { host: string; port: number } {
  const url = new URL(databaseUrl);
  const host = decodeURIComponent(url.hostname);
  const port = url.port === "" ? "5432" : url.port;
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port: Number(port) };
}

async function listen(onClient: (client: Socket) => void, port: number): Promise<Server> {
  const listener = createServer(onClient);
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, "127.0.0.1", resolve);
  });
  return listener;
}

function forward(client: Socket, server: Socket, takeCut: () => Cut | null): void {
  const cutBoth = () => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.setNoDelay(true);
    socket.on("error", cutBoth);
    socket.on("close", cutBoth);
  }
  const fromClient = new MessageReader(true);
  const fromServer = new MessageReader(false);
  /** Set while the server's answer to a COMMIT is awaited. What goes before a cut is kept back too. */
  let awaited: Cut | null = null;
  /** A server's probe commits all the time: what tests cut are its writes. */
  let isProbe = false;
  client.on("data", (chunk) => {
    for (const message of fromClient.read(chunk)) {
      isProbe ||= message.includes("application_name\0ledgerctl probe\0");
      const cut = !isProbe && isCommitRequest(message) ? takeCut() : null;
      if (cut?.point === "beforeCommit") {
        cutBoth();
        cut.done();
        return;
      }
      if (cut?.point === "withCommit") {
        client.destroy();
        // Written and ended, not destroyed: the server gets COMMIT, and its answer is lost.
        server.end(message);
        cut.done();
        return;
      }
      if (cut !== null) awaited = cut;
      server.write(message);
    }
  });
  server.on("data", (chunk) => {
    for (const message of fromServer.read(chunk)) {
      if (awaited === null) client.write(message);
      else if (typeof awaited.point === "object") {
        if (!isCommitAnswer(message)) {
          client.write(message);
          continue;
        }
        client.write(errorResponse(awaited.point.sqlState));
        awaited.done();
        awaited = null;
      } else if (isCommitAnswer(message)) {
        cutBoth();
        awaited.done();
        return;
      }
    }
  });
}

/** Splits a stream into messages: a type byte (which the very first of a client lacks), a length, a payload. */
export class MessageReader {
  #rest = Buffer.alloc(0);
  #lacksType: boolean;

  constructor(isFrontend: boolean) {
    this.#lacksType = isFrontend;
  }

  read(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    for (;;) {
      const head = this.#lacksType ? 0 : 1;
      if (this.#rest.length < head + 4) return messages;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return messages;
      messages.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      this.#lacksType = false;
    }
  }
}

/** A simple Query or a Parse whose statement is COMMIT. */
function isCommitRequest(message: Buffer): boolean {
  const type = String.fromCharCode(message[0] ?? 0);
  return (type === "Q" || type === "P") && message.subarray(5).includes("COMMIT\0");
}

/** CommandComplete with the tag COMMIT, or ROLLBACK where a statement before it had failed. */
function isCommitAnswer(message: Buffer): boolean {
  const tag = message.subarray(5).toString("latin1");
  return message[0] === "C".charCodeAt(0) && (tag === "COMMIT\0" || tag === "ROLLBACK\0");
}

/** ErrorResponse: severity, SQLSTATE and message, each a byte and a text that ends with a zero. */
function errorResponse(sqlState: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${sqlState}\0Mtold by the proxy\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
