// The server's connections as a whole: how they begin, when one is cut, and how all of them come to an end.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { keepOverLimit } from "./admission.ts";
import { answerPlain } from "./broken-requests.ts";
import {
  closeQueued,
  exchangesOf,
  isAwaited,
  isKnown,
  lingerMs,
  noteRequest,
  unansweredOf,
  type Exchanges,
} from "./exchanges.ts";
import { PacedRequests } from "./paced-requests.ts";
import type { TlsHandshakes } from "./tls.ts";

/** How long an answer may make no progress: Node looks twice, so that its reader is cut within twice this. */
const stalledMsMax = 15_000;
/** How often it is tried whether a client that sends nothing more still reads. */
const probeIntervalMs = 500;
/** How often bytes are sent for it on an encrypted connection, where Node does not tell that an empty write failed. */
const encryptedProbesMax = 5;
/** What is kept of the first bytes of a connection: enough for the method and the part of the path that matters. */
const openingCharactersMax = 1_024;
/** How often a draining server looks for connections that have fallen idle. */
const idleSweepMs = 50;

/** From here on the client has to take what it is sent. Node ends the watch with the answer. */
export function watchProgress(socket: Socket): void {
  // Counts as progress whatever the kernel takes, also of one long piece.
  socket.setTimeout(stalledMsMax);
}

export class Connections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections whose TLS handshake is under way. */
  readonly #handshakes = new Set<Socket>();
  #isFinishing = false;
  #onNone = (): void => undefined;

  /** Watches all connections of a server that is new: nobody else listens for them yet. `tls`: null for plain HTTP. */
  constructor(server: Server, tls: TlsHandshakes | null) {
    this.#server = server;
    // A client may close its side after its request, and still gets its answer.
    Object.assign(server, { httpAllowHalfOpen: true });
    const [serve] = server.listeners("connection") as ((this: Server, socket: Socket) => void)[];
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (isKnown(socket)) serve?.call(server, socket);
      else if (tls === null) this.#add(socket, serve);
      else {
        this.#whenEncrypted(socket, tls, (encrypted) => {
          this.#add(encrypted, serve);
        });
      }
    });
    new PacedRequests(server);
    const note = (_request: IncomingMessage, response: ServerResponse) => {
      noteRequest(response);
      const exchanges = exchangesOf(response.req.socket);
      if (this.#isFinishing && exchanges.latest === response) exchanges.last ??= response;
    };
    server.prependListener("request", note);
    server.prependListener("checkExpectation", note);
    server.on("timeout", (socket: Socket) => {
      // An answer that is still being made is no fault of the reader's.
      const isWorking = socket.writableLength === 0 && unansweredOf(exchangesOf(socket)).length > 0;
      if (!isWorking) socket.destroy();
    });
  }

  /** Resolves when no connection is left, or after a time. */
  whenNone(forMs: number): Promise<void> {
    if (this.#isNone) return Promise.resolve();
    return new Promise((resolve) => {
      const late = setTimeout(resolve, forMs);
      this.#onNone = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }

  /**
   * Refuses new connections from here on: who is refused has sent nothing, and may go to another server. One that waits
   * in the kernel's queue is reset.
   */
  refuseNew(): void {
    // Not the HTTP server's own close, which cuts answers that are made but not taken yet.
    NetServer.prototype.close.call(this.#server);
  }

  /**
   * Takes one more request at the most on each connection; ends them as they fall idle, and what is left after a time.
   * Every request that was started by then has its answer.
   */
  async finish(forMs: number): Promise<void> {
    this.#isFinishing = true;
    for (const socket of this.#sockets) {
      const exchanges = exchangesOf(socket);
      if (exchanges.latest?.headersSent === false) exchanges.last ??= exchanges.latest;
    }
    // Nothing has been asked on these.
    for (const socket of this.#handshakes) socket.destroy();
    const sweep = setInterval(() => {
      // After what has come was read: a connection with a request on it is not idle.
      setImmediate(() => {
        this.#endIdle();
      });
    }, idleSweepMs);
    await this.whenNone(forMs);
    clearInterval(sweep);
    for (const socket of this.#sockets) socket.destroy();
  }

  get #isNone(): boolean {
    return this.#sockets.size === 0 && this.#handshakes.size === 0;
  }

  /** Calls back with the connection once it is encrypted. One that is not meant to be is told so. */
  #whenEncrypted(socket: Socket, tls: TlsHandshakes, begin: (encrypted: Socket) => void): void {
    this.#handshakes.add(socket);
    socket.once("close", () => {
      if (this.#handshakes.delete(socket) && this.#isNone) this.#onNone();
    });
    tls.begin(
      socket,
      (encrypted) => {
        keepOverLimit(socket, encrypted);
        begin(encrypted);
        this.#handshakes.delete(socket);
      },
      (opening) => {
        answerPlain(socket, opening);
      },
    );
  }

  #add(socket: Socket, serve: ((this: Server, socket: Socket) => void) | undefined): void {
    const exchanges = exchangesOf(socket);
    this.#sockets.add(socket);
    // Node and IncomingRequest resume it for a body or an answer, also while it is paused for requests that wait.
    const resume = socket.resume.bind(socket);
    socket.resume = () => (exchanges.isPaused ? socket : resume());
    // What Node calls after the last answer.
    socket.destroySoon = () => {
      endSlowly(socket, exchanges);
    };
    socket.once("end", () => {
      probe(socket, exchanges);
    });
    socket.once("close", () => {
      this.#sockets.delete(socket);
      closeQueued(exchanges);
      if (this.#isNone) this.#onNone();
    });
    this.#whenBegun(socket, () => serve?.call(this.#server, socket));
  }

  /**
   * Hands a connection over when its first bytes are there, and keeps the beginning of them: should they turn out to be
   * no request, Node reports only the bytes that came last.
   */
  #whenBegun(socket: Socket, serve: () => void): void {
    const exchanges = exchangesOf(socket);
    const listeners = {
      error: () => socket.destroy(),
      end: () => socket.end(),
      timeout: () => {
        const late = Object.assign(new Error("no request"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
        this.#server.emit("clientError", late, socket);
      },
      data: (bytes: Buffer) => {
        for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
        socket.setTimeout(0);
        exchanges.opening = bytes.toString("latin1", 0, openingCharactersMax);
        socket.pause();
        socket.unshift(bytes);
        serve();
        // By itself: what is read between this call and the event that resumes reading could not be paused.
        process.nextTick(() => socket.resume());
      },
    };
    for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
    socket.setTimeout(this.#server.headersTimeout);
  }

  #endIdle(): void {
    let isAnswerUnderWay = false;
    for (const socket of this.#sockets) {
      // Nothing has come on it.
      if (socket.bytesRead === 0) socket.destroy();
      const { answers } = exchangesOf(socket);
      isAnswerUnderWay ||=
        socket.writableEnded ||
        answers.some(({ writableEnded, closed }) => writableEnded && !closed);
    }
    // Node takes a connection for idle when its answer is made, whether its reader has taken it or not.
    if (!isAnswerUnderWay) this.#server.closeIdleConnections();
  }
}

/**
 * Finds out whether a client that sends nothing more still waits for an answer whose making can be cancelled. One that
 * is gone resets the connection when anything is sent to it; then even an empty write fails, and the connection is
 * closed. What is sent changes nothing for one that waits: an interim answer (RFC 9110, section 15.2), or, within a
 * streamed one, a zero that leads the size of its next chunk (RFC 9112, section 7.1).
 */
function probe(socket: Socket, exchanges: Exchanges): void {
  let left = "encrypted" in socket ? encryptedProbesMax : 1;
  const timer = setInterval(() => {
    const unanswered = unansweredOf(exchanges);
    const [next] = unanswered;
    if (next === undefined || socket.destroyed) clearInterval(timer);
    if (next?.req.httpVersion !== "1.1" || next.writableEnded) return;
    if (!unanswered.some(isAwaited)) return;
    if (left === 0) socket.write("");
    else if (next.headersSent) {
      next.flushHeaders();
      socket.write("0");
    } else next.writeProcessing();
    left = Math.max(0, left - 1);
  }, probeIntervalMs);
}

/**
 * Ends a connection after its last answer, and still takes in for a moment what its client sends: closing while bytes
 * come in would reset the connection, and answers that are on their way might be lost with it (RFC 9112, section 9.6).
 */
function endSlowly(socket: Socket, exchanges: Exchanges): void {
  exchanges.last ??= exchanges.latest;
  socket.end();
  const late = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => {
    clearTimeout(late);
  });
}
