// `period close`: asks first, because it can't be undone.
import type { Environment } from "../../../config.ts";
import { readPeriodLabel } from "../../../core/period.ts";
import { requireLabel, requireMoment } from "../../arguments.ts";
import { confirm } from "../../confirm.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../options.ts";
import { withService } from "../../service-context.ts";

export interface CloseFlags extends ServiceFlags {
  reason?: string;
  startsAt?: string;
  endsAt?: string;
  yes?: boolean;
}

export async function closePeriod(
  label: string,
  flags: CloseFlags,
  environment: Environment,
): Promise<void> {
  const periodId = requireLabel("P", label);
  const bounds = {
    startsAt: flags.startsAt === undefined ? null : requireMoment("--starts-at", flags.startsAt),
    endsAt: flags.endsAt === undefined ? null : requireMoment("--ends-at", flags.endsAt),
  };
  const what = describePeriod(periodId, bounds);
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const id = ledgerId();
    await confirm(`Close ${what}, for good?`, flags.yes);
    const close = await client.closePeriod(id, {
      periodId,
      reason: flags.reason ?? null,
      ...bounds,
    });
    output.created(close, ({ closeId }) => closeId);
  });
}

/** What would be closed, in words: what is no date closes everything up to now, and has to say so. */
function describePeriod(
  periodId: string,
  { startsAt, endsAt }: { startsAt: string | null; endsAt: string | null },
): string {
  const meaning = readPeriodLabel(periodId);
  if (typeof meaning === "object" && "fault" in meaning) {
    throw usageFailure(`${JSON.stringify(periodId)} ${meaning.fault}`);
  }
  const own =
    meaning === "toDate"
      ? { startsAt: "the end of what is closed", endsAt: "THIS MOMENT (the label is no date)" }
      : meaning;
  return `${JSON.stringify(periodId)}, from ${startsAt ?? own.startsAt ?? "the beginning"} up to ${endsAt ?? own.endsAt}`;
}
