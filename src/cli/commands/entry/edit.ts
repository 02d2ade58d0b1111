// `entry post --edit`: the entry in the user's editor, until it can be posted or is cancelled.
import { randomUUID } from "node:crypto";
import type { EntryInput, EntryLineInput } from "../../../client/ledger-client.ts";
import { ServiceProblem } from "../../../client/ledger-client.ts";
import { messageOf } from "../../../core/thrown.ts";
import type { Exponents } from "../../connection/exponents.ts";
import type { ServiceContext } from "../../connection/service-context.ts";
import {
  CommandFailure,
  exitCodes,
  HintedFailure,
  usageFailure,
  type ExitCode,
} from "../../failure.ts";
import type { CurrencyFlags } from "../../input/currency-guard.ts";
import { amountsOfLine } from "../../input/typed-amount.ts";
import { withEditor } from "../../terminal/editor.ts";
import { toJson } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import { checkEntry, findFaults } from "./dry-run.ts";
import { isEmptied, readEditedEntry, type EditedEntry, type EditFault } from "./edited-entry.ts";
import { postOne } from "./post-one.ts";
import { noteWorth, sumFault } from "./worth-notes.ts";
import { writeEntry } from "./written-entry.ts";

export interface EditFlags extends CurrencyFlags {
  dryRun?: boolean;
  /** A command of the shell; null: the usual one. */
  editor: string | null;
}

interface LedgerCurrencies {
  readonly functionalCurrency: string;
  readonly exponents: Exponents;
}

/** What became of a text: done, or what is wrong with it and what the command fails with if it stays so. */
type Attempt =
  | { readonly code: ExitCode; readonly faults?: never }
  | { readonly faults: readonly EditFault[]; readonly failure: Error; readonly code?: never };

const outcome = "nothing was posted";
/** Marks what is wrong, above the text. */
const faultMark = "#! ";

/**
 * Opens the editor with the entry, and posts what it ends with. What is wrong is said at the top, and the editor opens
 * again, until it is mended, the file is emptied (exit code 1), or it comes back as it was.
 */
export async function editEntry(
  context: ServiceContext,
  flags: EditFlags,
  entry: EntryInput,
  currencies: LedgerCurrencies,
): Promise<ExitCode> {
  const { client, ledgerId } = context;
  // Whatever happens to an answer: the same entry is posted under the same id.
  const externalId = entry.externalId ?? randomUUID();
  const accounts = await client.listAccounts(ledgerId());
  const { functionalCurrency, exponents } = currencies;
  const first = writeEntry(entry, functionalCurrency, exponents.of, accounts);
  const attempt = attempting(context, flags, externalId, currencies);
  return withEditor(flags.editor, outcome, async (edit) => {
    let shown = first;
    let before: { text: string; failure: Error | null } = { text: first, failure: null };
    for (;;) {
      const text = withoutFaults(await edit(shown));
      const isUntouched = text === before.text;
      if (isEmptied(text) || (isUntouched && text === first && entry.lines.length === 0)) {
        throw new CommandFailure(outcome, exitCodes.failed);
      }
      if (isUntouched && before.failure !== null) throw before.failure;
      const tried = await attempt(text);
      if (tried.code !== undefined) return tried.code;
      before = { text, failure: tried.failure };
      shown = withFaults(text, tried.faults);
    }
  });
}

function withoutFaults(text: string): string {
  return text
    .split("\n")
    .filter((line) => !line.startsWith(faultMark.trim()))
    .join("\n");
}

function withFaults(text: string, faults: readonly EditFault[]): string {
  const title = faults.length === 1 ? "This is wrong:" : `These ${faults.length} things are wrong:`;
  // Lines are counted as they are shown.
  const above = faults.length + 1;
  const told = faults.map(({ line, detail }) => {
    const place = line === null ? "" : `line ${line + above}: `;
    return place + printable(detail.replaceAll(/\s*\n\s*/g, " "));
  });
  return [title, ...told].map((line) => `${faultMark}${line}\n`).join("") + text;
}

/** Tries a text: reads, checks and posts it. Throws what the text is not to blame for, once it has said what was typed. */
function attempting(
  context: ServiceContext,
  flags: EditFlags,
  externalId: string,
  { functionalCurrency, exponents }: LedgerCurrencies,
): (text: string) => Promise<Attempt> {
  const { output } = context;
  return async (text) => {
    const read = readEditedEntry(text, flags);
    const units = { functionalCurrency, exponentOf: exponents.of, isMajor: true };
    let entry: EntryInput | null = null;
    try {
      await exponents.learn(read.lines.flatMap(({ amount }) => amount.currency ?? []));
      const { lines, faults } = linesOf(read, units);
      if (faults.length > 0) return faulty(faults);
      entry = { externalId, ...read.labels, lines };
      const found = findFaults(entry, functionalCurrency);
      if (found.length > 0) return faulty(found.map((fault) => placed(read, fault)));
      noteWorth(output, entry, units);
      if (flags.dryRun === true) return { code: checkEntry(entry, functionalCurrency, output) };
      await postOne(context, entry);
      return { code: exitCodes.done };
    } catch (error) {
      const faults = error instanceof Error ? faultsOfRefusal(read, error) : null;
      if (faults !== null) return { faults, failure: error as Error };
      output.warn(
        entry === null
          ? `${outcome}; this was typed:\n${text}`
          : `this was typed; \`ledgerctl entry post -\` takes it, and posts it once:\n${toJson(entry)}`,
      );
      throw error;
    }
  };
}

function faulty(faults: readonly EditFault[]): Attempt {
  const told = faults.map(({ detail }) => detail).join("\n");
  return { faults, failure: usageFailure(`${outcome}:\n${told}`) };
}

/** The lines in smallest units, or all that is wrong with the text. */
function linesOf(
  read: EditedEntry,
  units: Parameters<typeof amountsOfLine>[2],
): { lines: EntryLineInput[]; faults: readonly EditFault[] } {
  const faults = [...read.faults];
  const lines = read.lines.flatMap(({ glAccountCode, amount, description, at }) => {
    try {
      const amounts = amountsOfLine(glAccountCode, amount, units);
      return [{ glAccountCode, ...amounts, ...(description === null ? {} : { description }) }];
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      faults.push({ line: at, detail: messageOf(error) });
      return [];
    }
  });
  const ofSum = faults.length === 0 ? sumFault(lines, units) : null;
  if (ofSum !== null) faults.push({ line: null, detail: ofSum });
  return { lines, faults: faults.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

/** What the service refuses and another text may mend: faults of the body, dates in closed periods, ids in use. */
function faultsOfRefusal(read: EditedEntry, error: Error): readonly EditFault[] | null {
  const hint = error instanceof HintedFailure ? error.hint : null;
  const cause = error instanceof HintedFailure ? error.cause : error;
  const isMendable =
    cause instanceof ServiceProblem && ([400, 413].includes(cause.status) || isOfEntry(cause));
  if (!isMendable) return null;
  const { errors = [] } = cause.problem;
  const faults =
    errors.length === 0
      ? [{ line: null, detail: cause.message }]
      : errors.map(({ pointer, detail }) => placed(read, { place: pointer ?? "", detail }));
  return hint === null ? faults : [...faults, { line: null, detail: hint }];
}

function isOfEntry({ code }: ServiceProblem): boolean {
  return code === "PERIOD_CLOSED" || code === "DUPLICATE_ENTRY";
}

function placed(
  { placeOf }: EditedEntry,
  { place, detail }: { readonly place: string; readonly detail: string },
): EditFault {
  const line = placeOf(place);
  return { line, detail: line === null && place !== "" ? `${place}: ${detail}` : detail };
}
