// From the label of a period to its close.
import type { LedgerClient, WireClose } from "../../../client/ledger-client.ts";
import { notFoundFailure } from "../../failure.ts";
import { suggestion } from "../../suggestion.ts";

/** The close of a period, by its exact label or by its closeId; null where there is none. */
export async function findCloseOrNull(
  client: LedgerClient,
  ledgerId: string,
  period: string,
): Promise<WireClose | null> {
  const { found } = await search(client, ledgerId, period);
  return found ?? null;
}

/** The close of a period, by its exact label or by its closeId. Fails where there is none. */
export async function findClose(
  client: LedgerClient,
  ledgerId: string,
  period: string,
): Promise<WireClose> {
  const { found, labels } = await search(client, ledgerId, period);
  if (found !== undefined) return found;
  throw notFoundFailure(
    `${JSON.stringify(period)} is not closed in this ledger${suggestion(period, labels)}`,
  );
}

/** The close, or the labels of all that there are. */
async function search(
  client: LedgerClient,
  ledgerId: string,
  period: string,
): Promise<{ found: WireClose | undefined; labels: readonly string[] }> {
  const labels: string[] = [];
  for (;;) {
    const { closes, hasMore } = await client.listCloses(ledgerId, {
      offset: labels.length,
      limit: 100,
    });
    const found = closes.find(({ periodId, closeId }) => periodId === period || closeId === period);
    if (found !== undefined || !hasMore) {
      return { found, labels: [...labels, ...closes.map(({ periodId }) => periodId)] };
    }
    labels.push(...closes.map(({ periodId }) => periodId));
  }
}
