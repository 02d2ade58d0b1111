// What somebody should know before a close is made, in lines that begin with ATTENTION.
import type { Close, ClosePreview } from "../../../client/ledger-client.ts";
import { describeUnknownCurrencies } from "../../input/currency-guard.ts";
import { movedTable } from "../../terminal/balance-tables.ts";
import type { Output } from "../../terminal/output.ts";

/** What closing a period means that has not ended. */
export const stillToCome =
  "ATTENTION: the period ends in the future. What is still to come in it could not be posted any more; what " +
  "wallets accept in it is dated after it.";

/** What closing means with a label that is no date. */
export function noDate(periodId: string, startsAt: string): string {
  return (
    `ATTENTION: ${JSON.stringify(periodId)} IS NO DATE. A close would take EVERYTHING from ${startsAt} up to the ` +
    "moment at which it is made."
  );
}

/** The months before a period that are open, with how many entries they have; null where there are none. */
export function describeEarlierOpen({ earlierOpen }: ClosePreview): string | null {
  if (earlierOpen.length === 0) return null;
  const months = earlierOpen.map((month) => `${month.periodId} (${month.entryCount})`);
  return `earlier months have entries and are not closed: ${months.join(", ")}`;
}

/**
 * Each thing to look at before closing, in a line or a few that begin with ATTENTION. `exponent`: that of the functional
 * currency; `closes`: those that the ledger has.
 */
export function attentionTo(
  output: Output,
  preview: ClosePreview,
  exponent: number,
  closes: readonly Close[],
): string[] {
  const { periodId, startsAt, assetsWithoutRate, moved } = preview;
  const earlier = describeEarlierOpen(preview);
  const unknown = describeUnknownCurrencies(preview.unknownCurrencies);
  const told: string[] = [];
  if (preview.closesToDate) told.push(noDate(periodId, startsAt ?? "the beginning"));
  if (preview.endsInFuture) told.push(stillToCome);
  if (assetsWithoutRate.length > 0) {
    told.push(
      `ATTENTION: what wallets accepted in ${assetsWithoutRate.join(", ")} waits for a rate and would not be in ` +
        "the close. `ledgerctl asset set CODE --rate R` sets it.",
    );
  }
  if (unknown !== null) told.push(`ATTENTION: ${unknown}.`);
  if (earlier !== null) told.push(`ATTENTION: ${earlier}. The openings can still move.`);
  const sameDays =
    preview.close === null ? closes.filter((close) => isSameInterval(close, preview)) : [];
  if (sameDays.length > 0) {
    const records = sameDays.map(
      (close) => `${JSON.stringify(close.periodId)} (close ${close.number})`,
    );
    told.push(
      `ATTENTION: the same days are closed already, as ${records.join(", ")}. A close under another label would be a ` +
        "second record of them.",
    );
  }
  for (const { periodId: closed, closedAt, accounts } of moved) {
    told.push(
      `ATTENTION: MOVED since ${JSON.stringify(closed)} was closed at ${closedAt}:\n` +
        movedTable(output, accounts, preview.functionalCurrency, exponent),
    );
  }
  return told;
}

function isSameInterval(left: Interval, right: Interval): boolean {
  return left.startsAt === right.startsAt && left.endsAt === right.endsAt;
}

type Interval = Pick<Close, "startsAt" | "endsAt">;
