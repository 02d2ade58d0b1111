// Query parameters of the routes: texts in, values out. Parameters that a route does not know are ignored.
import * as z from "zod";
import { validationRefusal, type Fault } from "../core/errors.ts";
import { entryTypes } from "../core/journal.ts";
import { closeLabel, label, oneOf, timestamp } from "./field-schemas.ts";
import { assetCode } from "./wallet-body.ts";

const pageLimitDefault = 50;
const pageLimitMax = 100;

export const optionalParameter = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value ?? null);

/** A number from `minimum` on, which JSON Schema calls an integer although it travels as text. */
const wholeNumber = (documented: { minimum: number; maximum?: number; description?: string }) =>
  z
    .string({ error: "is required" })
    .regex(/^[0-9]+$/, { error: "must be a whole number" })
    .meta({ type: "integer", ...documented, pattern: undefined })
    .transform(Number);

/** Anything over the maximum is taken as the maximum. */
export const limit = wholeNumber({
  minimum: 1,
  description: `how many at most: ${pageLimitDefault} unless given, never more than ${pageLimitMax}`,
})
  .refine((value) => value > 0, { error: "must be above zero" })
  .transform((value) => Math.min(value, pageLimitMax))
  .optional()
  .transform((value) => value ?? pageLimitDefault);

const positionFrom = (minimum: number) =>
  wholeNumber({ minimum, maximum: Number.MAX_SAFE_INTEGER }).refine(
    (value) => value <= Number.MAX_SAFE_INTEGER,
    { error: "must be at most 9007199254740991" },
  );

const position = positionFrom(0);

export const noQuery = z.object({});

export const accountsQuery = z.object({
  activeOnly: z
    .enum(["true", "false"], { error: "must be true or false" })
    .optional()
    .transform((value) => value === "true"),
});

export const balanceQuery = z.object({
  account: label,
  currency: optionalParameter(label),
  asOf: optionalParameter(timestamp),
});

/** Of a line, without its sign. */
const lineAmount = z
  .string()
  .regex(/^[1-9][0-9]{0,37}$/, {
    error: "must be a whole number above zero, in smallest units, of at most 38 digits",
  })
  .transform(BigInt);

export const entriesQuery = z
  .object({
    limit,
    offset: optionalParameter(position),
    after: optionalParameter(position),
    from: optionalParameter(timestamp),
    to: optionalParameter(timestamp),
    periodId: optionalParameter(label),
    externalId: optionalParameter(label),
    glAccountCode: optionalParameter(label),
    text: optionalParameter(label),
    amount: optionalParameter(lineAmount),
    minAmount: optionalParameter(lineAmount),
    maxAmount: optionalParameter(lineAmount),
    entryType: optionalParameter(oneOf(entryTypes)),
    order: oneOf(["sequence", "date"])
      .optional()
      .transform((value) => value ?? "sequence"),
    direction: oneOf(["asc", "desc"])
      .optional()
      .transform((value) => value ?? "asc"),
  })
  .refine(({ offset, after }) => offset === null || after === null, {
    path: ["after"],
    error: "must not be given beside offset",
  })
  .refine(({ after, order }) => after === null || order === "sequence", {
    path: ["after"],
    error: "is a sequence, and must not be given beside order=date; use offset",
  })
  .refine(
    ({ amount, minAmount, maxAmount }) =>
      amount === null || (minAmount === null && maxAmount === null),
    { path: ["amount"], error: "must not be given beside minAmount or maxAmount" },
  )
  .refine(
    ({ minAmount, maxAmount }) =>
      minAmount === null || maxAmount === null || minAmount <= maxAmount,
    { path: ["maxAmount"], error: "must not be smaller than minAmount" },
  );

export const historyQuery = z.object({ limit, after: optionalParameter(position) });

export const walletsQuery = z.object({
  limit,
  prefix: optionalParameter(label),
  assetCode: optionalParameter(assetCode),
  cursor: optionalParameter(z.string()),
});

/** Of a list that has nothing to filter by. */
export const pageQuery = z.object({ limit, offset: optionalParameter(position) });

export const trialBalanceQuery = z
  .object({ asOf: optionalParameter(timestamp), periodId: optionalParameter(label) })
  .refine(({ asOf, periodId }) => asOf === null || periodId === null, {
    path: ["periodId"],
    error: "must not be given beside asOf",
  });

export const previewQuery = z
  .object({
    periodId: closeLabel,
    startsAt: optionalParameter(timestamp),
    endsAt: optionalParameter(timestamp),
  })
  .refine(({ startsAt, endsAt }) => startsAt === null || endsAt === null || startsAt < endsAt, {
    path: ["endsAt"],
    error: "must be later than startsAt",
  });

export const proofQuery = z.object({ entryId: z.string({ error: "is required" }) });

/** Of a tree: its number of leaves. */
const treeSize = positionFrom(1).refine((value) => value > 0, { error: "must be above zero" });

export const checkpointQuery = z
  .object({
    size: optionalParameter(treeSize),
    cosigned: z
      .enum(["true", "false"], { error: "must be true or false" })
      .optional()
      .transform((value) => value === "true"),
    origin: optionalParameter(z.string()),
  })
  .refine(({ size, cosigned }) => size === null || !cosigned, {
    path: ["cosigned"],
    error: "must not be given beside size",
  });

export const checkpointsQuery = z.object({
  limit,
  offset: optionalParameter(position),
  origin: optionalParameter(z.string()),
});

export const consistencyQuery = z
  .object({
    from: treeSize,
    to: treeSize,
  })
  .refine(({ from, to }) => from <= to, { path: ["to"], error: "must not be smaller than from" });

export const logProofQuery = z
  .object({
    entryId: optionalParameter(z.string()),
    closeId: optionalParameter(z.string()),
    size: optionalParameter(treeSize),
  })
  .refine(({ entryId, closeId }) => (entryId === null) !== (closeId === null), {
    path: ["entryId"],
    error: "or closeId must be given, and not both",
  });

export const streamQuery = z.object({ since: optionalParameter(position) });

/**
 * Reads the query of a request target (`?` excluded) after application/x-www-form-urlencoded. A known
 * parameter that repeats, or whose escapes are broken, is a fault. Throws `validation` with every fault.
 */
export function parseQuery<Schema extends z.ZodType>(
  schema: Schema,
  knownNames: readonly string[],
  rawQuery: string,
): z.output<Schema> {
  const given: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const pair of rawQuery === "" ? [] : rawQuery.split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (name === null || !knownNames.includes(name)) continue;
    const value = decode(equals < 0 ? "" : pair.slice(equals + 1));
    if (value === null) faults.push({ parameter: name, detail: "is not valid percent-encoding" });
    else if (Object.hasOwn(given, name)) faults.push({ parameter: name, detail: "is given twice" });
    else given[name] = value;
  }
  const parsed = schema.safeParse(given);
  if (parsed.success && faults.length === 0) return parsed.data;
  const broken = new Set(faults.map((fault) => ("parameter" in fault ? fault.parameter : "")));
  for (const issue of parsed.error?.issues ?? []) {
    const parameter = String(issue.path[0]);
    if (!broken.has(parameter)) faults.push({ parameter, detail: issue.message });
  }
  throw validationRefusal(faults);
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replace(/\+/g, " "));
  } catch {
    return null;
  }
}
