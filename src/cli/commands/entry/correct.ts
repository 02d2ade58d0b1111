// `entry correct`: undoes an entry of a closed period in an open one.
import type { Environment } from "../../../config.ts";
import {
  ServiceProblem,
  type Entry,
  type EntryInput,
  type LedgerClient,
} from "../../../client/ledger-client.ts";
import { descriptionCodePointsMax } from "../../../core/text.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { requireEntryId, requireMoment } from "../../input/arguments.ts";
import { CommandFailure, exitCodes, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { closesOf } from "../period/find-close.ts";
import { nextNumber } from "./made-entries.ts";
import { postOne } from "./post-one.ts";
import { asInput, negated } from "./stored-lines.ts";

export interface CorrectFlags extends ServiceFlags {
  date?: string;
  reason?: string;
  again?: boolean;
  dryRun?: boolean;
}

export async function correctEntry(
  entryId: string,
  flags: CorrectFlags,
  environment: Environment,
): Promise<ExitCode> {
  const original = requireEntryId(entryId);
  const date = flags.date === undefined ? null : requireMoment("--date", flags.date);
  return withService(flags, environment, async (context) => {
    const { client, ledgerId, output } = context;
    const id = ledgerId();
    const entry = await client.getEntry(id, original);
    await refusePosting(client, id, entry);
    if (flags.again !== true) refuseReversed(entry);
    const prefix = `correct:${entry.journalId}`;
    // One number for all who correct it for the first time: the service takes one of them.
    const number = flags.again === true ? await nextNumber(client, id, prefix) : 1;
    const correction = {
      externalId: `${prefix}:${number}`,
      entryType: await typeOf(client, id, entry),
      ...correctionOf(entry, flags.reason),
      ...(date === null ? {} : { transactionDate: date }),
    };
    if (flags.dryRun === true) {
      const { checkEntry } = await import("./dry-run.ts");
      return checkEntry(correction, entry.lines[0]?.functionalCurrency ?? null, output);
    }
    if (!(await isInClosedPeriod(client, id, entry))) {
      output.note(
        "the entry is in an open period: `ledgerctl entry reverse` would have undone it there, and marked it as reversed",
      );
    }
    await postFirst(context, entry, correction);
    return exitCodes.done;
  });
}

/** What undoes a closing entry is one, too, as it would be with a reversal: income statements leave out both. */
async function typeOf(
  client: LedgerClient,
  ledgerId: string,
  { entryType, reversesJournalId }: Entry,
): Promise<"ADJUSTING" | "CLOSING"> {
  const undone =
    reversesJournalId === null
      ? entryType
      : (await client.getEntry(ledgerId, reversesJournalId)).entryType;
  return undone === "CLOSING" ? "CLOSING" : "ADJUSTING";
}

/** The entry with every amount negated. */
function correctionOf(
  entry: Entry,
  reason: string | undefined,
): Pick<EntryInput, "description" | "metadata" | "lines"> {
  return {
    description: reason ?? describeCorrection(entry),
    metadata: { correctsJournalId: entry.journalId },
    lines: entry.lines.map((line) => negated(asInput(line))),
  };
}

function describeCorrection({ sequence, transactionDate, description }: Entry): string {
  const text = `Correction of entry ${sequence} of ${transactionDate.slice(0, 10)}`;
  const whole = description === null ? text : `${text}: ${description}`;
  return Array.from(whole).slice(0, descriptionCodePointsMax).join("");
}

/** What wallets hold is what was posted for them: their service keeps both alike. */
async function refusePosting(client: LedgerClient, ledgerId: string, entry: Entry): Promise<void> {
  const { total } = await client.listPostedWrites(ledgerId, entry.journalId, { limit: 1 });
  if (total === 0) return;
  throw new CommandFailure(
    `entry ${entry.journalId} posts what wallets accepted; credit or debit the wallets to correct it`,
    exitCodes.conflict,
  );
}

/** An entry that was reversed and is corrected as well would be undone twice. */
function refuseReversed({ journalId, reversedByJournalId }: Entry): void {
  if (reversedByJournalId === null) return;
  throw new CommandFailure(
    `entry ${journalId} was reversed, by entry ${reversedByJournalId}: there is nothing left to correct; --again ` +
      "posts it all the same",
    exitCodes.conflict,
  );
}

async function isInClosedPeriod(
  client: LedgerClient,
  ledgerId: string,
  { transactionDate }: Entry,
): Promise<boolean> {
  for await (const { startsAt, endsAt } of closesOf(client, ledgerId)) {
    if ((startsAt ?? "") <= transactionDate && transactionDate < endsAt) return true;
  }
  return false;
}

async function postFirst(
  context: ServiceContext,
  { journalId }: Entry,
  correction: EntryInput,
): Promise<void> {
  try {
    await postOne(context, correction);
  } catch (error) {
    const first = error instanceof ServiceProblem ? error.problem : {};
    if (first.code !== "DUPLICATE_ENTRY") throw error;
    throw new CommandFailure(
      `entry ${journalId} was corrected already, by entry ${first.journalId ?? "unknown"}; --again corrects it once more`,
      exitCodes.conflict,
      error,
    );
  }
}
