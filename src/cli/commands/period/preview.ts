// `period preview`: what a close would do, and what somebody should know before it is made.
import type { LedgerClient, ClosePreview } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { readPeriodLabel, type Period } from "../../../core/period.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { requireLabel, requireMoment } from "../../input/arguments.ts";
import { balanceTable, sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { counted } from "../../terminal/counted.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import type { Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import { attentionTo } from "./attention.ts";
import { allCloses } from "./find-close.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";

export interface PeriodFlags extends ServiceFlags {
  startsAt?: string;
  endsAt?: string;
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
      const exponent = exponentOf(functionalCurrency);
      const closes = await allCloses(client, id);
      const attention = attentionTo(output, preview, exponent, closes);
      output.result({ ...preview, attention }, () =>
        describePreview(output, preview, exponent, attention),
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
 * The preview for people: bounds, trial balance, postings, and what `attentionTo` has to say. `exponent`: that of the
 * functional currency.
 */
export function describePreview(
  output: Output,
  preview: ClosePreview,
  exponent: number,
  attention: readonly string[],
): string {
  const { periodId, startsAt, endsAt, entryCount } = preview;
  const bounds = `from ${startsAt ?? "the beginning"} up to ${endsAt}`;
  return [
    `${printable(periodId)}, ${bounds}: ${counted(entryCount, "entry", "entries")}`,
    ...(preview.accounts.length > 0 ? [balanceTable(output, preview, exponent)] : []),
    ...describePostings(output, preview, exponent),
    ...describeClose(preview),
    ...attention,
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
