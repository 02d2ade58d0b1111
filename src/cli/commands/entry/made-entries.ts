// Entries that a command makes itself, from what the books hold: each under an id that says what it is for, so that
// nobody posts the same twice, not even two at once.
import {
  ServiceProblem,
  type EntryInput,
  type EntryLineInput,
  type LedgerClient,
} from "../../../client/ledger-client.ts";
import { linesMax } from "../../../core/journal.ts";
import type { ServiceContext } from "../../connection/service-context.ts";
import { CommandFailure, exitCodes, HintedFailure, type ExitCode } from "../../failure.ts";
import { postOne } from "./post-one.ts";

/** An entry before it is clear which number it gets. */
export type MadeEntry = Omit<EntryInput, "externalId">;

/** Lines that have to be in one entry, because they are of one account and currency. */
export type LineGroup = readonly EntryLineInput[];

const attemptsMax = 5;

/** The least number of 1, 2, 3 … with which `<prefix>:<number>` is the externalId of no entry. */
export async function nextNumber(
  client: Pick<LedgerClient, "listEntries">,
  ledgerId: string,
  prefix: string,
): Promise<number> {
  for (let number = 1; ; number += 1) {
    const externalId = `${prefix}:${number}`;
    const { entries } = await client.listEntries(ledgerId, { externalId, limit: 1 });
    if (entries.length === 0) return number;
  }
}

/**
 * Posts the entries that `make` makes from the books as they are, in order, under the next numbers of `prefix`. Where
 * somebody else takes such a number meanwhile, they are made again, from the books with that entry. Resolves with 0, also
 * where there is nothing to post. With `isDryRun` they are checked and printed.
 */
export async function postMade(
  context: ServiceContext,
  { prefix, isDryRun }: { readonly prefix: string; readonly isDryRun: boolean },
  make: () => Promise<readonly MadeEntry[]>,
): Promise<ExitCode> {
  const { client, ledgerId } = context;
  for (let attempt = 1; ; attempt += 1) {
    // Before the books are read: an entry that takes the number later is not in them.
    const first = await nextNumber(client, ledgerId(), prefix);
    const made = await make();
    const entries = made.map((entry, index) => ({
      externalId: `${prefix}:${first + index}`,
      ...entry,
    }));
    if (isDryRun) return checkMade(context, entries);
    try {
      for (const entry of entries) await postOne(context, entry);
      return exitCodes.done;
    } catch (error) {
      if (isOfClosedPeriod(error)) throw new HintedFailure(error, otherDateHint);
      if (!isTaken(error)) throw error;
      if (attempt === attemptsMax) throw busyFailure(prefix);
    }
  }
}

async function checkMade(
  { client, ledgerId, output }: ServiceContext,
  entries: readonly EntryInput[],
): Promise<ExitCode> {
  const { functionalCurrency } = await client.getLedger(ledgerId());
  const { checkEntry } = await import("./dry-run.ts");
  const codes = entries.map((entry) => checkEntry(entry, functionalCurrency, output));
  return codes.find((code) => code !== exitCodes.done) ?? exitCodes.done;
}

function isTaken(error: unknown): boolean {
  return error instanceof ServiceProblem && error.code === "DUPLICATE_ENTRY";
}

function isOfClosedPeriod(error: unknown): boolean {
  return error instanceof ServiceProblem && error.code === "PERIOD_CLOSED";
}

/** The command dates its entries itself. */
const otherDateHint =
  "`--dry-run` prints what would be posted: with a transactionDate in an open period, `ledgerctl entry post -` takes it.";

function busyFailure(prefix: string): CommandFailure {
  return new CommandFailure(
    `others post entries under ${prefix} at the same time, each time that this is tried; try again later`,
    exitCodes.conflict,
  );
}

/** Groups of lines divided so that an entry of them still takes `more` lines. */
export function divideLines(groups: readonly LineGroup[], more: number): EntryLineInput[][] {
  const entries: EntryLineInput[][] = [];
  let last: EntryLineInput[] = [];
  for (const group of groups) {
    if (last.length === 0 || last.length + group.length > linesMax - more) {
      last = [];
      entries.push(last);
    }
    last.push(...group);
  }
  return entries;
}

/** The sum of what lines are worth. */
export function valueOf(lines: readonly EntryLineInput[]): bigint {
  return lines.reduce((sum, { functionalAmount }) => sum + BigInt(functionalAmount), 0n);
}
