// Taking in the bodies of requests: how long one may be, and how much all of them may hold together.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "../core/errors.ts";

/** Bodies up to this size are always taken, so that a few large ones can't keep out the many small. */
const smallBodyBytes = 16 * 1024;

export class RequestBodies {
  readonly #bodyBytesMax: number;
  readonly #heldBytesMax: number;
  #heldBytes = 0;

  /** `heldBytesMax`: of longer bodies that have arrived, in part or whole, and whose requests are not answered. */
  constructor(options: { bodyBytesMax: number; heldBytesMax: number }) {
    this.#bodyBytesMax = options.bodyBytesMax;
    this.#heldBytesMax = options.heldBytesMax;
  }

  /** The bytes of a body as they come, null for none, or the refusals `bodyTooLarge` and `unavailable`. */
  read(request: IncomingMessage, response: ServerResponse): Promise<Buffer | null> {
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    if (encoding === undefined && (length === undefined || length === "0")) {
      return Promise.resolve(null);
    }
    if (Number(length) > this.#bodyBytesMax) return Promise.reject(tooLarge());
    const chunks: Buffer[] = [];
    let bytes = 0;
    let heldBytes = 0;
    const release = () => {
      this.#heldBytes -= heldBytes;
      heldBytes = 0;
    };
    return new Promise((resolve, reject) => {
      const refuse = (refusal: Refusal) => {
        chunks.length = 0;
        release();
        // What still comes is read and dropped.
        request.removeListener("data", take);
        reject(refusal);
      };
      const take = (chunk: Buffer) => {
        bytes += chunk.length;
        const unheld = bytes > smallBodyBytes ? bytes - heldBytes : 0;
        if (bytes > this.#bodyBytesMax) {
          refuse(tooLarge());
        } else if (this.#heldBytes + unheld > this.#heldBytesMax) {
          refuse(
            new Refusal("unavailable", "too many bodies are under way; try again in a moment"),
          );
        } else {
          if (heldBytes === 0 && unheld > 0) response.once("close", release);
          heldBytes += unheld;
          this.#heldBytes += unheld;
          chunks.push(chunk);
        }
      };
      request.on("data", take);
      request.once("error", reject);
      request.once("end", () => {
        const [first] = chunks;
        resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
      });
    });
  }
}

function tooLarge(): Refusal {
  return new Refusal("bodyTooLarge", "the body is larger than this server accepts");
}
