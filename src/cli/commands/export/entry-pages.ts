// The entries of an export, page by page: in memory there is one page, however large the books are.
import type { EntryListQuery, LedgerClient, Entry } from "../../../client/ledger-client.ts";

/** The most that the service gives at once. */
const pageLimit = 100;

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** How many entries there are in all. */
  readonly total: number;
}

/** By sequence: those that there were when the first page was read. What is posted meanwhile is not followed. */
export async function* entryPages(
  client: LedgerClient,
  ledgerId: string,
  filter: EntryListQuery,
): AsyncGenerator<EntryPage> {
  let after = 0;
  let total: number | null = null;
  for (let given = 0; ;) {
    const page = await client.listEntries(ledgerId, { ...filter, after, limit: pageLimit });
    total ??= page.total;
    const entries = page.entries.slice(0, total - given);
    const last = entries.at(-1);
    if (last === undefined) return;
    yield { entries, total };
    given += entries.length;
    if (given >= total || !page.hasMore) return;
    after = last.sequence;
  }
}
