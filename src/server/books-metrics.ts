// The metrics of all books, which a server reads once however many processes it is.
import { BooksReader } from "../engine/books-figures.ts";
import { booksMetrics, renderMetrics, type ReadMetrics } from "../http/metrics.ts";
import type { Pool } from "../store/database/pool.ts";
import { openReconciliationPool } from "./pools.ts";

/** `pool` is for what is cheap; all else takes one connection more, now and then. */
export function openBooksMetrics(databaseUrl: string, pool: Pool) {
  const reconciliation = openReconciliationPool(databaseUrl);
  const reader = new BooksReader(pool, reconciliation, () => Date.now());
  return { metrics: booksMetrics(reader), end: () => reconciliation.cut() };
}

/** The text of a server that is one process: its own metrics and the books'. */
export function metricsOfOneProcess(books: ReadMetrics) {
  return (own: ReadMetrics) => async () => renderMetrics(await Promise.all([own(), books()]));
}
