// The entries of an export, page by page: in memory there is one page, however large the books are.
import type { EntryListQuery, EntryPage, LedgerClient } from "../../../client/ledger-client.ts";
import { pages } from "../../connection/pages.ts";

/** By sequence: those that there are now. What is posted meanwhile is not followed. */
export async function* entryPages(
  client: LedgerClient,
  ledgerId: string,
  filter: EntryListQuery,
): AsyncGenerator<EntryPage> {
  const { total } = await client.listEntries(ledgerId, { ...filter, limit: 1 });
  yield* pages(
    (part) => client.listEntries(ledgerId, { ...filter, ...part }),
    ({ entries }) => entries.map(({ sequence }) => sequence),
    { after: 0, limit: total },
  );
}
