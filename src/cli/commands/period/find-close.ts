// The closes of a ledger, and from the label of a period to its close.
import type { LedgerClient, Close } from "../../../client/ledger-client.ts";
import { readPeriodLabel } from "../../../core/period.ts";
import { pageLimit } from "../../connection/pages.ts";
import { notFoundFailure } from "../../failure.ts";
import { suggestion } from "../../input/suggestion.ts";

/**
 * The close of a period, by its exact label or by its closeId; else the one close of the days that the label means, as
 * `Oct 2026` means those of `2026-10`. Fails where there is none.
 */
export async function findClose(
  client: LedgerClient,
  ledgerId: string,
  period: string,
): Promise<Close> {
  const closes = await allCloses(client, ledgerId);
  const exact = closes.find(({ periodId, closeId }) => [periodId, closeId].includes(period));
  const [close, ...others] = exact === undefined ? closesOfDays(closes, period) : [exact];
  if (close !== undefined && others.length === 0) return close;
  const labels = closes.map(({ periodId }) => periodId);
  throw notFoundFailure(
    `${JSON.stringify(period)} is not closed in this ledger${suggestion(period, labels)}`,
  );
}

/** The closes of the days that a label means. */
function closesOfDays(closes: readonly Close[], label: string): Close[] {
  const meaning = readPeriodLabel(label);
  if (meaning === "toDate" || "fault" in meaning) return [];
  return closes.filter(
    ({ startsAt, endsAt }) => startsAt === meaning.startsAt && endsAt === meaning.endsAt,
  );
}

export async function allCloses(
  client: Pick<LedgerClient, "listCloses">,
  ledgerId: string,
): Promise<Close[]> {
  const closes: Close[] = [];
  for await (const close of closesOf(client, ledgerId)) closes.push(close);
  return closes;
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
