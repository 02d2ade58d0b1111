// The closes of a ledger, and from the label of a period to its close.
import type { LedgerClient, Close } from "../../../client/ledger-client.ts";
import { pageLimit } from "../../connection/pages.ts";
import { notFoundFailure } from "../../failure.ts";
import { suggestion } from "../../input/suggestion.ts";

/** The close of a period, by its exact label or by its closeId. Fails where there is none. */
export async function findClose(
  client: LedgerClient,
  ledgerId: string,
  period: string,
): Promise<Close> {
  const labels: string[] = [];
  for await (const close of closesOf(client, ledgerId)) {
    if (close.periodId === period || close.closeId === period) return close;
    labels.push(close.periodId);
  }
  throw notFoundFailure(
    `${JSON.stringify(period)} is not closed in this ledger${suggestion(period, labels)}`,
  );
}

/** All closes, oldest first. */
export async function* closesOf(
  client: Pick<LedgerClient, "listCloses">,
  ledgerId: string,
): AsyncGenerator<Close> {
  for (let offset = 0; ;) {
    const page = await client.listCloses(ledgerId, { offset, limit: pageLimit });
    yield* page.closes;
    if (!page.hasMore || page.closes.length === 0) return;
    offset += page.closes.length;
  }
}
