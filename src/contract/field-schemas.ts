// Schemas of single fields: what text, amounts and times on the wire have to look like. Their
// messages are read after the field's pointer, so they begin with a verb.
import * as z from "zod";
import { readPeriodLabel } from "../core/period.ts";
import { descriptionCodePointsMax, labelCodePointsMax, quoted, textFault } from "../core/text.ts";
import { dayFault, parseTimestamp, type Timestamp } from "../core/time.ts";

/** The pattern of a text without NUL. */
export const withoutNul = "^[^\\u0000]*$";

/** Of one bulk. */
export const bulkItemsMax = 1000;

/** The message for a value that is missing, or not `what`. */
export const wrongType = (what: string) => ({
  error: (issue: { input?: unknown }) =>
    issue.input === undefined || issue.input === null ? "is required" : `must be ${what}`,
});

/** null equals absent. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  // Not by a transform, which is made anew for each value.
  return schema.nullable().default(null);
}

/** A check of a value by what is wrong with it. Costs less than `superRefine`, for each value of each write. */
export function fault<Value>(
  faultOf: (value: Value) => string | null,
): (payload: z.core.ParsePayload<Value>) => void {
  return ({ value, issues }) => {
    const message = faultOf(value);
    // Other faults are looked for all the same: all of a body are told at once.
    if (message !== null) issues.push({ code: "custom", message, input: value, continue: true });
  };
}

/** What JSON Schema can say of a text; it counts code points, too, and knows no lone surrogates. */
const documentedText = (codePointsMax: number) => ({
  minLength: 1,
  maxLength: codePointsMax,
  pattern: withoutNul,
});

const text = (codePointsMax: number) =>
  z
    .string(wrongType("a string"))
    .check(fault((value) => textFault(value, codePointsMax)))
    .meta(documentedText(codePointsMax));

/** Ids, codes and labels. */
export const label = text(labelCodePointsMax);
export const description = text(descriptionCodePointsMax);

/** Of a period to be closed: a label that can't be printed, or that looks like a date and can't be closed as one, is a fault. */
export const closeLabel = label.check(
  fault((periodId) => {
    // Nobody sees them, and what reads as a date would be none, and close everything up to now.
    if (/[\p{Cc}\p{Cn}]/u.test(periodId)) {
      return "must not contain control characters, or characters that Unicode does not have";
    }
    const meaning = readPeriodLabel(periodId);
    return typeof meaning === "object" && "fault" in meaning
      ? `${quoted(periodId)} ${meaning.fault}`
      : null;
  }),
);

const integer = "an integer in smallest units, as a string of at most 38 digits";

/** The message for amounts with decimals, which files often have: it says how they are written here. */
const decimal = `${integer}: 12.50 of a currency with two decimals is written 1250`;

const amount = (pattern: RegExp, zeroMessage: string) =>
  z
    .string(wrongType(`a string: ${integer}`))
    .regex(pattern, {
      error: ({ input }) => {
        if (input === "0") return zeroMessage;
        return `must be ${/^[+-]?[0-9]*[.,][0-9]+$/.test(String(input)) ? decimal : integer}`;
      },
    })
    .meta({ description: "integer, smallest unit" })
    .transform(BigInt);

export const functionalAmount = amount(/^-?[1-9][0-9]{0,37}$/, "must not be zero");
export const transactionAmount = amount(/^(?:0|-?[1-9][0-9]{0,37})$/, "");

const dayPattern =
  "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|" +
  "02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
const hourPattern = "(?:[01][0-9]|2[0-3])";
const minutePattern = "[0-5][0-9]";

export const timestamp = z
  .string(wrongType("a string: an ISO 8601 date and time"))
  .meta({
    description:
      "ISO 8601 date and time with Z or an offset, years 0001 to 9999; digits finer than a millisecond are cut",
    pattern:
      `^(?!0000)${dayPattern}[Tt]${hourPattern}:${minutePattern}(?::${minutePattern}(?:[.,][0-9]+)?)?` +
      `(?:[Zz]|[+-]${hourPattern}(?::?${minutePattern})?)$`,
  })
  .transform((value, context): Timestamp => {
    const parsed = parseTimestamp(value);
    if (parsed !== null) return parsed;
    const fault = dayFault(value);
    const message =
      fault === null
        ? "must be an ISO 8601 date and time with Z or an offset, years 0001 to 9999"
        : `is no date: ${fault}`;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

export const spotRate = z
  .number(wrongType("a finite number above zero"))
  .positive({ error: "must be a finite number above zero" });

export function oneOf<const Values extends readonly string[]>(
  values: Values,
  other: (value: string) => string | null = () => null,
) {
  return z.enum(values, {
    error: ({ input }) =>
      (typeof input === "string" ? other(input) : null) ??
      `must be ${values.length === 1 ? "" : "one of "}${values.join(", ")}`,
  });
}
