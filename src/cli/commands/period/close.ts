// `period close`: shows what it would do and asks first, because it can't be undone.
import {
  ServiceProblem,
  type Close,
  type ClosePreview,
  type LedgerClient,
} from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { confirm, isTerminal } from "../../terminal/confirm.ts";
import type { Output } from "../../terminal/output.ts";
import { labelExamples } from "../../../core/period.ts";
import { usageFailure } from "../../failure.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { attentionTo, describeEarlierOpen, noDate, stillToCome } from "./attention.ts";
import { allCloses } from "./find-close.ts";
import {
  describePreview,
  readPreview,
  requirePeriod,
  type PeriodFlags,
  type RequestedPeriod,
} from "./preview.ts";

export interface CloseFlags extends PeriodFlags {
  reason?: string;
  yes?: boolean;
  toDate?: boolean;
  allowOpenEarlier?: boolean;
}

export async function closePeriod(
  label: string,
  flags: CloseFlags,
  environment: Environment,
): Promise<void> {
  const period = requirePeriod(label, flags);
  const question = `Close ${describePeriod(period)}, for good?`;
  const isAsked = flags.yes !== true && isTerminal();
  if (!isAsked) await confirm(question, flags.yes);
  await withService(
    flags,
    environment,
    async ({ client, ledgerId, output }) => {
      const id = ledgerId();
      const closes = await whereReadable(() => allCloses(client, id));
      const isStored = closes?.some(({ periodId }) => periodId === period.periodId) ?? false;
      // Closing again does nothing: there is nothing to ask, and nothing to look at.
      const attention = isStored ? [] : await lookAt(client, id, { period, closes, flags, output });
      if (!isStored && isAsked) await confirm(question, false);
      const { periodId, startsAt, endsAt } = period;
      const reason = flags.reason ?? null;
      const close = await client.closePeriod(id, { periodId, startsAt, endsAt, reason });
      if (isStored) output.note(closedAlready(close));
      output.created(output.isJson ? { ...close, attention } : close, ({ closeId }) => closeId);
    },
    { timeoutMs: sumTimeoutMs },
  );
}

interface CloseContext {
  readonly period: RequestedPeriod;
  /** Null where the key may not read. */
  readonly closes: readonly Close[] | null;
  readonly flags: CloseFlags;
  readonly output: Output;
}

/**
 * Shows what a close would do and all that there is to look at, which is the result: on stderr, also with `--quiet`; with
 * `--json` it is for the result alone. Throws a usage failure where it needs a flag that is not given.
 */
async function lookAt(
  client: LedgerClient,
  ledgerId: string,
  { period, closes, flags, output }: CloseContext,
): Promise<string[]> {
  const shown = output.forPeople;
  const preview = await whereReadable(() => readPreview(client, ledgerId, period));
  const exponent = preview === null ? 0 : await exponentShown(client, shown, preview);
  const attention =
    preview === null
      ? attentionUnread(period)
      : attentionTo(shown, preview, exponent, closes ?? []);
  if (flags.yes !== true && preview !== null) {
    shown.note(`${describePreview(shown, preview, exponent, attention)}\n`);
  } else if (!output.isJson) {
    for (const line of attention) shown.note(line);
  }
  requireFlags(period, preview, flags);
  return attention;
}

/** What a close of more than its label says has to be told by flags, so that nobody does it by a slip. */
function requireFlags(
  { periodId, ownBounds, endsAt }: RequestedPeriod,
  preview: ClosePreview | null,
  { toDate = false, allowOpenEarlier = false }: CloseFlags,
): void {
  const closesToDate = preview?.closesToDate ?? (ownBounds === null && endsAt === null);
  if (closesToDate && !toDate) {
    throw usageFailure(
      `${JSON.stringify(periodId)} is no date, so that everything up to now would be closed; --to-date says that this ` +
        `is meant. A period is one of ${labelExamples}, or has an --ends-at.`,
    );
  }
  const earlier = preview === null ? null : describeEarlierOpen(preview);
  if (earlier !== null && !allowOpenEarlier) {
    throw usageFailure(`${earlier}. Close them first, or say --allow-open-earlier.`);
  }
}

function closedAlready({ periodId, closedAt, number, closeId }: Close): string {
  return (
    `${JSON.stringify(periodId)} WAS CLOSED ALREADY, at ${closedAt} by close ${number} (${closeId}). Nothing was done ` +
    "now; bounds and reason are the ones of then."
  );
}

/** What there is to look at as far as the label and the bounds say it. */
function attentionUnread(period: RequestedPeriod): string[] {
  const closesToDate = period.ownBounds === null && period.endsAt === null;
  return [
    "ATTENTION: the API key may not read: whether earlier months are open, and what has moved, was not looked at.",
    ...(closesToDate ? [noDate(period.periodId, startOf(period))] : []),
    ...(isStillToCome(period) ? [stillToCome] : []),
  ];
}

/** The exponent with which the amounts of a preview are shown. */
async function exponentShown(
  client: LedgerClient,
  output: Output,
  { ledgerId, functionalCurrency }: ClosePreview,
): Promise<number> {
  const exponentOf = await exponentsShown({ client, output }, ledgerId, [functionalCurrency]);
  return exponentOf(functionalCurrency);
}

/** A key may close and not read: null then. */
async function whereReadable<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.code !== "INSUFFICIENT_SCOPE") throw error;
    return null;
  }
}

/** Whether a period ends in the future, by this machine's clock. */
function isStillToCome({ endsAt, ownBounds }: RequestedPeriod): boolean {
  return (endsAt ?? ownBounds?.endsAt ?? "") > new Date().toISOString();
}

/** What would be closed, in words: what is no date closes everything up to now, and has to say so. */
function describePeriod(period: RequestedPeriod): string {
  const { periodId, ownBounds } = period;
  const startsAt = startOf(period);
  const endsAt = period.endsAt ?? ownBounds?.endsAt ?? "THIS MOMENT (the label is no date)";
  const future = isStillToCome(period) ? ", WHICH IS STILL TO COME" : "";
  return `${JSON.stringify(periodId)}, from ${startsAt} up to ${endsAt}${future}`;
}

function startOf({ startsAt, ownBounds }: RequestedPeriod): string {
  if (startsAt !== null) return startsAt;
  return ownBounds === null ? "the end of what is closed" : (ownBounds.startsAt ?? "the beginning");
}
