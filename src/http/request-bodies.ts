// Taking in the bodies of requests: how long one may be, and how much all of them may hold together.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "../core/errors.ts";

/** Bodies up to this size are always taken, so that a few large ones can't keep out the many small. */
const smallBodyBytes = 16 * 1024;

export class RequestBodies {
  readonly #bodyBytesMax: number;
  readonly #heldBytesMax: number;
  #heldBytes = 0;

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
    response.once("close", () => (this.#heldBytes -= bytes));
    return new Promise((resolve, reject) => {
      const refuse = (refusal: Refusal) => {
        chunks.length = 0;
        this.#heldBytes -= bytes;
        bytes = 0;
        // What still comes is read and dropped.
        request.removeListener("data", take);
        reject(refusal);
      };
      const take = (chunk: Buffer) => {
        const isSmall = bytes + chunk.length <= smallBodyBytes;
        if (bytes + chunk.length > this.#bodyBytesMax) {
          refuse(tooLarge());
        } else if (!isSmall && this.#heldBytes + chunk.length > this.#heldBytesMax) {
          refuse(
            new Refusal("unavailable", "too many bodies are under way; try again in a moment"),
          );
        } else {
          bytes += chunk.length;
          this.#heldBytes += chunk.length;
          chunks.push(chunk);
        }
      };
      request.on("data", take);
      request.once("error", reject);
      request.once("end", () => {
        resolve(Buffer.concat(chunks));
      });
    });
  }
}

function tooLarge(): Refusal {
  return new Refusal("bodyTooLarge", "the body is larger than this server accepts");
}
