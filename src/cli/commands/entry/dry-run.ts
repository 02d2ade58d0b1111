// `entry post --dry-run`: what would be sent goes to stdout, what is wrong with it to stderr. Accounts,
// duplicates and periods are the service's to know; all else is checked as the service does.
import { parseEntryBody } from "../../../contract/entry-body.ts";
import { jsonPointer, type Fault } from "../../../core/errors.ts";
import type { EntryInput, EntryLineInput } from "../../../contract/types.ts";
import { placeInCsv } from "../../input/entry-files/csv-columns.ts";
import type { FoundFault } from "../../input/entry-files/file-entry.ts";
import type { FileEntry } from "../../input/entry-files/open-entries.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import { toJson, type Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";

interface PlacedFault {
  /** A JSON pointer. */
  readonly place: string;
  readonly detail: string;
}

/** Checks entries one by one. The functional currency is null where the ledger was not asked. */
export async function checkEntries(
  entries: AsyncIterable<FileEntry | FoundFault>,
  functionalCurrency: string | null,
  output: Output,
): Promise<ExitCode> {
  let valid = 0;
  let invalid = 0;
  for await (const found of entries) {
    const faults =
      found.fault === undefined
        ? findFaults(found.body, functionalCurrency).map((fault) => inFile(found, fault))
        : [found.fault];
    if (found.fault === undefined && faults.length === 0) {
      valid += 1;
      output.line(toJson(found.body));
      await output.drained();
    } else {
      invalid += 1;
      for (const fault of faults) output.warn(printable(fault));
    }
  }
  const summary = `would post ${valid}, invalid ${invalid}; nothing was sent`;
  if (output.isJson && invalid > 0) output.failure(usageFailure(summary));
  else output.note(summary);
  return invalid === 0 ? exitCodes.done : exitCodes.usage;
}

export function checkEntry(
  body: EntryInput,
  functionalCurrency: string | null,
  output: Output,
): ExitCode {
  const faults = findFaults(body, functionalCurrency);
  const described = faults.map(({ place, detail }) => printable(`${place}: ${detail}`));
  if (faults.length === 0) output.line(toJson(body));
  else if (output.isJson) output.failure(usageFailure(described.join("\n")));
  else for (const fault of described) output.warn(fault);
  return faults.length === 0 ? exitCodes.done : exitCodes.usage;
}

/**
 * The faults that the service would find as well. Without the ledger's currency the entry passes if there
 * is a currency with which it would.
 */
export function findFaults(
  body: object,
  functionalCurrency: string | null,
): readonly PlacedFault[] {
  // Reading has seen to it that no number loses anything.
  const json = { value: body, inexactNumbers: [] };
  const currencies = functionalCurrency === null ? possibleCurrencies(body) : [functionalCurrency];
  let first: readonly Fault[] = [];
  for (const [index, currency] of currencies.entries()) {
    const { faults } = parseEntryBody(json, { functionalCurrency: currency });
    if (faults === undefined) return [];
    if (index === 0) first = faults;
  }
  return first.map((fault) => {
    const place = "path" in fault ? jsonPointer(fault.path) : fault.parameter;
    return { place, detail: fault.detail };
  });
}

function inFile({ line, rowLines }: FileEntry, { place, detail }: PlacedFault): string {
  if (rowLines === undefined) return `line ${line}: ${place}: ${detail}`;
  return `${placeInCsv({ line, rowLines }, place)}: ${detail}`;
}

/** What the ledger's currency may be: what a line says it is, else one of the entry's, or quite another. */
function possibleCurrencies(body: Partial<EntryInput>): readonly string[] {
  const lines: readonly Partial<EntryLineInput>[] = Array.isArray(body.lines) ? body.lines : [];
  const named = (member: "functionalCurrency" | "transactionCurrency"): string[] =>
    lines.flatMap((line: Partial<EntryLineInput> | null) => {
      const value: unknown = line?.[member];
      return typeof value === "string" ? [value] : [];
    });
  const [stated] = named("functionalCurrency");
  return stated === undefined ? ["", ...new Set(named("transactionCurrency"))] : [stated];
}
