// Schemas of what is answered about the books as people read them: registers of accounts and statements.
import * as z from "zod";
import { accountTypes } from "../core/ledger.ts";
import { accountReply, entryReply } from "./replies.ts";
import { timestamp } from "./reply-fields.ts";

const amount = z
  .string()
  .regex(/^(0|-?[1-9][0-9]*)$/)
  .describe("integer, smallest unit, debits positive");

const { journalId, sequence, entryType, externalId, reversesJournalId, reversedByJournalId } =
  entryReply.shape;

export const registerLineReply = z.strictObject({
  journalId,
  sequence,
  transactionDate: timestamp,
  entryType,
  description: z.string().nullable().describe("the line's own, or else the entry's"),
  amount: amount.describe("in the register's currency: integer, smallest unit, debits positive"),
  balance: amount.describe("of the account after this line, in the register's currency"),
  currency: z.string().describe("of amount and balance"),
  transactionAmount: amount,
  transactionCurrency: z.string(),
  counterAccounts: z
    .array(z.string())
    .describe("codes of the other accounts of the entry, in the order of its lines"),
  externalId,
  reversesJournalId,
  reversedByJournalId,
});

export const registerReply = z.strictObject({
  account: accountReply,
  opening: amount.describe("the balance before the range"),
  lines: z.array(registerLineReply).describe("by transactionDate, then sequence, then line"),
  closing: amount.describe("the balance at the end of the range"),
  nextCursor: z.string().nullable().describe("for the next page; null on the last"),
});

export const statementReply = z.strictObject({
  columns: z.array(
    z.strictObject({
      from: timestamp.nullable().describe("null: from the first entry on"),
      to: timestamp.describe("exclusive"),
    }),
  ),
  groups: z.array(
    z.strictObject({
      type: z.enum([...accountTypes, "untyped"]),
      accounts: z
        .array(
          z.strictObject({
            glAccountCode: z.string(),
            name: z.string(),
            amounts: z.array(amount).describe("one for each column"),
          }),
        )
        .describe("by the UTF-8 bytes of their codes"),
      totals: z.array(amount).describe("one for each column"),
    }),
  ),
  result: z
    .array(amount)
    .describe("income and expenses together, one for each column: a profit is negative"),
  balances: z
    .boolean()
    .describe(
      "whether assets, liabilities, equity and the result to date sum to zero at the end of each column",
    ),
});
