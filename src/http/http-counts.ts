// What the server counts of its answers and streams: plain numbers, read by metrics.ts.
import { isOverload, type Refusal } from "../core/errors.ts";

export class HttpCounts {
  /** Open connections. */
  connections = 0;
  /** How many streams are open; set by the server that has them. */
  countStreams: () => number = () => 0;
  streamMessages = 0;
  /** Streams that were closed because their reader could not keep up. */
  slowReaders = 0;
  /** Requests that were too many: for the rate limit of their key, or for this server. */
  readonly rejections = { rate: 0, overload: 0 };
  /** Of the certificate that TLS shows; null for plain HTTP. */
  certificateExpiresAtMs: number | null = null;
  readonly #answers = new Map<string, Map<number, number>>();

  /** An answer of a route of the API, or of "none" of them, and why it is a refusal, if it is one. */
  countAnswer(route: string, status: number, refusal: Refusal | undefined): void {
    if (refusal?.problem === "rateLimited") this.rejections.rate += 1;
    else if (isOverload(refusal)) this.rejections.overload += 1;
    let byStatus = this.#answers.get(route);
    if (byStatus === undefined) this.#answers.set(route, (byStatus = new Map<number, number>()));
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  listAnswers(): { route: string; status: number; count: number }[] {
    return [...this.#answers].flatMap(([route, byStatus]) =>
      [...byStatus].map(([status, count]) => ({ route, status, count })),
    );
  }
}
