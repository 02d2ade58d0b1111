// `period close`: shows what it would do and asks first, because it can't be undone.
import {
  ServiceProblem,
  type ClosePreview,
  type LedgerClient,
} from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { confirm, isTerminal } from "../../terminal/confirm.ts";
import { Output } from "../../terminal/output.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { closesOf } from "./find-close.ts";
import {
  attentionTo,
  describePreview,
  noDate,
  readPreview,
  requirePeriod,
  stillToCome,
  type PeriodFlags,
  type RequestedPeriod,
} from "./preview.ts";

export interface CloseFlags extends PeriodFlags {
  reason?: string;
  yes?: boolean;
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
      const isStored = await whereReadable(() => isClosed(client, id, period.periodId));
      // Closing again does nothing: there is nothing to ask.
      if (!isStored && isAsked) {
        await showPreview(client, id, period);
        await confirm(question, false);
      } else if (!isStored) {
        const shown = new Output({ quiet: output.isQuiet }, true);
        for (const line of await readAttention(client, id, period, shown)) shown.note(line);
      }
      const { periodId, startsAt, endsAt } = period;
      const reason = flags.reason ?? null;
      const close = await client.closePeriod(id, { periodId, startsAt, endsAt, reason });
      if (isStored) {
        const by = `close ${close.number} (${close.closeId})`;
        output.note(
          `${JSON.stringify(close.periodId)} WAS CLOSED ALREADY, at ${close.closedAt} by ${by}. Nothing was done now; ` +
            "bounds and reason are the ones of then.",
        );
      }
      output.created(close, ({ closeId }) => closeId);
    },
    { timeoutMs: sumTimeoutMs },
  );
}

async function isClosed(client: LedgerClient, ledgerId: string, label: string): Promise<boolean> {
  for await (const { periodId } of closesOf(client, ledgerId)) if (periodId === label) return true;
  return false;
}

/** On stderr, with the question: stdout has the record alone. */
async function showPreview(
  client: LedgerClient,
  ledgerId: string,
  period: RequestedPeriod,
): Promise<void> {
  const output = new Output({}, true);
  const preview = await whereReadable(() => readPreview(client, ledgerId, period));
  if (preview === null) {
    output.note("no preview: the API key may close, but not read");
    return;
  }
  const exponent = await exponentShown(client, output, preview);
  output.note(`${describePreview(output, preview, exponent)}\n`);
}

/** What to look at where nobody is asked; of a key that may not read, as far as the label and the bounds say it. */
async function readAttention(
  client: LedgerClient,
  ledgerId: string,
  period: RequestedPeriod,
  output: Output,
): Promise<string[]> {
  const preview = await whereReadable(() => readPreview(client, ledgerId, period));
  if (preview !== null) {
    return attentionTo(output, preview, await exponentShown(client, output, preview));
  }
  const closesToDate = period.ownBounds === null && period.endsAt === null;
  return [
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
