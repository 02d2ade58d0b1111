// Reading the bodies of requests: how long one may be, and how many bytes of all of them are buffered.
import type { ServerResponse } from "node:http";
import { overloadRefusal, Refusal } from "../core/errors.ts";
import type { IncomingRequest } from "./incoming-request.ts";

/** Bodies up to this size are always taken, so that a few large ones can't keep out the many small. */
const smallBodyBytes = 16 * 1024;

/** How long a body may take before it times out where others need its part of the budget. */
const slowMs = 2_000;

/** A body that has not arrived whole. */
interface Unfinished {
  readonly sinceMs: number;
  bufferedBytes: number;
  readonly timeOut: () => void;
}

export class RequestBodies {
  readonly #bodyBytesMax: number;
  readonly #bufferedBytesMax: number;
  #bufferedBytes = 0;
  /** Those that are not small, the earliest first. */
  readonly #unfinished = new Set<Unfinished>();

  /** `bufferedBytesMax`: of longer bodies that have arrived, in part or whole, and whose requests are not answered. */
  constructor(options: { bodyBytesMax: number; bufferedBytesMax: number }) {
    this.#bodyBytesMax = options.bodyBytesMax;
    this.#bufferedBytesMax = options.bufferedBytesMax;
  }

  /** The bytes of a body as they come, null for none, or the refusals `bodyTooLarge` and `unavailable`. */
  read(request: IncomingRequest, response: ServerResponse): Promise<Buffer | null> {
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    if (encoding === undefined && (length === undefined || length === "0")) {
      return Promise.resolve(null);
    }
    if (Number(length) > this.#bodyBytesMax) {
      request.dropBody();
      return Promise.reject(tooLarge());
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    let unfinished: Unfinished | null = null;
    return new Promise((resolve, reject) => {
      const refuse = (refusal: Refusal) => {
        request.dropBody();
        chunks.length = 0;
        if (unfinished !== null) this.#release(unfinished);
        reject(refusal);
      };
      const start = () => {
        const started: Unfinished = {
          sinceMs: performance.now(),
          bufferedBytes: 0,
          timeOut: () => {
            refuse(tooMany());
          },
        };
        this.#unfinished.add(started);
        response.once("close", () => {
          this.#release(started);
        });
        return started;
      };
      const write = (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > smallBodyBytes) unfinished ??= start();
        if (bytes > this.#bodyBytesMax) {
          refuse(tooLarge());
        } else if (unfinished !== null && !this.#reserve(unfinished, bytes)) {
          refuse(tooMany());
        } else {
          chunks.push(chunk);
        }
      };
      const end = () => {
        if (unfinished !== null) this.#unfinished.delete(unfinished);
        const [first] = chunks;
        resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
      };
      request.readBody({ write, end, abort: reject });
    });
  }

  /** Counts what has come of a body, if that is within the budget. */
  #reserve(body: Unfinished, bytes: number): boolean {
    const more = bytes - body.bufferedBytes;
    if (!this.#isWithinBudget(more, body)) return false;
    body.bufferedBytes = bytes;
    this.#bufferedBytes += more;
    return true;
  }

  #release(body: Unfinished): void {
    this.#bufferedBytes -= body.bufferedBytes;
    body.bufferedBytes = 0;
    this.#unfinished.delete(body);
  }

  /**
   * Whether more bytes of a body are within the budget. Others that are slow to come time out for it, the
   * earliest first: whoever sends drops, from however many addresses, can't keep out those who send.
   */
  #isWithinBudget(bytes: number, body: Unfinished): boolean {
    for (const earliest of this.#unfinished) {
      if (this.#bufferedBytes + bytes <= this.#bufferedBytesMax) return true;
      if (earliest === body || performance.now() - earliest.sinceMs < slowMs) return false;
      earliest.timeOut();
    }
    return this.#bufferedBytes + bytes <= this.#bufferedBytesMax;
  }
}

function tooMany(): Refusal {
  return overloadRefusal("too many bodies are under way; try again in a moment");
}

function tooLarge(): Refusal {
  return new Refusal("bodyTooLarge", "the body is larger than this server accepts");
}
