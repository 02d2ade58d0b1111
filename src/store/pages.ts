// Tables of any size, read page by page: in memory are at most the one that is worked on and the two after it.
import { setImmediate as immediate } from "node:timers/promises";
import type { FragmentSqlToken } from "@slonik/sql-tag";
import { sql } from "./database/statement.ts";

const rowsMin = 100;
const defaultBytesMax = 8 * 1024 * 1024;

/**
 * Pages of rows in order, up to the first that is empty. `readPage` gets the last row of the page before, undefined at
 * the beginning, and how many rows to read at most: twice those of the page before, up to `rowsMax`, so that where pages
 * are short because rows are large, few are looked at in vain. The database reads the next page while the caller works
 * on one.
 */
export async function* readPages<Row>(
  rowsMax: number,
  readPage: (last: Row | undefined, limit: number) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void> {
  let page = await readPage(undefined, rowsMin);
  while (page.length > 0) {
    const next = readPage(page.at(-1), Math.min(rowsMax, 2 * page.length));
    await letLeave(next);
    yield page;
    page = await next;
  }
}

/**
 * What `read` gives for each of `tasks`, in their order. One is always begun before the one before it is asked for, so that
 * the database never waits for the caller.
 */
export async function* readAhead<Task, Result>(
  tasks: AsyncIterable<Task>,
  read: (task: Task) => Promise<Result>,
): AsyncGenerator<Result, void> {
  let next: Promise<Result> | null = null;
  for await (const task of tasks) {
    const begun = read(task);
    await letLeave(begun);
    if (next !== null) yield await next;
    next = begun;
  }
  if (next !== null) yield await next;
}

/** Lets a read leave for the database whose result is asked for later. */
async function letLeave(read: Promise<unknown>): Promise<void> {
  // It is thrown to whoever asks for it; nobody may.
  read.catch(() => undefined);
  // A pool sends a statement some promises later. The caller would be at work by then, and the database would wait.
  await immediate();
}

/**
 * Of ordered rows the first ones, weighed before anything of them is built: together they are no more than `bytesMax`, as
 * `bytes` says what each weighs, but there is one at least.
 */
export function withinBytes(
  rows: FragmentSqlToken,
  bytes: FragmentSqlToken,
  order: FragmentSqlToken,
  bytesMax = defaultBytesMax,
): FragmentSqlToken {
  return sql.fragment`
    SELECT * FROM (
      SELECT *, row_number() OVER in_order AS place,
             coalesce(sum(${bytes}) OVER in_order, 0) AS bytes_through
        FROM (${rows}) AS first_rows WINDOW in_order AS (ORDER BY ${order})
    ) AS weighed WHERE place = 1 OR bytes_through <= ${bytesMax}`;
}

/** The rows of pages one by one, for rows that are merged with others: only the end of a page is waited for. */
export class PageCursor<Row> {
  readonly #pages: AsyncIterator<readonly Row[], void>;
  #page: readonly Row[] = [];
  #index = 0;

  constructor(pages: AsyncIterator<readonly Row[], void>) {
    this.#pages = pages;
  }

  /** The row that it is at; undefined where a page has to be read first, and after the last row. */
  get current(): Row | undefined {
    return this.#page[this.#index];
  }

  advance(): void {
    this.#index += 1;
  }

  /** Reads the next page; false after the last. For where there is no current row. */
  async readPage(): Promise<boolean> {
    const result = await this.#pages.next();
    this.#page = result.done === true ? [] : result.value;
    this.#index = 0;
    return result.done !== true;
  }
}
