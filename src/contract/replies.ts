// Schemas of what the service answers. Types, the OpenAPI document and the published types (with each
// description as its comment) come from them.
import * as z from "zod";
import { deliveryEventKinds } from "../core/delivery.ts";
import { problemKinds } from "../core/errors.ts";
import { accountTypes, ledgerStatuses } from "../core/ledger.ts";
import { entryTypes, isJsonObject, type JsonObject } from "../core/journal.ts";
import { logKinds } from "../core/log-origin.ts";
import { walletWriteTypes } from "../core/wallet.ts";

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

/** Where events are delivered to, and how far that has come. */
export const deliveryReply = z.strictObject({
  id,
  url: z.string(),
  events: z.array(z.enum(deliveryEventKinds)),
  status: z.enum(["active", "paused"]),
  pauseReason: z
    .enum(["asked", "failing", "restored"])
    .nullable()
    .describe("failing: for a day; restored: the database was, from a backup"),
  cursor: z.string().describe("what was accepted last: a sequence and the number of a close"),
  lag: z.int().describe("entries that it is behind the journal"),
  walletCursor: z
    .string()
    .nullable()
    .describe("of the wallet write that was accepted last; null where none are delivered"),
  walletLag: z
    .int()
    .nullable()
    .describe("wallet writes that it is behind; null where none are delivered"),
  failingSince: timestamp.nullable(),
  failure: z.string().nullable().describe("why the last attempt failed"),
  createdAt: timestamp,
  secret: z.string().nullable().describe("of a delivery that was just made, this once"),
});

export const deliveryListReply = z.strictObject({ deliveries: z.array(deliveryReply) });

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

export const logKind = z.enum(logKinds);

const treeSize = z.int().nonnegative().describe("leaves in the tree");
const rootHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe("of the RFC 6962 tree, in hex");
const verifierKey = z.string().describe("as C2SP signed-note has it: name+key ID+key");

export const logReply = z.strictObject({
  origin: z.string(),
  verifierKey,
  size: treeSize,
  rootHash,
  issuedAt: timestamp.nullable(),
  checkpoint: z
    .string()
    .nullable()
    .describe("the newest checkpoint, a signed note; null before there is one"),
  cosigners: z.array(z.string()).describe("names of the witnesses that cosigned it"),
  halted: z.string().nullable().describe("why nothing is signed; null where it is"),
  witnesses: z
    .array(z.strictObject({ name: z.string(), verifierKey }))
    .describe("those of the server's policy"),
  witnessLines: z
    .array(z.string())
    .describe("the lines of the server's policy about witnesses, groups and quorum, without URLs"),
  origins: z
    .array(z.strictObject({ origin: z.string(), verifierKey }))
    .describe("all that the log has had, oldest first: one more each time that it was begun anew"),
});

export const noteReply = z.string().describe("a signed note: C2SP tlog-checkpoint");

export const checkpointPageReply = z.strictObject({
  checkpoints: z.array(z.strictObject({ size: treeSize, rootHash, issuedAt: timestamp })),
  total: z.int(),
  hasMore: z.boolean(),
});

export const consistencyReply = z.strictObject({
  from: treeSize,
  to: treeSize,
  hashes: z.array(z.string()).describe("in base64, in the order of RFC 6962, section 2.1.2"),
});

export const logProofReply = z.string().describe("C2SP tlog-proof; its extra is the record");

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

/** What is answered instead of a reply on the paths of wallets. */
export const walletErrorReply = z.strictObject({ error: z.string() });

export const walletBalanceReply = z.strictObject({
  balance: amount,
  available: amount.describe("balance less active holds, integer, smallest unit"),
});

export const walletReply = z.strictObject({
  status: z.enum(["accepted", "duplicate"]),
  ...walletBalanceReply.shape,
});

export const reserveReply = walletReply.extend({
  holdId: id.nullable().describe("null only for a duplicate of a credit or a debit"),
});

export const freezeReply = walletReply.extend({
  frozen: z.boolean().describe("whether nothing can be taken out of the wallet"),
});

export const transferReply = z.strictObject({
  status: z.enum(["accepted", "duplicate"]),
  transferId: id.nullable().describe("null only for a duplicate of what was no transfer"),
  from: walletBalanceReply,
  to: walletBalanceReply,
});

/** An item of a bulk that was refused. */
const refusedItemReply = z.strictObject({ status: z.int(), error: z.string() });

export const transfersReply = z.strictObject({
  results: z
    .array(z.union([transferReply, refusedItemReply]))
    .describe("in the order of the transfers; of an atomic bulk, none that was refused"),
});

export const walletRowReply = z.strictObject({
  callerKey: z.string(),
  assetCode: z.string(),
  ...walletBalanceReply.shape,
  held: amount.describe("what active holds reserve, integer, smallest unit"),
  seq: z.int().positive().describe("of the last row of its log"),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export const walletPageReply = z.strictObject({
  wallets: z.array(walletRowReply).describe("by the UTF-8 bytes of their callerKeys"),
  nextCursor: z.string().nullable().describe("for the page after this one; null on the last"),
});

export const walletLogEntryReply = z.strictObject({
  seq: z.int().positive().describe("1, 2, 3 … in its wallet, without gaps"),
  type: z.enum(walletWriteTypes),
  amount,
  balance: amount.describe("after the write, integer, smallest unit"),
  held: amount.describe(
    "what holds reserve after the write, until their release, commit or expiry is logged",
  ),
  externalId: z.string().nullable(),
  holdId: id.nullable(),
  metadata: z.string().nullable(),
  at: timestamp,
  transferId: id.exactOptional().describe("of a transfer: in the logs of both wallets"),
  counterparty: z.string().exactOptional().describe("of a transfer: the other wallet's callerKey"),
  journalId: id
    .nullable()
    .describe("the entry that posts it; null until then, and for what moves no balance"),
});

/** A row of a wallet's log among those of others. */
export const deliveredWalletWrite = walletLogEntryReply.extend({
  callerKey: z.string(),
  assetCode: z.string(),
});

const eventCursor = z.string().describe("of a receiver that has the event");

/** The body of a request to a receiver. */
export const deliveryMessage = z.strictObject({
  deliveryId: id,
  ledgerId: id,
  events: z.array(
    z.union([
      z.strictObject({ cursor: eventCursor, type: z.enum(["entry", "posting"]), data: entryReply }),
      z.strictObject({ cursor: eventCursor, type: z.literal("close"), data: closeReply }),
      z.strictObject({
        cursor: z.string().describe("of wallet writes, which have one of their own"),
        type: z.literal("wallet"),
        data: deliveredWalletWrite,
      }),
    ]),
  ),
});

export const postedWritesReply = z.strictObject({
  writes: z.array(walletLogEntryReply.extend({ callerKey: z.string() })),
  total: z.int(),
  hasMore: z.boolean(),
});

export const walletHistoryReply = z.strictObject({
  writes: z.array(walletLogEntryReply),
  hasMore: z.boolean(),
});

export const bulkReply = z.strictObject({
  results: z.array(z.union([walletReply, refusedItemReply])),
});

/** What a wallet's stream sends. */
export const balanceMessage = z.object({
  type: z.literal("balance"),
  ...walletBalanceReply.shape,
  seq: z.int().positive().exactOptional().describe("only on a stream opened with since"),
});
