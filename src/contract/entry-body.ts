// Bodies of journal writes: from parsed JSON to a draft, or to every fault that it has.
import * as z from "zod";
import { jsonPointer, validationRefusal, type Fault } from "../core/errors.ts";
import {
  clientEntryTypes,
  isJsonObject,
  findAmountFaults,
  linesMax,
  linesMin,
  type EntryDraft,
  type JsonObject,
  type Line,
  type LineAmounts,
  type ReversalDraft,
} from "../core/journal.ts";
import { functionalCurrencyFaults } from "../core/journal-batch.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import type { ExactJson } from "./exact-json.ts";
import {
  description,
  functionalAmount,
  label,
  oneOf,
  optional,
  spotRate,
  timestamp,
  transactionAmount,
} from "./field-schemas.ts";
import { metadata } from "./metadata.ts";
import { faultsOf } from "./schema-faults.ts";

export const lineBody = z.strictObject(
  {
    glAccountCode: label,
    functionalAmount,
    functionalCurrency: optional(label),
    transactionAmount: optional(transactionAmount),
    transactionCurrency: optional(label),
    spotRate: optional(spotRate),
    description: optional(description),
  },
  { error: "must be a line: a JSON object" },
);

export const entryBody = z.strictObject(
  {
    externalId: optional(label),
    originSystem: optional(label),
    originAccount: optional(label),
    eventType: optional(label),
    description: optional(description),
    transactionDate: optional(timestamp),
    entryType: optional(
      oneOf(clientEntryTypes, (value) =>
        value === "REVERSAL"
          ? "must not be REVERSAL: a reversal is made with POST …/journal-entries/{entryId}/reversal"
          : null,
      ),
    ),
    postingStatus: optional(oneOf(["POSTED"])),
    metadata: optional(metadata),
    lines: z
      .array(lineBody, {
        error: ({ input }) =>
          input === undefined || input === null ? "is required" : "must be an array of lines",
      })
      .min(linesMin, { error: `must have at least ${linesMin} lines` })
      .max(linesMax, { error: `must have at most ${linesMax} lines` }),
  },
  { error: "must be a JSON object" },
);

export const reversalBody = z
  .strictObject(
    {
      externalId: optional(label),
      transactionDate: optional(timestamp),
      description: optional(description),
      reason: optional(description),
      metadata: optional(metadata),
    },
    { error: "must be a JSON object" },
  )
  .refine(({ description, reason }) => description === null || reason === null, {
    path: ["reason"],
    error: "must not be given beside description; they are one field",
  });

/** The draft of an entry, or what is wrong with its body. Not thrown: an entry may be one of many. */
export type ParsedEntry =
  | { readonly value: EntryDraft; readonly faults?: never }
  | { readonly value?: never; readonly faults: readonly Fault[] };

/**
 * Reads the body of a post into a draft, defaults filled in from the ledger. A functional currency
 * that is not the ledger's is left for core/journal-batch.ts to refuse, unless there are other faults to report.
 */
export function parseEntryBody(
  body: ExactJson,
  ledger: Pick<LedgerIdentity, "functionalCurrency">,
): ParsedEntry {
  const parsed = entryBody.safeParse(body.value);
  const lines = parsed.success ? parsed.data.lines : readableLines(body.value);
  const partial = lines.map((line) => partialLine(line, ledger));
  const faults = [...shapeFaults(parsed.error, body), ...findAmountFaults(partial)];
  if (!parsed.success || faults.length > 0) {
    const currencyFaults = partial.flatMap(({ functionalCurrency }, index) =>
      functionalCurrency === undefined
        ? []
        : functionalCurrencyFaults(ledger, functionalCurrency, index),
    );
    return { faults: [...faults, ...currencyFaults] };
  }
  const { entryType, metadata: data } = parsed.data;
  return {
    value: {
      externalId: parsed.data.externalId,
      originSystem: parsed.data.originSystem,
      originAccount: parsed.data.originAccount,
      eventType: parsed.data.eventType,
      description: parsed.data.description,
      transactionDate: parsed.data.transactionDate,
      entryType: entryType ?? "STANDARD",
      metadata: data ?? {},
      lines: parsed.data.lines.map((line) => lineOf(line, ledger.functionalCurrency)),
    },
  };
}

/** Reads the body of a reversal, null where the request had none. Throws `validation` with every fault. */
export function parseReversalBody(body: ExactJson | null, entryId: string | null): ReversalDraft {
  const parsed = reversalBody.safeParse(body === null ? {} : body.value);
  const faults = shapeFaults(parsed.error, body);
  if (!parsed.success || faults.length > 0) throw validationRefusal(faults);
  const { externalId, transactionDate, reason, metadata: data } = parsed.data;
  return {
    entryId,
    externalId,
    transactionDate,
    description: parsed.data.description ?? reason,
    metadata: data ?? {},
  };
}

type LineBody = z.infer<typeof lineBody>;

function lineOf(line: LineBody, ledgerCurrency: string): Line {
  return {
    glAccountCode: line.glAccountCode,
    description: line.description,
    transactionAmount: line.transactionAmount ?? line.functionalAmount,
    transactionCurrency: line.transactionCurrency ?? line.functionalCurrency ?? ledgerCurrency,
    functionalAmount: line.functionalAmount,
    functionalCurrency: line.functionalCurrency ?? ledgerCurrency,
    spotRate: line.spotRate,
  };
}

function partialLine(
  line: { [Name in keyof LineBody]?: LineBody[Name] | undefined },
  ledger: Pick<LedgerIdentity, "functionalCurrency">,
): LineAmounts {
  const functionalCurrency =
    line.functionalCurrency === null ? ledger.functionalCurrency : line.functionalCurrency;
  return {
    transactionAmount: line.transactionAmount,
    transactionCurrency:
      line.transactionCurrency === null ? functionalCurrency : line.transactionCurrency,
    functionalAmount: line.functionalAmount,
    functionalCurrency,
  };
}

/** The members of an ill-formed body's lines that are well-formed by themselves, so that sums can be checked too. */
function readableLines(body: unknown): { [Name in keyof LineBody]?: LineBody[Name] | undefined }[] {
  const lines: unknown = isJsonObject(body) ? body["lines"] : null;
  if (!Array.isArray(lines) || lines.length > linesMax) return [];
  const { transactionAmount, transactionCurrency, functionalAmount, functionalCurrency } =
    lineBody.shape;
  return lines.map((line: unknown) => {
    const members: Partial<JsonObject> = isJsonObject(line) ? line : {};
    return {
      transactionAmount: transactionAmount.safeParse(members["transactionAmount"]).data,
      transactionCurrency: transactionCurrency.safeParse(members["transactionCurrency"]).data,
      functionalAmount: functionalAmount.safeParse(members["functionalAmount"]).data,
      functionalCurrency: functionalCurrency.safeParse(members["functionalCurrency"]).data,
    };
  });
}

/**
 * What is wrong with each member by itself. Numbers are kept in metadata and spotRate alone; one that a
 * double would change there is a fault, unless the member is faulty anyway.
 */
function shapeFaults(error: z.ZodError | undefined, body: ExactJson | null): Fault[] {
  const faults = error === undefined ? [] : faultsOf(error);
  const places = new Set(faults.map((fault) => ("path" in fault ? jsonPointer(fault.path) : "")));
  for (const { path, text } of body?.inexactNumbers ?? []) {
    const isKept = path[0] === "metadata" || path.at(-1) === "spotRate";
    if (!isKept || places.has(jsonPointer(path))) continue;
    const number = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    faults.push({ path, detail: `${number} can't be held exactly; send it as a string` });
  }
  return faults;
}
