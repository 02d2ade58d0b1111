// A request that hands its body to one sink, and keeps what comes before the sink is there. Buffering it as a stream took 6 % of
// the server's CPU time for a write (docs/decisions/0027).
import { IncomingMessage } from "node:http";
import { assert } from "../core/errors.ts";

/** Gets a body: its chunks as they come, then its end, or the loss of the connection before that. */
export interface BodySink {
  write(chunk: Buffer): void;
  end(): void;
  abort(error: Error): void;
}

/**
 * Of a body that nobody wants, and of any that has ended: an idle connection keeps its last request, which must not keep its
 * body.
 */
const dropped: BodySink = { write: () => undefined, end: () => undefined, abort: () => undefined };

/** Bytes of a body that may come before it is read, as many as a stream buffers in Node.js 22; then the connection is paused. */
const earlyBytesMax = 64 * 1024;

export class IncomingRequest extends IncomingMessage {
  /** Null until the body is read. */
  #sink: BodySink | null = null;
  /** What came before that. */
  #early: Buffer[] = [];
  #earlyBytes = 0;

  /** Gives the body to `sink`, from its first byte on; once. */
  readBody(sink: BodySink): void {
    assert(this.#sink === null, "a body is read once");
    this.#sink = sink;
    const early = this.#early;
    this.#early = [];
    if (this.destroyed) {
      this.#last().abort(new Error("the connection was lost"));
      return;
    }
    for (const chunk of early) this.push(chunk);
    if (this.complete) this.push(null);
    else if (this.#earlyBytes > earlyBytesMax) this.socket.resume();
  }

  /** Drops what is still to come of the body. */
  dropBody(): void {
    if (this.#sink === null) this.readBody(dropped);
    this.#sink = dropped;
  }

  /** Called by Node's parser with each chunk, and with null at the end. */
  override push(chunk: Buffer | null): boolean {
    if (this.#sink === null) {
      if (chunk !== null) this.#keep(chunk);
    } else if (chunk === null) this.#last().end();
    else this.#sink.write(chunk);
    return true;
  }

  /** Called by Node once the request is answered: drops a body that nobody has read. */
  override resume(): this {
    if (this.#sink === null) this.dropBody();
    return this;
  }

  /** Called by Node when the connection is lost. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (this.#sink !== null) this.#last().abort(error ?? new Error("the connection was lost"));
    super._destroy(error, callback);
  }

  #keep(chunk: Buffer): void {
    const before = this.#earlyBytes;
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (before > earlyBytesMax || this.#earlyBytes <= earlyBytesMax) return;
    // Not at once: were the body to end in this packet, Node would resume the connection, which undoes what is paused meanwhile.
    process.nextTick(() => {
      if (this.#sink === null && !this.complete && !this.destroyed) this.socket.pause();
    });
  }

  /** The sink, for the last time. */
  #last(): BodySink {
    const sink = this.#sink ?? dropped;
    this.#sink = dropped;
    return sink;
  }
}

/** Fastify knows it as Node's request. Throws where the server was made with another class. */
export function asIncomingRequest(request: IncomingMessage): IncomingRequest {
  if (request instanceof IncomingRequest) return request;
  throw new Error("the server was not made with IncomingRequest");
}
