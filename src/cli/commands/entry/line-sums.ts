// What accounts hold in each currency, in both amounts of their lines: summed over the entries themselves.
import type { EntryLine, EntryListQuery, LedgerClient } from "../../../client/ledger-client.ts";
import { pages } from "../../connection/pages.ts";

/** Of one account, the sums of its lines in one transaction currency, in smallest units, debits positive. */
export interface LineSum {
  readonly glAccountCode: string;
  readonly currency: string;
  readonly transaction: bigint;
  readonly functional: bigint;
}

/** The sums of the lines that are wanted of the entries that a list has; those that are zero in both amounts are left out. */
export async function sumLines(
  client: Pick<LedgerClient, "listEntries">,
  ledgerId: string,
  query: EntryListQuery,
  isWanted: (line: EntryLine) => boolean,
): Promise<LineSum[]> {
  const sums = new Map<string, LineSum>();
  const listed = pages(
    (part) => client.listEntries(ledgerId, { ...query, ...part }),
    ({ entries }) => entries.map(({ sequence }) => sequence),
  );
  for await (const { entries } of listed) {
    for (const line of entries.flatMap(({ lines }) => lines)) {
      if (!isWanted(line)) continue;
      const { glAccountCode, transactionCurrency: currency } = line;
      const key = JSON.stringify([glAccountCode, currency]);
      const before = sums.get(key);
      sums.set(key, {
        glAccountCode,
        currency,
        transaction: (before?.transaction ?? 0n) + BigInt(line.transactionAmount),
        functional: (before?.functional ?? 0n) + BigInt(line.functionalAmount),
      });
    }
  }
  return [...sums.entries()]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, sum]) => sum)
    .filter(({ transaction, functional }) => transaction !== 0n || functional !== 0n);
}
