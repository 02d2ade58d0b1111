// `period preview`: what a close would do, and what somebody should know before it is made.
import type { LedgerClient, ClosePreview } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { readPeriodLabel, type Period } from "../../../core/period.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { requireLabel, requireMoment } from "../../input/arguments.ts";
import { balanceTable, movedTable, sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { counted } from "../../terminal/counted.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import type { Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";

export interface PeriodFlags extends ServiceFlags {
  startsAt?: string;
  endsAt?: string;
}

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

/** A period that is to be closed; a bound of null is the label's own. */
export interface RequestedPeriod {
  readonly periodId: string;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  /** The bounds that the label means; null for one that is no date. */
  readonly ownBounds: Period | null;
}

/** Throws a usage failure for a label that looks like a date and is none, and for bounds that are no times. */
export function requirePeriod(label: string, flags: PeriodFlags): RequestedPeriod {
  const periodId = requireLabel("P", label);
  const meaning = readPeriodLabel(periodId);
  const ownBounds = meaning === "toDate" ? null : meaning;
  if (ownBounds !== null && "fault" in ownBounds) {
    throw usageFailure(`${JSON.stringify(periodId)} ${ownBounds.fault}`);
  }
  return {
    periodId,
    startsAt: flags.startsAt === undefined ? null : requireMoment("--starts-at", flags.startsAt),
    endsAt: flags.endsAt === undefined ? null : requireMoment("--ends-at", flags.endsAt),
    ownBounds,
  };
}

export async function previewPeriod(
  label: string,
  flags: PeriodFlags,
  environment: Environment,
): Promise<void> {
  const period = requirePeriod(label, flags);
  await withService(
    flags,
    environment,
    async ({ client, ledgerId, output }) => {
      const id = ledgerId();
      const preview = await readPreview(client, id, period);
      const { functionalCurrency } = preview;
      const exponentOf = await exponentsShown({ client, output }, id, [functionalCurrency]);
      output.result(preview, () =>
        describePreview(output, preview, exponentOf(functionalCurrency)),
      );
    },
    { timeoutMs: sumTimeoutMs },
  );
}

export function readPreview(
  client: LedgerClient,
  ledgerId: string,
  { periodId, startsAt, endsAt }: RequestedPeriod,
): Promise<ClosePreview> {
  return client.previewClose(ledgerId, {
    periodId,
    ...(startsAt === null ? {} : { startsAt }),
    ...(endsAt === null ? {} : { endsAt }),
  });
}

/**
 * The preview for people: bounds, trial balance, postings, and each thing to look at before closing. `exponent`: that of
 * the functional currency.
 */
export function describePreview(output: Output, preview: ClosePreview, exponent: number): string {
  const { periodId, startsAt, endsAt, entryCount } = preview;
  const bounds = `from ${startsAt ?? "the beginning"} up to ${endsAt}`;
  return [
    `${printable(periodId)}, ${bounds}: ${counted(entryCount, "entry", "entries")}`,
    ...(preview.accounts.length > 0 ? [balanceTable(output, preview, exponent)] : []),
    ...describePostings(output, preview, exponent),
    ...describeClose(preview),
    ...attentionTo(output, preview, exponent),
  ].join("\n\n");
}

function describePostings(output: Output, preview: ClosePreview, exponent: number): string[] {
  const { pendingPostings, functionalCurrency } = preview;
  if (pendingPostings.length === 0) return [];
  const table = output.table(pendingPostings, [
    { title: "ASSET", value: ({ assetCode }) => assetCode },
    { title: "DATE", value: ({ transactionDate }) => transactionDate },
    {
      title: "AMOUNT",
      align: "right",
      isAmount: true,
      value: ({ amount }) => displayAmount(amount, functionalCurrency, exponent),
    },
    { title: "WRITES", align: "right", value: ({ writes }) => String(writes) },
    { title: "WALLETS", align: "right", value: ({ wallets }) => String(wallets) },
    { title: "", value: ({ isInPeriod }) => (isInPeriod ? "" : "not in the period") },
  ]);
  return [`what wallets have pending is posted first:\n${table}`];
}

function describeClose({ close }: ClosePreview): string[] {
  if (close === null) return [];
  return [
    `ALREADY CLOSED at ${close.closedAt} by close ${close.number} (${close.closeId}): closing it again changes ` +
      "nothing and prints that record.",
  ];
}

/**
 * Each thing to look at before closing, in a line or a few that begin with ATTENTION. `exponent`: that of the functional
 * currency.
 */
export function attentionTo(output: Output, preview: ClosePreview, exponent: number): string[] {
  const { periodId, startsAt, assetsWithoutRate, earlierOpen, moved } = preview;
  const told: string[] = [];
  if (preview.closesToDate) told.push(noDate(periodId, startsAt ?? "the beginning"));
  if (preview.endsInFuture) told.push(stillToCome);
  if (assetsWithoutRate.length > 0) {
    told.push(
      `ATTENTION: what wallets accepted in ${assetsWithoutRate.join(", ")} waits for a rate and would not be in ` +
        "the close. `ledgerctl asset set CODE --rate R` sets it.",
    );
  }
  if (earlierOpen.length > 0) {
    const months = earlierOpen.map((month) => `${month.periodId} (${month.entryCount})`);
    told.push(
      `ATTENTION: earlier months have entries and are not closed: ${months.join(", ")}. ` +
        "The openings can still move.",
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
