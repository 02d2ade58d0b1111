// Documents of proofs and bundles as they are read: exactly their members, each of its type.
import * as z from "zod";
import type { BalanceRow } from "../core/close.ts";
import { parseTimestamp, type Timestamp } from "../core/time.ts";
import { balanceRowReply, closeReply, entryDocumentReply } from "../contract/replies.ts";
import type { CloseBalance } from "../contract/types.ts";

/** A file that is no bundle or no proof at all: there is nothing to check. */
export class MalformedFile extends Error {
  override readonly name = "MalformedFile";
}

/** A document, or what is wrong with it. */
export type ReadDocument<Document> = { readonly document: Document } | { readonly fault: string };

/** The canonical form of a moment of the years 0001 to 9999. */
const moment = z.custom<Timestamp>(
  (value) => typeof value === "string" && parseTimestamp(value) === value,
  "is no timestamp",
);

const id = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "is no UUID in lower case");

export const entryDocument = entryDocumentReply.extend({
  journalId: id,
  ledgerId: id,
  reversesJournalId: id.nullable(),
  transactionDate: moment,
  persistedAt: moment,
});

export type EntryDocument = z.output<typeof entryDocument>;

export const closeDocument = closeReply.extend({
  ledgerId: id,
  closeId: id,
  lastSequence: z.int().nonnegative(),
  entryCount: z.int().nonnegative(),
  startsAt: moment.nullable(),
  endsAt: moment,
  closedAt: moment,
});

export const balanceDocument = balanceRowReply.transform(balanceRowOf);

export function readDocument<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): ReadDocument<z.output<Schema>> {
  const parsed = schema.safeParse(value, { error: plainFault });
  if (parsed.success) return { document: parsed.data };
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  const what = issue?.message ?? "is wrong";
  return { fault: place === "" ? what : `${place}: ${what}` };
}

/** What is wrong, for somebody who never read a schema. */
function plainFault(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is missing";
      return `is no ${issue.expected === "int" ? "whole number" : issue.expected}`;
    case "unrecognized_keys":
      return `has members that do not belong there: ${issue.keys.join(", ")}`;
    case "too_small":
      return `is ${issue.inclusive === true ? "smaller" : "not greater"} than ${issue.minimum}`;
    case "too_big":
      return `is ${issue.inclusive === true ? "greater" : "not smaller"} than ${issue.maximum}`;
    case "invalid_value":
      return `is none of ${issue.values.join(", ")}`;
    default:
      return "is not written as it has to be";
  }
}

/** A row as it travels, with amounts to count with. */
export function balanceRowOf(row: CloseBalance): BalanceRow {
  return {
    ...row,
    opening: BigInt(row.opening),
    debits: BigInt(row.debits),
    credits: BigInt(row.credits),
    closing: BigInt(row.closing),
  };
}
