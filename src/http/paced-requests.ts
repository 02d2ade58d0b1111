// Requests of one connection, begun a few at a time: a client may pipeline thousands in one packet, and all others would
// wait while they are worked off.
import type { Server, ServerResponse } from "node:http";
import { exchangesOf } from "./exchanges.ts";

/** Of one connection in one tick of the event loop: a few milliseconds of work. */
const requestsPerTick = 64;

type Begin = (this: Server, ...exchange: [ServerResponse["req"], ServerResponse]) => void;

export class PacedRequests {
  readonly #server: Server;
  readonly #listeners: readonly Begin[];
  /** The number of the tick. */
  #tick = 0;
  #isTickCounted = false;

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
    const { waiting } = exchanges;
    if (exchanges.tick !== this.#tick) {
      exchanges.tick = this.#tick;
      exchanges.begunInTick = 0;
      this.#countTick();
    }
    if (waiting.length === 0 && exchanges.begunInTick < requestsPerTick) {
      exchanges.begunInTick += 1;
      this.#begin(response);
      return;
    }
    waiting.push(response);
    if (waiting.length > 1) return;
    // What else has been read becomes requests at once; nothing more is read until all of them are begun.
    socket.pause();
    setImmediate(() => {
      this.#beginWaiting(socket);
    });
  }

  #beginWaiting(socket: ServerResponse["req"]["socket"]): void {
    const { waiting } = exchangesOf(socket);
    if (socket.destroyed) waiting.length = 0;
    for (const response of waiting.splice(0, requestsPerTick)) this.#begin(response);
    if (waiting.length === 0) socket.resume();
    else {
      setImmediate(() => {
        this.#beginWaiting(socket);
      });
    }
  }

  #begin(response: ServerResponse): void {
    for (const listener of this.#listeners) listener.call(this.#server, response.req, response);
  }

  /** One timer for all connections, and none where nothing comes. */
  #countTick(): void {
    if (this.#isTickCounted) return;
    this.#isTickCounted = true;
    setImmediate(() => {
      this.#tick += 1;
      this.#isTickCounted = false;
    });
  }
}
