// The entries of an export, page by page: in memory there is one page, however large the books are.
import type { EntryListQuery, LedgerClient, Entry } from "../../../client/ledger-client.ts";
import { pages } from "../../connection/pages.ts";

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
  let total: number | null = null;
  let given = 0;
  for await (const page of pages(
    (part) => client.listEntries(ledgerId, { ...filter, ...part }),
    ({ entries }) => entries.map(({ sequence }) => sequence),
  )) {
    total ??= page.total;
    const entries = page.entries.slice(0, total - given);
    if (entries.length === 0) return;
    yield { entries, total };
    given += entries.length;
  }
}
