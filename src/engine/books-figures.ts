// Figures of the books as a whole for whoever watches them: cheap ones are read when they are asked for, dear
// ones once a minute at most. A database that does not answer keeps nobody waiting.
import { setTimeout as sleep } from "node:timers/promises";
import { findLastBackup, type BackupRecord } from "../store/backups.ts";
import type { Connection } from "../store/database/connection.ts";
import { countFailingDeliveries } from "../store/deliveries.ts";
import { countHaltedLogs } from "../store/logs.ts";
import { getPostingBacklog, type PostingBacklog } from "../store/pending-postings.ts";
import { listWalletDifferences, type WalletDifference } from "../store/wallets.ts";

/** What is read anew each time. */
interface CheapFigures {
  /** null while the database does not answer. */
  readonly backlog: PostingBacklog | null;
  /** null where none was taken, and while the database does not answer. */
  readonly lastBackup: BackupRecord | null;
  /** How many logs sign nothing until an operator resumes them; null while the database does not answer. */
  readonly haltedLogs: number | null;
  /** null while the database does not answer. */
  readonly deliveries: Readonly<Record<"paused" | "failing", number>> | null;
}

export interface BooksFigures extends CheapFigures {
  /** null until they have been read once. */
  readonly reconciliation: {
    readonly atMs: number;
    readonly differences: readonly WalletDifference[];
  } | null;
}

/** How long who asks waits for the database. */
const answerMsMax = 2_000;
const noAnswer: CheapFigures = {
  backlog: null,
  lastBackup: null,
  haltedLogs: null,
  deliveries: null,
};
/** Every wallet is read for it. */
const reconciliationAgeMsMax = 60_000;

export class BooksReader {
  readonly #pool: Connection;
  /** For statements that may take their time. */
  readonly #longRunning: Connection;
  readonly #nowMs: () => number;
  #reconciliation: BooksFigures["reconciliation"] = null;
  #reconciling: Promise<void> | null = null;
  /** When it was tried last, whatever came of it. */
  #triedAtMs = -Infinity;
  #cheap: Promise<CheapFigures> | null = null;

  /** `nowMs`: Unix time. */
  constructor(pool: Connection, longRunning: Connection, nowMs: () => number) {
    this.#pool = pool;
    this.#longRunning = longRunning;
    this.#nowMs = nowMs;
  }

  /** The figures as they are now, the reconciliation at most a minute older; within 2 s. */
  async read(): Promise<BooksFigures> {
    const late = sleep(answerMsMax, null, { ref: false });
    const cheap = (await Promise.race([this.#readCheap(), late])) ?? noAnswer;
    const isDue = this.#nowMs() - this.#triedAtMs > reconciliationAgeMsMax;
    if (cheap.backlog !== null && (isDue || this.#reconciling !== null)) {
      await Promise.race([this.#reconcile(), late]);
    }
    return { ...cheap, reconciliation: this.#reconciliation };
  }

  /** Those who ask meanwhile share what is read. */
  #readCheap(): Promise<CheapFigures> {
    this.#cheap ??= Promise.all([
      getPostingBacklog(this.#pool),
      findLastBackup(this.#pool),
      countHaltedLogs(this.#pool),
      countFailingDeliveries(this.#pool),
    ])
      .then(([backlog, lastBackup, haltedLogs, deliveries]) => ({
        ...{ backlog, lastBackup, haltedLogs, deliveries },
      }))
      .catch(() => noAnswer)
      .finally(() => {
        this.#cheap = null;
      });
    return this.#cheap;
  }

  #reconcile(): Promise<void> {
    if (this.#reconciling !== null) return this.#reconciling;
    const atMs = this.#nowMs();
    this.#triedAtMs = atMs;
    this.#reconciling = listWalletDifferences(this.#longRunning)
      .then((differences) => {
        this.#reconciliation = { atMs, differences };
      })
      // Tried again a minute after it began: books that take too long must not be summed without a pause. The age of
      // the last figures is reported with them.
      .catch(() => undefined)
      .finally(() => {
        this.#reconciling = null;
      });
    return this.#reconciling;
  }
}
