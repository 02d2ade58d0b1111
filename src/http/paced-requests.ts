// Begins requests: all that come in one tick of the event loop at its end, so that each step runs for many of them in a row
// and finds its code in the processor's caches (docs/decisions/0028). Of one connection it begins 64 a tick: a client may
// pipeline thousands in one packet, and all others would wait until they are worked off.
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { exchangesOf } from "./exchanges.ts";

/** Of one connection in one tick of the event loop: a few milliseconds of work. */
const requestsPerTick = 64;

type Begin = (this: Server, ...exchange: [ServerResponse["req"], ServerResponse]) => void;

export class PacedRequests {
  readonly #server: Server;
  readonly #listeners: readonly Begin[];
  /** Connections with requests that have been read and are not begun. */
  #waiting: Socket[] = [];

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
    if (count === 1) this.#beginAtEndOfTick(socket);
    if (count <= requestsPerTick || exchanges.isPaused) return;
    // What else has been read becomes requests at once; nothing more is read until all of them are begun.
    exchanges.isPaused = true;
    // After what the packet does besides: a resume at the end of a body starts the reading whatever was paused since.
    process.nextTick(() => {
      if (exchanges.isPaused) socket.pause();
    });
  }

  /** At the end of this tick, or of the next one where that of this one is reached. */
  #beginAtEndOfTick(socket: Socket): void {
    this.#waiting.push(socket);
    if (this.#waiting.length > 1) return;
    setImmediate(() => {
      const sockets = this.#waiting;
      this.#waiting = [];
      for (const each of sockets) this.#beginWaiting(each);
    });
  }

  #beginWaiting(socket: Socket): void {
    const exchanges = exchangesOf(socket);
    const { waiting } = exchanges;
    if (socket.destroyed) waiting.length = 0;
    for (const response of waiting.splice(0, requestsPerTick)) {
      for (const listener of this.#listeners) listener.call(this.#server, response.req, response);
    }
    if (waiting.length > 0) this.#beginAtEndOfTick(socket);
    else if (exchanges.isPaused) {
      exchanges.isPaused = false;
      socket.resume();
    }
  }
}
