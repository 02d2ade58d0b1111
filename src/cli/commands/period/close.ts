// `period close`: shows what it would do and asks first, because it can't be undone.
import { ServiceProblem, type LedgerClient } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { readPeriodLabel } from "../../../core/period.ts";
import { sumTimeoutMs } from "../../balance-tables.ts";
import { confirm, isTerminal } from "../../confirm.ts";
import { Output } from "../../output.ts";
import { withService } from "../../service-context.ts";
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
}

export async function closePeriod(
  label: string,
  flags: CloseFlags,
  environment: Environment,
): Promise<void> {
  const period = requirePeriod(label, flags);
  await withService(
    flags,
    environment,
    async ({ client, ledgerId, output }) => {
      const id = ledgerId();
      if (flags.yes !== true && isTerminal()) await showPreview(client, id, period);
      await confirm(`Close ${describePeriod(period)}, for good?`, flags.yes);
      const close = await client.closePeriod(id, { ...period, reason: flags.reason ?? null });
      output.created(close, ({ closeId }) => closeId);
    },
    { timeoutMs: sumTimeoutMs },
  );
}

/** On stderr, with the question: stdout has the record alone. */
async function showPreview(
  client: LedgerClient,
  ledgerId: string,
  period: RequestedPeriod,
): Promise<void> {
  const output = new Output({}, true);
  try {
    output.note(`${describePreview(output, await readPreview(client, ledgerId, period))}\n`);
  } catch (error) {
    // A key may close and not read.
    if (!(error instanceof ServiceProblem) || error.code !== "INSUFFICIENT_SCOPE") throw error;
    output.note(`no preview: ${error.message}`);
  }
}

/** What would be closed, in words: what is no date closes everything up to now, and has to say so. */
function describePeriod({ periodId, startsAt, endsAt }: RequestedPeriod): string {
  const meaning = readPeriodLabel(periodId);
  if (typeof meaning === "object" && "fault" in meaning) throw new Error("labels were checked");
  const own =
    meaning === "toDate"
      ? { startsAt: "the end of what is closed", endsAt: "THIS MOMENT (the label is no date)" }
      : meaning;
  return `${JSON.stringify(periodId)}, from ${startsAt ?? own.startsAt ?? "the beginning"} up to ${endsAt ?? own.endsAt}`;
}
