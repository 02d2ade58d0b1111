// Tables of any size, read page by page.

/**
 * Pages of rows in order, up to the first that is empty. `readPage` gets the last row of the page before, undefined at
 * the beginning. The database reads the next page while the caller works on one.
 */
export async function* readPages<Row>(
  readPage: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[], void> {
  let page = await readPage(undefined);
  while (page.length > 0) {
    const next = readPage(page.at(-1));
    // It is thrown to whoever asks for that page; nobody may.
    next.catch(() => undefined);
    yield page;
    page = await next;
  }
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
