// Lists of the service, read page by page, however long they are.
import { requireWholeNumber } from "../input/arguments.ts";
import type { Output } from "../terminal/output.ts";

/** The most that the service gives at once. */
export const pageLimit = 100;

const limitForPeople = 50;

/** Which part of a list is read. */
export interface Range {
  /** The position in the list that it comes after, 0 for the beginning. */
  readonly after: number;
  /** How many rows at most; Infinity for all. */
  readonly limit: number;
}

/**
 * The pages of a range in order. `positionsOf` are the positions of a page's rows in the list: each page begins after
 * the last one of the page before.
 */
export async function* pages<Page extends { readonly hasMore: boolean }>(
  read: (range: Range) => Promise<Page>,
  positionsOf: (page: Page) => readonly number[],
  { after, limit }: Range = { after: 0, limit: Infinity },
): AsyncGenerator<Page> {
  for (let left = limit; left > 0;) {
    const page = await read({ after, limit: Math.min(left, pageLimit) });
    yield page;
    const positions = positionsOf(page);
    const last = positions.at(-1);
    if (!page.hasMore || last === undefined) return;
    if (last <= after) throw new Error("the service's list does not go on");
    left -= positions.length;
    after = last;
  }
}

export interface RangeFlags {
  json?: boolean;
  csv?: boolean;
  after?: string;
  limit?: string;
}

/** The range that `--after` and `--limit` name. */
export function readRange({ json = false, csv = false, after = "0", limit }: RangeFlags): Range {
  // A script that silently got the first 50 would be wrong; people can be told that there are more.
  const usual = json || csv ? "0" : String(limitForPeople);
  return {
    after: requireWholeNumber("--after", after, 0),
    // 0 is all of them.
    limit: requireWholeNumber("--limit", limit ?? usual, 0) || Infinity,
  };
}

/** Tells people that a list goes on after what they see. */
export function noteMore(output: Output, last: number): void {
  output.note(`there are more: --after ${last} goes on, --limit 0 lists everything`);
}
