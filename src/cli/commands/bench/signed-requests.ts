// Requests of a benchmark as the bytes that go over the wire, signed before they are sent: what the client
// spends on signing must not look like the service's latency.
import { signRequest } from "../../../core/signing.ts";
import type { Connection } from "../../connection/settings.ts";
import type { BenchRequest } from "./workload.ts";

interface Signed {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly bytes: Buffer;
  readonly signedAtMs: number;
}

/** Some 120 MB, and a second or two to sign. */
const aheadMax = 200_000;
/** Far from the 300 s that a signature is good for. */
const ageMsMax = 60_000;

export class SignedRequests {
  readonly #connection: Connection;
  readonly #url: URL;
  readonly #make: (number: number) => BenchRequest;
  /** The last is sent first. */
  #ready: Signed[] = [];
  #lastNumber = 0;

  /** `make` says what the requests 1, 2, 3 … ask. */
  constructor(connection: Connection, make: (number: number) => BenchRequest) {
    this.#connection = connection;
    this.#url = new URL(connection.url);
    this.#make = make;
  }

  /** Signs as many requests as will be wanted, within reason; those beyond are signed when they are sent. */
  prepare(expected: number): void {
    const missing = Math.min(aheadMax, expected) - this.#ready.length;
    const added = Array.from({ length: Math.max(0, missing) }, () => this.#signNext());
    this.#ready = [...added.reverse(), ...this.#ready];
  }

  take(): Signed {
    const ready = this.#ready.pop();
    if (ready === undefined) return this.#signNext();
    return performance.now() - ready.signedAtMs > ageMsMax ? this.#sign(ready.number) : ready;
  }

  #signNext(): Signed {
    this.#lastNumber += 1;
    return this.#sign(this.#lastNumber);
  }

  #sign(number: number): Signed {
    const { apiKey, apiSecret } = this.#connection;
    const { method, target, body } = this.#make(number);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = signRequest(apiSecret, { timestamp, method, target, body });
    // A path in the URL is a proxy's, and is not signed.
    const prefix = this.#url.pathname.replace(/\/+$/, "");
    const head =
      `${method} ${prefix}${target} HTTP/1.1\r\nHost: ${this.#url.host}\r\n` +
      `Authorization: Bearer ${apiKey}\r\nX-Timestamp: ${timestamp}\r\n` +
      `X-Signature: ${signature.toString("hex")}\r\n`;
    const bytes = Buffer.from(
      method === "GET"
        ? `${head}\r\n`
        : `${head}Content-Type: application/json\r\n` +
            `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    return { number, bytes, signedAtMs: performance.now() };
  }
}
