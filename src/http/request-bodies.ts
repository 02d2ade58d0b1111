// Taking in the bodies of requests: how long one may be, and how much all of them may hold together.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "../core/errors.ts";

/** Bodies up to this size are always taken, so that a few large ones can't keep out the many small. */
const smallBodyBytes = 16 * 1024;

/** How long a body may take before it has to make room for others where there is none. */
const slowMs = 2_000;

/** A body that has not arrived whole. */
interface Unfinished {
  readonly sinceMs: number;
  readonly giveUp: () => void;
}

export class RequestBodies {
  readonly #bodyBytesMax: number;
  readonly #heldBytesMax: number;
  #heldBytes = 0;
  /** Those that are not small, the earliest first. */
  readonly #unfinished = new Set<Unfinished>();

  /** `heldBytesMax`: of bodies that have arrived, in part or whole, and whose requests are not answered. */
  constructor(options: { bodyBytesMax: number; heldBytesMax: number }) {
    this.#bodyBytesMax = options.bodyBytesMax;
    this.#heldBytesMax = options.heldBytesMax;
  }

  /** The bytes of a body as they come, or the refusals `bodyTooLarge` and `unavailable`. */
  read(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
    if (Number(request.headers["content-length"]) > this.#bodyBytesMax) {
      return Promise.reject(tooLarge());
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    return new Promise((resolve, reject) => {
      const refuse = (refusal: Refusal) => {
        chunks.length = 0;
        this.#heldBytes -= bytes;
        bytes = 0;
        // What still comes is read and dropped.
        request.removeListener("data", take);
        this.#unfinished.delete(body);
        reject(refusal);
      };
      const body = {
        sinceMs: performance.now(),
        giveUp: () => {
          refuse(tooMany());
        },
      };
      response.once("close", () => {
        this.#heldBytes -= bytes;
        this.#unfinished.delete(body);
      });
      const take = (chunk: Buffer) => {
        const isSmall = bytes + chunk.length <= smallBodyBytes;
        if (bytes + chunk.length > this.#bodyBytesMax) {
          refuse(tooLarge());
        } else if (!isSmall && !this.#makeRoom(chunk.length, body)) {
          refuse(tooMany());
        } else {
          if (!isSmall) this.#unfinished.add(body);
          bytes += chunk.length;
          this.#heldBytes += chunk.length;
          chunks.push(chunk);
        }
      };
      request.on("data", take);
      request.once("error", reject);
      request.once("end", () => {
        this.#unfinished.delete(body);
        resolve(Buffer.concat(chunks));
      });
    });
  }

  /**
   * Whether there is room for more bytes of a body. Others that are slow to come are given up for it, the
   * earliest first: whoever sends drops, from however many addresses, can't keep out those who send.
   */
  #makeRoom(bytes: number, body: Unfinished): boolean {
    for (const earliest of this.#unfinished) {
      if (this.#heldBytes + bytes <= this.#heldBytesMax) return true;
      if (earliest === body || performance.now() - earliest.sinceMs < slowMs) return false;
      earliest.giveUp();
    }
    return this.#heldBytes + bytes <= this.#heldBytesMax;
  }
}

function tooMany(): Refusal {
  return new Refusal("unavailable", "too many bodies are under way; try again in a moment");
}

function tooLarge(): Refusal {
  return new Refusal("bodyTooLarge", "the body is larger than this server accepts");
}
