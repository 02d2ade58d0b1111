// Figures of the books as a whole for whoever watches them: cheap ones are read when they are asked for, dear
// ones now and then. A database that does not answer keeps nobody waiting.
import { setTimeout as sleep } from "node:timers/promises";
import {
  getPostingBacklog,
  listWalletDifferences,
  type PostingBacklog,
  type WalletDifference,
} from "../store/metric-reads.ts";
import type { ReadConnection } from "../store/read-pool.ts";

export interface BooksFigures {
  /** null while the database does not answer. */
  readonly backlog: PostingBacklog | null;
  /** null until they have been read once. */
  readonly reconciliation: {
    readonly atMs: number;
    readonly differences: readonly WalletDifference[];
  } | null;
}

/** How long who asks waits for the database. */
const answerMsMax = 2_000;
/** Every wallet is read for it. */
const reconciliationAgeMsMax = 60_000;

export class BooksReader {
  readonly #reads: ReadConnection;
  /** For statements that may take their time. */
  readonly #longReads: ReadConnection;
  readonly #nowMs: () => number;
  #reconciliation: BooksFigures["reconciliation"] = null;
  #reconciling: Promise<void> | null = null;
  #backlog: Promise<PostingBacklog | null> | null = null;

  /** `nowMs`: Unix time. */
  constructor(reads: ReadConnection, longReads: ReadConnection, nowMs: () => number) {
    this.#reads = reads;
    this.#longReads = longReads;
    this.#nowMs = nowMs;
  }

  /** The figures as they are now, the reconciliation at most a minute older; within 2 s. */
  async read(): Promise<BooksFigures> {
    const late = sleep(answerMsMax, null, { ref: false });
    const backlog = await Promise.race([this.#readBacklog(), late]);
    const ageMs = this.#nowMs() - (this.#reconciliation?.atMs ?? -Infinity);
    if (backlog !== null && ageMs > reconciliationAgeMsMax) {
      await Promise.race([this.#reconcile(), late]);
    }
    return { backlog, reconciliation: this.#reconciliation };
  }

  /** Those who ask meanwhile share one statement. */
  #readBacklog(): Promise<PostingBacklog | null> {
    this.#backlog ??= getPostingBacklog(this.#reads)
      .catch(() => null)
      .finally(() => {
        this.#backlog = null;
      });
    return this.#backlog;
  }

  #reconcile(): Promise<void> {
    const atMs = this.#nowMs();
    this.#reconciling ??= listWalletDifferences(this.#longReads)
      .then((differences) => {
        this.#reconciliation = { atMs, differences };
      })
      // The next one who asks tries again; how old the last figures are is told with them.
      .catch(() => undefined)
      .finally(() => {
        this.#reconciling = null;
      });
    return this.#reconciling;
  }
}
