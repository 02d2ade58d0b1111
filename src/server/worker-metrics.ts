// Metrics of a server with workers: whichever worker is asked, all of them are told, with the books' once. The
// first process gathers; workers hand it their own.
import type { Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { renderMetrics, type MetricsSnapshot, type ReadMetrics } from "../http/metrics.ts";

/** What workers send: one is asked for metrics; one hands in its own. */
export type MetricsMessage =
  | { readonly event: "metrics-wanted"; readonly id: number }
  | { readonly event: "metrics"; readonly id: number; readonly snapshot: MetricsSnapshot };

/** What they are sent: hand in yours; here is the text that you asked for, null where there was none. */
export type MetricsOrder =
  | { readonly order: "tell-metrics"; readonly id: number }
  | { readonly order: "metrics-text"; readonly id: number; readonly text: string | null };

/** A worker that is busy or dying keeps nobody waiting for longer; its figures are left out. */
const answerMsMax = 2_000;
/** Longer than the first process waits for workers and for the database. */
const textMsMax = 10_000;

/** Questions that wait for their answers. */
class Questions<Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  /** Resolves with the answer, or with null when none came in time. */
  async ask(send: (id: number) => void, forMs: number): Promise<Answer | null> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    send(id);
    const answer = await Promise.race([answered, sleep(forMs, null, { ref: false })]);
    this.#waiting.delete(id);
    return answer;
  }

  answer(id: number, answer: Answer): void {
    this.#waiting.get(id)?.(answer);
  }
}

/** In the first process. */
export class WorkerMetrics {
  readonly #books: ReadMetrics;
  readonly #workers = new Set<Worker>();
  readonly #questions = new Questions<MetricsSnapshot>();

  constructor(books: ReadMetrics) {
    this.#books = books;
  }

  /** A worker that serves, until it exits. */
  add(worker: Worker): void {
    this.#workers.add(worker);
    worker.once("exit", () => this.#workers.delete(worker));
  }

  /** The text over all workers that answer in time. */
  async render(): Promise<string> {
    const workers = [...this.#workers].filter((worker) => worker.isConnected());
    const [books, ...all] = await Promise.all([
      this.#books(),
      ...workers.map((worker) =>
        this.#questions.ask((id) => {
          send(worker, { order: "tell-metrics", id });
        }, answerMsMax),
      ),
    ]);
    return renderMetrics([books, ...all.filter((snapshot) => snapshot !== null)]);
  }

  take(worker: Worker, message: MetricsMessage): void {
    if (message.event === "metrics") {
      this.#questions.answer(message.id, message.snapshot);
      return;
    }
    const { id } = message;
    const answer = (text: string | null) => {
      if (worker.isConnected()) send(worker, { order: "metrics-text", id, text });
    };
    this.render().then(answer, () => {
      answer(null);
    });
  }
}

/** In a worker: hands in its own metrics when asked, and asks for those of all. */
export function metricsOfAll(worker: Worker, snapshot: ReadMetrics): () => Promise<string> {
  const questions = new Questions<string | null>();
  worker.on("message", (message: MetricsOrder | object | string) => {
    if (typeof message === "string" || !("order" in message)) return;
    if (message.order === "metrics-text") questions.answer(message.id, message.text);
    if (message.order !== "tell-metrics") return;
    const { id } = message;
    void snapshot().then((own) => {
      if (worker.isConnected()) worker.send({ event: "metrics", id, snapshot: own });
    });
  });
  return async () => {
    const text = await questions.ask((id) => {
      worker.send({ event: "metrics-wanted", id });
    }, textMsMax);
    if (text === null) throw new Error("the first process did not gather the metrics");
    return text;
  };
}

function send(worker: Worker, order: MetricsOrder): void {
  worker.send(order);
}
