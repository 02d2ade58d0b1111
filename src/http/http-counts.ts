// What the server counts of its answers and streams: plain numbers, read by metrics.ts.

export class HttpCounts {
  /** Open connections. */
  connections = 0;
  /** How many streams are open; set by the server that has them. */
  countStreams: () => number = () => 0;
  streamMessages = 0;
  /** Streams that were closed because their reader could not keep up. */
  slowReaders = 0;
  readonly #answers = new Map<string, Map<number, number>>();

  /** An answer of a route of the API, or of "none" of them. */
  countAnswer(route: string, status: number): void {
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
