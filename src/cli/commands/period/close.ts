// `period close`: shows what it would do and asks first, because it can't be undone.
import { ServiceProblem, type LedgerClient } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { readPeriodLabel } from "../../../core/period.ts";
import { sumTimeoutMs } from "../../terminal/balance-tables.ts";
import { confirm, isTerminal } from "../../terminal/confirm.ts";
import { Output } from "../../terminal/output.ts";
import { withService } from "../../connection/service-context.ts";
import { closesOf } from "./find-close.ts";
import {
  describePreview,
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
      }
      if (!isStored && !isAsked && isStillToCome(period)) output.note(stillToCome);
      const close = await client.closePeriod(id, { ...period, reason: flags.reason ?? null });
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
  output.note(
    preview === null
      ? "no preview: the API key may close, but not read"
      : `${describePreview(output, preview)}\n`,
  );
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
function isStillToCome(period: RequestedPeriod): boolean {
  const meaning = readPeriodLabel(period.periodId);
  const own = typeof meaning === "object" && "endsAt" in meaning ? meaning.endsAt : null;
  const endsAt = period.endsAt ?? own;
  return endsAt !== null && endsAt > new Date().toISOString();
}

/** What would be closed, in words: what is no date closes everything up to now, and has to say so. */
function describePeriod({ periodId, startsAt, endsAt }: RequestedPeriod): string {
  const meaning = readPeriodLabel(periodId);
  if (typeof meaning === "object" && "fault" in meaning) throw new Error("labels were checked");
  const own =
    meaning === "toDate"
      ? { startsAt: "the end of what is closed", endsAt: "THIS MOMENT (the label is no date)" }
      : meaning;
  const future = isStillToCome({ periodId, startsAt, endsAt }) ? ", WHICH IS STILL TO COME" : "";
  return `${JSON.stringify(periodId)}, from ${startsAt ?? own.startsAt ?? "the beginning"} up to ${endsAt ?? own.endsAt}${future}`;
}
