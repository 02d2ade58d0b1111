// Schemas of what the service answers; each is held to the plain type that clients see.
import { z } from "zod";
import { problemKinds } from "../core/errors.ts";
import { accountTypes, ledgerStatuses } from "../core/ledger.ts";
import { entryTypes, isJsonObject, type JsonObject } from "../core/journal.ts";
import { walletWriteTypes } from "../core/wallet.ts";
import type {
  Account,
  AccountBalance,
  CloseBalance,
  BulkResult,
  Close,
  ClosePage,
  ClosePreview,
  CloseWithBalances,
  EntryOutcomes,
  Entry,
  EntryDocument,
  EntryPage,
  Ledger,
  PostedWritePage,
  Problem,
  Proof,
  Reservation,
  TrialBalance,
  WalletBalance,
  WalletLogPage,
  WalletResult,
  EntryReceipt,
} from "./wire.ts";

const id = z.uuid();
const timestamp = z.string().describe("ISO 8601, UTC, milliseconds");
const amount = z
  .string()
  .regex(/^(0|-?[1-9][0-9]*)$/)
  .describe("integer, smallest unit");
const metadata = z.custom<JsonObject>(isJsonObject);

export const ledgerReply = z.strictObject({
  id,
  name: z.string(),
  status: z.enum(ledgerStatuses),
  createdAt: timestamp,
  metadata,
  functionalCurrency: z.string(),
}) satisfies z.ZodType<Ledger>;

export const ledgerListReply = z.strictObject({ ledgers: z.array(ledgerReply) });

const accountReply = z.strictObject({
  glAccountCode: z.string(),
  name: z.string(),
  active: z.boolean(),
  type: z.enum(accountTypes).nullable(),
}) satisfies z.ZodType<Account>;

export const accountListReply = z.strictObject({ accounts: z.array(accountReply) });

export const balanceReply = z.strictObject({
  glAccountCode: z.string(),
  balance: z.bigint().describe("a JSON number with all its digits, past 2^53 too; smallest unit"),
  currency: z.string(),
  entryCount: z.int(),
}) satisfies z.ZodType<AccountBalance>;

export const entryReply = z.strictObject({
  journalId: id,
  ledgerId: id,
  sequence: z.int().positive(),
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
  lines: z.array(
    z.strictObject({
      glAccountCode: z.string(),
      description: z.string().nullable(),
      transactionAmount: amount,
      transactionCurrency: z.string(),
      functionalAmount: amount,
      functionalCurrency: z.string(),
      spotRate: z.number().nullable(),
    }),
  ),
}) satisfies z.ZodType<Entry>;

export const entryPageReply = z.strictObject({
  entries: z.array(entryReply),
  total: z.int(),
  hasMore: z.boolean(),
}) satisfies z.ZodType<EntryPage>;

export const entryDocumentReply = entryReply.omit({
  reversedByJournalId: true,
}) satisfies z.ZodType<EntryDocument>;

const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const closeReply = z.strictObject({
  ledgerId: id,
  closeId: id,
  number: z.int().positive(),
  periodId: z.string(),
  reason: z.string().nullable(),
  startsAt: timestamp.nullable(),
  endsAt: timestamp,
  closedAt: timestamp,
  lastSequence: z.int(),
  entryCount: z.int(),
  merkleRoot: hash,
  merkleAlgorithm: z.string(),
  balancesRoot: hash,
  previousCloseHash: hash.nullable(),
  closeHash: hash,
}) satisfies z.ZodType<Close>;

export const closePageReply = z.strictObject({
  closes: z.array(closeReply),
  total: z.int(),
  hasMore: z.boolean(),
}) satisfies z.ZodType<ClosePage>;

export const balanceRowReply = z.strictObject({
  glAccountCode: z.string(),
  opening: amount,
  debits: amount,
  credits: amount,
  closing: amount,
  entryCount: z.int(),
}) satisfies z.ZodType<CloseBalance>;

export const closeWithBalancesReply = closeReply.extend({
  balances: z.array(balanceRowReply),
}) satisfies z.ZodType<CloseWithBalances>;

const balanceTotalsReply = balanceRowReply.omit({ glAccountCode: true, entryCount: true });

const movedBalanceReply = z.strictObject({
  glAccountCode: z.string(),
  stored: balanceRowReply.omit({ glAccountCode: true }),
  live: balanceRowReply.omit({ glAccountCode: true }),
});

const balancesReply = z.strictObject({
  ledgerId: id,
  functionalCurrency: z.string(),
  startsAt: timestamp.nullable(),
  endsAt: timestamp,
  lastSequence: z.int(),
  accounts: z.array(
    balanceTotalsReply.extend({
      glAccountCode: z.string(),
      name: z.string(),
      type: z.enum(accountTypes).nullable(),
    }),
  ),
  totals: balanceTotalsReply,
  balanced: z.boolean(),
});

export const trialBalanceReply = balancesReply.extend({
  periodId: z.string().nullable(),
  close: closeReply.nullable(),
  moved: z.array(movedBalanceReply),
}) satisfies z.ZodType<TrialBalance>;

export const closePreviewReply = balancesReply.extend({
  periodId: z.string(),
  previewedAt: timestamp,
  close: closeReply.nullable(),
  closesToDate: z.boolean(),
  endsInFuture: z.boolean(),
  entryCount: z.int(),
  pendingPostings: z.array(
    z.strictObject({
      assetCode: z.string(),
      transactionDate: timestamp,
      isInPeriod: z.boolean(),
      amount,
      writes: z.int(),
      wallets: z.int(),
    }),
  ),
  assetsWithoutRate: z.array(z.string()),
  earlierOpen: z.array(z.strictObject({ periodId: z.string(), entryCount: z.int() })),
  moved: z.array(
    z.strictObject({
      periodId: z.string(),
      closeId: id,
      number: z.int(),
      closedAt: timestamp,
      accounts: z.array(movedBalanceReply),
    }),
  ),
}) satisfies z.ZodType<ClosePreview>;

export const proofReply = z.strictObject({
  format: z.literal("ledgerctl-proof-v1"),
  leafIndex: z.int(),
  treeSize: z.int(),
  auditPath: z.array(hash),
  entry: entryDocumentReply,
  close: closeReply,
}) satisfies z.ZodType<Proof>;

export const bundleReply = z.string().describe("a close, its accounts, its entries, a trailer");

export const writeReply = z.strictObject({
  journalId: id,
  persistedAt: timestamp,
}) satisfies z.ZodType<EntryReceipt>;

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
}) satisfies z.ZodType<Problem>;

export const entriesReply = z.strictObject({
  results: z.array(z.union([writeReply.extend({ status: z.literal(201) }), problemReply])),
}) satisfies z.ZodType<EntryOutcomes>;

export const atomicEntriesReply = z.strictObject({
  results: z.array(writeReply),
}) satisfies z.ZodType<EntryOutcomes>;

/** What is answered instead of a reply on the paths of wallets. */
export const walletErrorReply = z.strictObject({ error: z.string() });

export const walletBalanceReply = z.strictObject({
  balance: amount,
  available: amount,
}) satisfies z.ZodType<WalletBalance>;

export const walletReply = z.strictObject({
  status: z.enum(["accepted", "duplicate"]),
  balance: amount,
  available: amount,
}) satisfies z.ZodType<WalletResult>;

export const reserveReply = walletReply.extend({
  holdId: id.nullable(),
}) satisfies z.ZodType<Reservation>;

const walletWriteReply = z.strictObject({
  seq: z.int().positive(),
  type: z.enum(walletWriteTypes),
  amount,
  balance: amount,
  held: amount,
  externalId: z.string().nullable(),
  holdId: id.nullable(),
  metadata: z.string().nullable(),
  at: timestamp,
  journalId: id.nullable(),
});

export const postedWritesReply = z.strictObject({
  writes: z.array(walletWriteReply.extend({ callerKey: z.string() })),
  total: z.int(),
  hasMore: z.boolean(),
}) satisfies z.ZodType<PostedWritePage>;

export const walletHistoryReply = z.strictObject({
  writes: z.array(walletWriteReply),
  hasMore: z.boolean(),
}) satisfies z.ZodType<WalletLogPage>;

export const bulkReply = z.strictObject({
  results: z.array(z.union([walletReply, z.strictObject({ status: z.int(), error: z.string() })])),
}) satisfies z.ZodType<BulkResult>;

export const balanceMessage = z.object({
  type: z.literal("balance"),
  balance: amount,
  available: amount,
});
