// Tables of any size, read page by page.

/** Rows in order. `readPage` gets the last row of the page before, undefined at the beginning. */
export async function* readPages<Row>(
  readPage: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let last: Row | undefined;
  do {
    const page = await readPage(last);
    yield* page;
    last = page.at(-1);
  } while (last !== undefined);
}
