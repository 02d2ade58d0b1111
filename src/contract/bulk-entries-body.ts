// The body of a post of many entries: read as a whole first, then entry by entry.
import * as z from "zod";
import {
  faultsMax,
  refusalBelow,
  validationRefusal,
  type Fault,
  type Refusal,
} from "../core/errors.ts";
import type { EntryDraft } from "../core/journal.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import { entryBody, parseEntryBody, type ParsedEntry } from "./entry-body.ts";
import { numbersMax, type ExactJson, type NumberToken } from "./exact-json.ts";
import { bulkItemsMax, optional } from "./field-schemas.ts";
import { parseBy } from "./schema-faults.ts";

/** Of faults of entries in one answer; where there are more, later entries report one each. */
const entryFaultsMax = 1000;

function bodyOf(entry: z.ZodType) {
  return z.strictObject(
    {
      entries: z
        .array(entry, {
          error: ({ input }) =>
            input === undefined || input === null ? "is required" : "must be an array of entries",
        })
        .min(1, { error: "must have at least one entry" })
        .max(bulkItemsMax, { error: `must have at most ${bulkItemsMax} entries` }),
      atomic: optional(z.boolean({ error: "must be true or false" })),
    },
    { error: "must be a JSON object" },
  );
}

/** What the body has to be, entries included. */
export const entriesBody = bodyOf(entryBody);

/** What it has to be as a whole: its entries are judged one by one. */
const looseBody = bodyOf(z.unknown());

/** Each entry of a bulk: a faulty one does not spoil the others. Throws `validation` for the body as a whole. */
export function parseEntriesBody(
  body: ExactJson | null,
  ledger: Pick<LedgerIdentity, "functionalCurrency">,
) {
  const { entries, atomic } = parseBy(looseBody, body?.value);
  return {
    /** Whether all of them are posted or none. */
    isAtomic: atomic === true,
    count: entries.length,
    /** In order, each read when it is asked for; places of faults begin at the entry. */
    entries: readEntries(entries, body?.inexactNumbers ?? [], ledger),
  };
}

function* readEntries(
  values: readonly unknown[],
  inexactNumbers: readonly NumberToken[],
  ledger: Pick<LedgerIdentity, "functionalCurrency">,
): Generator<ParsedEntry> {
  const numbers = numbersByEntry(inexactNumbers);
  const scannedCount = scannedEntryCount(inexactNumbers);
  let faultsLeft = entryFaultsMax;
  for (const [index, value] of values.entries()) {
    const entry: ParsedEntry =
      index < scannedCount
        ? parseEntryBody({ value, inexactNumbers: numbers.get(index) ?? [] }, ledger)
        : { faults: [notScannedFault] };
    const faults = entry.faults?.slice(0, Math.max(1, Math.min(faultsMax, faultsLeft)));
    faultsLeft -= faults?.length ?? 0;
    yield faults === undefined ? entry : { faults };
  }
}

/**
 * The drafts of an atomic bulk. Throws the faults of the first entry that has any, placed in the
 * whole body. An externalId that two of them have is a fault of the second: nothing has used it yet.
 */
export function atomicDrafts(entries: readonly ParsedEntry[]): readonly EntryDraft[] {
  const drafts: EntryDraft[] = [];
  const places = new Map<string, number>();
  for (const [index, { value: draft, faults }] of entries.entries()) {
    if (faults !== undefined) throw faultyEntry(index, faults);
    const { externalId } = draft;
    const place = externalId === null ? undefined : places.get(externalId);
    if (place !== undefined) {
      const detail = `is the externalId of entries/${place}, too`;
      throw faultyEntry(index, [{ path: ["externalId"], detail }]);
    }
    if (externalId !== null) places.set(externalId, index);
    drafts.push(draft);
  }
  return drafts;
}

function faultyEntry(index: number, faults: readonly Fault[]): Refusal {
  return refusalBelow(["entries", index], validationRefusal(faults));
}

function numbersByEntry(numbers: readonly NumberToken[]): Map<number, NumberToken[]> {
  const byEntry = new Map<number, NumberToken[]>();
  for (const { path, text } of numbers) {
    const [, index, ...rest] = path;
    if (typeof index !== "number") continue;
    const own = byEntry.get(index) ?? [];
    own.push({ path: rest, text });
    byEntry.set(index, own);
  }
  return byEntry;
}

/** The search for inexact numbers ends after so many: no entry after the last was scanned. */
function scannedEntryCount(numbers: readonly NumberToken[]): number {
  if (numbers.length < numbersMax) return Infinity;
  const index = numbers.at(-1)?.path[1];
  return typeof index === "number" ? index : 0;
}

const notScannedFault: Fault = {
  path: [],
  detail:
    "was not looked at: this body has too many numbers that can't be held exactly; send them as strings",
};
