// Schemas of what the service answers about ledgers, their accounts, entries and closes; files beside this one have the rest.
// Types, the OpenAPI document and the published types (with each description as its comment) come from them.
import * as z from "zod";
import { problemKinds } from "../core/errors.ts";
import { accountTypes, ledgerStatuses } from "../core/ledger.ts";
import { entryTypes, isJsonObject, type JsonObject } from "../core/journal.ts";
import { amount, id, timestamp } from "./reply-fields.ts";

const metadata = z.custom<JsonObject>(isJsonObject);

export const ledgerReply = z.strictObject({
  id,
  name: z.string(),
  status: z.enum(ledgerStatuses),
  createdAt: timestamp,
  metadata,
  functionalCurrency: z.string(),
});

export const ledgerListReply = z.strictObject({ ledgers: z.array(ledgerReply) });

export const accountReply = z.strictObject({
  glAccountCode: z.string(),
  name: z.string(),
  active: z.boolean(),
  type: z.enum(accountTypes).nullable(),
});

export const accountListReply = z.strictObject({ accounts: z.array(accountReply) });

export const assetReply = z.strictObject({
  assetCode: z.string(),
  rate: z
    .string()
    .nullable()
    .describe(
      "exact decimal: functional smallest units for one smallest unit; null while there is none",
    ),
  exponent: z.int().describe("how many decimals its major unit has"),
  walletsAccount: z.string(),
  clearingAccount: z.string(),
  overdraftLimit: amount,
  maxBalance: amount
    .nullable()
    .describe("the most that a wallet may have, integer, smallest unit; null: no limit"),
  dailyDebitMax: amount
    .nullable()
    .describe(
      "the most that may be taken out of a wallet in a UTC day, integer, smallest unit; null: no limit",
    ),
});

export const assetListReply = z.strictObject({ assets: z.array(assetReply) });

export const balanceReply = z.strictObject({
  glAccountCode: z.string(),
  balance: z
    .bigint()
    .describe("a JSON number with all its digits, past 2^53 too; smallest unit, debits positive"),
  currency: z.string(),
  entryCount: z.int(),
});

export const entryLineReply = z.strictObject({
  glAccountCode: z.string(),
  description: z.string().nullable(),
  transactionAmount: amount,
  transactionCurrency: z.string(),
  functionalAmount: amount,
  functionalCurrency: z.string(),
  spotRate: z.number().nullable(),
});

export const entryReply = z.strictObject({
  journalId: id,
  ledgerId: id,
  sequence: z.int().positive().describe("1, 2, 3 … in its ledger"),
  externalId: z.string().nullable(),
  originSystem: z.string().nullable(),
  originAccount: z.string().nullable(),
  eventType: z.string().nullable(),
  description: z.string().nullable(),
  transactionDate: timestamp,
  entryType: z.enum(entryTypes),
  postingStatus: z.literal("POSTED"),
  metadata,
  persistedAt: timestamp,
  reversesJournalId: id.nullable(),
  reversedByJournalId: id.nullable(),
  lines: z.array(entryLineReply),
});

export const entryPageReply = z.strictObject({
  entries: z.array(entryReply),
  total: z.int(),
  hasMore: z.boolean(),
});

/** A message of the journal's stream. */
export const entryMessage = z.strictObject({ type: z.literal("entry"), entry: entryReply });

/** What of an entry is hashed: all but whether it has been reversed since. */
export const entryDocumentReply = entryReply.omit({
  reversedByJournalId: true,
});

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const startsAt = timestamp.nullable().describe("null: from the first entry on");
const endsAt = timestamp.describe("exclusive");
const lastSequence = z.int().describe("of the last entry that was read");

export const closeReply = z.strictObject({
  ledgerId: id,
  closeId: id,
  number: z.int().positive().describe("1, 2, 3 … in its ledger"),
  periodId: z.string(),
  reason: z.string().nullable(),
  startsAt,
  endsAt,
  closedAt: timestamp,
  lastSequence,
  entryCount: z.int(),
  merkleRoot: hash,
  merkleAlgorithm: z.string(),
  balancesRoot: hash,
  previousCloseHash: hash.nullable(),
  closeHash: hash,
});

export const closePageReply = z.strictObject({
  closes: z.array(closeReply),
  total: z.int(),
  hasMore: z.boolean(),
});

export const balanceRowReply = z.strictObject({
  glAccountCode: z.string(),
  opening: amount,
  debits: amount,
  credits: amount,
  closing: amount,
  entryCount: z.int(),
});

export const closeWithBalancesReply = closeReply.extend({
  balances: z.array(balanceRowReply),
});

export const balanceTotalsReply = balanceRowReply.omit({ glAccountCode: true, entryCount: true });

/** An account whose figures are not those that a close stored. */
export const movedAccountReply = z.strictObject({
  glAccountCode: z.string(),
  stored: balanceRowReply.omit({ glAccountCode: true }),
  live: balanceRowReply.omit({ glAccountCode: true }),
});

export const trialBalanceRowReply = balanceTotalsReply.extend({
  glAccountCode: z.string(),
  name: z.string(),
  type: z.enum(accountTypes).nullable(),
});

const balancesReply = z.strictObject({
  ledgerId: id,
  functionalCurrency: z.string(),
  startsAt,
  endsAt,
  lastSequence,
  accounts: z
    .array(trialBalanceRowReply)
    .describe("accounts with an entry dated before the end, by the UTF-8 bytes of their codes"),
  totals: balanceTotalsReply,
  balanced: z.boolean(),
});

const unknownCurrencies = z
  .array(z.string())
  .describe("codes of three letters in the ledger's entries that are no ISO 4217 currency");

export const trialBalanceReply = balancesReply.extend({
  periodId: z.string().nullable().describe("as it was asked for"),
  close: closeReply.nullable().describe("the period's close"),
  moved: z
    .array(movedAccountReply)
    .describe("accounts whose figures are no longer those of the close"),
  unknownCurrencies,
});

export const closePreviewReply = balancesReply.extend({
  periodId: z.string(),
  previewedAt: timestamp,
  close: closeReply.nullable().describe("what closing again would give, and do nothing"),
  closesToDate: z
    .boolean()
    .describe("the label is no date: everything up to the moment of the close would be closed"),
  endsInFuture: z.boolean(),
  entryCount: z.int(),
  pendingPostings: z.array(
    z.strictObject({
      assetCode: z.string(),
      transactionDate: timestamp,
      isInPeriod: z.boolean(),
      amount: amount.describe("the sum of its debits, smallest unit of the functional currency"),
      writes: z.int(),
      wallets: z.int(),
    }),
  ),
  assetsWithoutRate: z.array(z.string()),
  unknownCurrencies,
  earlierOpen: z
    .array(z.strictObject({ periodId: z.string(), entryCount: z.int() }))
    .describe("entries dated before the period and in no closed one, by months in UTC"),
  moved: z.array(
    z.strictObject({
      periodId: z.string(),
      closeId: id,
      number: z.int(),
      closedAt: timestamp,
      accounts: z.array(movedAccountReply),
    }),
  ),
});

export const proofReply = z.strictObject({
  format: z.literal("ledgerctl-proof-v1"),
  leafIndex: z.int(),
  treeSize: z.int(),
  auditPath: z.array(hash).describe("from the leaf's neighbour upwards"),
  entry: entryDocumentReply,
  close: closeReply,
});

export const bundleReply = z.string().describe("a close, its accounts, its entries, a trailer");

export const receiptReply = z.strictObject({
  journalId: id,
  persistedAt: timestamp,
});

const uri = z.string().meta({ format: "uri" });
const codes = Object.values(problemKinds).flatMap(({ code }) => code ?? []);

/** A problem detail (RFC 9457): what is answered instead of a reply, and of one of many entries. */
export const problemReply = z.strictObject({
  type: uri,
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: uri,
  code: z.enum(codes).exactOptional(),
  errors: z
    .array(
      z.strictObject({
        detail: z.string(),
        pointer: z.string().exactOptional(),
        parameter: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
  journalId: id.exactOptional(),
  persistedAt: timestamp.exactOptional(),
  reversalJournalId: id.exactOptional(),
  periodId: z.string().exactOptional(),
  closeId: id.exactOptional(),
});

/** What became of one of many entries: it was posted (201), or why it was not. */
export const entryOutcomeReply = z.union([
  receiptReply.extend({ status: z.literal(201) }),
  problemReply,
]);

export const entriesReply = z.strictObject({ results: z.array(entryOutcomeReply) });

export const atomicEntriesReply = z.strictObject({
  results: z.array(receiptReply),
});
