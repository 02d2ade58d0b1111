// From the label of a period to its close.
import type { LedgerClient, Close } from "../../../client/ledger-client.ts";
import { notFoundFailure } from "../../failure.ts";
import { suggestion } from "../../input/suggestion.ts";

/** The close of a period, by its exact label or by its closeId. Fails where there is none. */
export async function findClose(
  client: LedgerClient,
  ledgerId: string,
  period: string,
): Promise<Close> {
  const labels: string[] = [];
  const found = await lookUpClose(client, ledgerId, ({ periodId, closeId }) => {
    labels.push(periodId);
    return periodId === period || closeId === period;
  });
  if (found !== null) return found;
  throw notFoundFailure(
    `${JSON.stringify(period)} is not closed in this ledger${suggestion(period, labels)}`,
  );
}

/** The first close that is the one looked for, or null. */
export async function lookUpClose(
  client: LedgerClient,
  ledgerId: string,
  isWanted: (close: Close) => boolean,
): Promise<Close | null> {
  for (let offset = 0; ;) {
    const { closes, hasMore } = await client.listCloses(ledgerId, { offset, limit: 100 });
    const found = closes.find(isWanted);
    if (found !== undefined) return found;
    offset += closes.length;
    if (!hasMore) return null;
  }
}
