// A request whose body goes past the stream that it is for Node. As a stream, a body of one piece has six listeners and ticks of
// the event loop: a tenth of the time that the server has for a write.
import { IncomingMessage } from "node:http";

/** Gets the pieces of a body as they come, and then learns how it ended. */
export interface BodyTaker {
  take(piece: Buffer): void;
  end(): void;
  /** The connection was lost before the end. */
  fail(error: Error): void;
}

export class IncomingRequest extends IncomingMessage {
  #isTaken = false;
  /** Null from the end of the body on: an idle connection keeps its last request, which must not keep its body. */
  #taker: BodyTaker | null = null;

  /** Gives the body to `taker`, from its first byte on; once, and before anybody else reads it. */
  takeBody(taker: BodyTaker): void {
    // What came while the request waited for its turn.
    if (this.readableLength > 0) taker.take(this.read() as Buffer);
    if (this.complete) {
      taker.end();
      return;
    }
    this.#isTaken = true;
    this.#taker = taker;
  }

  /** Called by Node with each piece that it has read, and null at the end. */
  override push(piece: Buffer | null): boolean {
    if (!this.#isTaken) return super.push(piece);
    if (piece === null) this.#give()?.end();
    else this.#taker?.take(piece);
    return true;
  }

  /** Called by Node when the request was answered, so that what is left of its body is read and dropped. */
  override resume(): this {
    return this.#isTaken ? this : super.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#give()?.fail(error ?? new Error("the request was given up"));
    super._destroy(error, callback);
  }

  #give(): BodyTaker | null {
    const taker = this.#taker;
    this.#taker = null;
    return taker;
  }
}

/** A request as it is known to a framework. Throws where the server was made with another class of requests. */
export function asIncomingRequest(request: IncomingMessage): IncomingRequest {
  if (request instanceof IncomingRequest) return request;
  throw new Error("the server was not made with IncomingRequest");
}
