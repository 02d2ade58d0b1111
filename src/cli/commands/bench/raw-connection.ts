// A kept-alive HTTP/1.1 connection that costs little: whole requests as bytes, one under way at a time.
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface RawReply {
  readonly status: number;
  /** Whether it says when to try again. */
  readonly hasRetryAfter: boolean;
  /** As latin1: a look at what is ASCII in it, no more. */
  readonly body: string;
}

const replyTimeoutMs = 30_000;

/** All connections read into it, and each copies its bytes before the next read. As streams, a request took half as long again. */
const readBuffer = Buffer.alloc(65_536);

interface Waiting {
  readonly resolve: (reply: RawReply) => void;
  readonly reject: (error: Error) => void;
}

export class RawConnection {
  readonly #socket: Socket;
  #received = "";
  #isOpening = true;
  #waiting: Waiting | null = null;

  private constructor(url: URL, isTls: boolean) {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(url.port === "" ? (isTls ? 443 : 80) : url.port);
    const onread = {
      buffer: readBuffer,
      callback: (length: number) => {
        this.#take(readBuffer.toString("latin1", 0, length));
        return true;
      },
    };
    const options = { host, port, onread, ...(isIP(host) === 0 ? { servername: host } : {}) };
    const socket: Socket = isTls ? connectTls(options) : connect(options);
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(replyTimeoutMs);
    socket.on("timeout", () => {
      const isAwaited = this.#isOpening || this.#waiting !== null;
      if (isAwaited) socket.destroy(new Error("no answer in time"));
    });
    socket.on("error", (error) => {
      this.#lose(error);
    });
    socket.on("close", () => {
      this.#lose(new Error("the connection was closed"));
    });
  }

  static async open(url: URL): Promise<RawConnection> {
    const isTls = url.protocol === "https:";
    const connection = new RawConnection(url, isTls);
    await once(connection.#socket, isTls ? "secureConnect" : "connect");
    connection.#isOpening = false;
    return connection;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Rejects when the connection is lost before the whole answer is there. */
  exchange(request: Buffer): Promise<RawReply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(received: string): void {
    this.#received += received;
    const reply = readReply(this.#received);
    if (reply === null) return;
    this.#received = "";
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(reply);
  }

  #lose(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/** The reply, once all of it is there. */
function readReply(text: string): RawReply | null {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const head = text.slice(0, headEnd + 2);
  const body = text.slice(headEnd + 4);
  const length = /\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1];
  // Without a length it comes in chunks (RFC 9112, section 7.1), of which the last is empty.
  const isWhole = length === undefined ? body.endsWith("0\r\n\r\n") : body.length >= Number(length);
  if (!isWhole) return null;
  const status = Number(head.slice(9, 12));
  return {
    status,
    hasRetryAfter: status >= 400 && /\r\nretry-after: *[0-9]+\r\n/i.test(head),
    body,
  };
}
