// Requests are begun together, at the end of the tick of the event loop in which they came: each step of many requests, one
// after the other, finds its code in the processor's caches (docs/decisions/0028). Of one connection a few at a time: a client
// may pipeline thousands in one packet, and all others would wait while they are worked off.
import type { Server, ServerResponse } from "node:http";
import { exchangesOf } from "./exchanges.ts";

/** Of one connection in one tick of the event loop: a few milliseconds of work. */
const requestsPerTick = 64;

type Connection = ServerResponse["req"]["socket"];
type Begin = (this: Server, ...exchange: [ServerResponse["req"], ServerResponse]) => void;

export class PacedRequests {
  readonly #server: Server;
  readonly #listeners: readonly Begin[];
  /** Connections with requests that have been read and are not begun. */
  #due: Connection[] = [];

  /** Puts itself between a server and those who listen for its requests by now. */
  constructor(server: Server) {
    this.#server = server;
    this.#listeners = server.listeners("request") as Begin[];
    server.removeAllListeners("request");
    server.on("request", (_request, response) => {
      this.#take(response);
    });
  }

  #take(response: ServerResponse): void {
    const { socket } = response.req;
    const exchanges = exchangesOf(socket);
    exchanges.waiting.push(response);
    const count = exchanges.waiting.length;
    if (count === 1) this.#addDue(socket);
    if (count <= requestsPerTick || exchanges.isPaused) return;
    // What else has been read becomes requests at once; nothing more is read until all of them are begun.
    exchanges.isPaused = true;
    socket.pause();
  }

  #addDue(socket: Connection): void {
    this.#due.push(socket);
    if (this.#due.length > 1) return;
    setImmediate(() => {
      const due = this.#due;
      this.#due = [];
      for (const each of due) this.#beginWaiting(each);
    });
  }

  #beginWaiting(socket: Connection): void {
    const exchanges = exchangesOf(socket);
    const { waiting } = exchanges;
    if (socket.destroyed) waiting.length = 0;
    for (const response of waiting.splice(0, requestsPerTick)) {
      for (const listener of this.#listeners) listener.call(this.#server, response.req, response);
    }
    if (waiting.length > 0) this.#addDue(socket);
    else if (exchanges.isPaused) {
      exchanges.isPaused = false;
      socket.resume();
    }
  }
}
