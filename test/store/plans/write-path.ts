// Statements of the write path: what they name, and no more, is what they may read.
import type { Entry } from "../../../src/core/journal.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import { addToBalances, findBalance } from "../../../src/store/account-balances.ts";
import * as accounts from "../../../src/store/accounts.ts";
import { findApiKey } from "../../../src/store/api-keys.ts";
import * as assetRules from "../../../src/store/asset-rules.ts";
import { upsertCommitProbe } from "../../../src/store/commit-probes.ts";
import * as deliveries from "../../../src/store/deliveries.ts";
import * as daySums from "../../../src/store/day-sums.ts";
import * as journalEntries from "../../../src/store/journal-entries.ts";
import * as journalHeads from "../../../src/store/journal-heads.ts";
import * as checkpoints from "../../../src/store/log-checkpoints.ts";
import * as logs from "../../../src/store/logs.ts";
import * as ledgerStates from "../../../src/store/ledger-states.ts";
import * as ledgers from "../../../src/store/ledgers.ts";
import { findOrganization } from "../../../src/store/organizations.ts";
import * as pendingPostings from "../../../src/store/pending-postings.ts";
import * as periodCloses from "../../../src/store/period-closes.ts";
import * as walletHolds from "../../../src/store/wallet-holds.ts";
import * as walletPostings from "../../../src/store/wallet-postings.ts";
import * as walletOrder from "../../../src/store/ordered-wallet-writes.ts";
import * as walletWrites from "../../../src/store/wallet-writes.ts";
import * as wallets from "../../../src/store/wallets.ts";
import { line } from "../../support/entry-drafts.ts";
import { idOf } from "../../support/million-rows.ts";
import {
  type Case,
  busyAccount,
  busyWallet,
  callerKeys,
  closed,
  codes,
  entryCount,
  externalIds,
  journalLog,
  ledgerId,
  newIds,
  now,
  of,
  ofOne,
  walletId,
  walletIds,
  within,
} from "./cases.ts";

const journalIds = externalIds.map(idOf);

const pendingPostingIds = Array.from({ length: 50 }, (_, index) =>
  idOf(`pending ${index * 37} ${index % 2}`),
);
const waitingIds = Array.from({ length: 50 }, (_, index) =>
  idOf(`pending ${1_962 + Math.floor(index / 2)} ${index % 2}`),
);
const holdIds = Array.from({ length: 50 }, (_, index) => idOf(`hold ${index * 2_000 + 1}`));

const deliveryPlace = { sequence: 1, closeNumber: 1, walletNumber: 1 };
const worker = idOf("worker");
const delivery = {
  ...{ deliveryId: idOf("delivery"), url: "https://example.com/", events: ["entry"] as const },
  ...{ masterKeyFingerprint: "0011223344556677", createdAt: now },
};

const database1 = { systemIdentifier: "1", timeline: "00000001" };
const logPlaces = Array.from({ length: 12 }, (_, index) => ({ level: 8, index: index * 31 }));
const checkpoint = {
  ...{
    size: entryCount - 1,
    number: 9_000_000,
    rootHash: Buffer.alloc(32),
    origin: "x",
    verifierKey: "x",
  },
  ...{ signatures: "x", issuedAt: now },
};

const entries = newIds.map((journalId, index): Entry => ({
  ledgerId,
  journalId,
  sequence: entryCount + 1 + index,
  externalId: journalId,
  originSystem: null,
  originAccount: null,
  eventType: null,
  description: null,
  transactionDate: now,
  persistedAt: now,
  entryType: "STANDARD",
  postingStatus: "POSTED",
  metadata: {},
  reversesJournalId: journalId,
  lines: [1n, -1n].map((amount) => line(busyAccount, amount)),
}));

const lastEntry = { sequence: entryCount + 50, persistedAt: now };

const logEntries = callerKeys.map((callerKey, index) => ({
  callerKey,
  walletId: walletIds[index] ?? "",
  seq: 1_000_000,
  type: "credit" as const,
  amount: 1n,
  balance: 1n,
  held: 0n,
  externalId: `new ${index}`,
  holdId: null,
  metadata: null,
  at: now,
  transferId: null,
  counterparty: null,
  pendingPostingId: null,
}));
const transferEntries = logEntries.map((entry) => ({
  ...entry,
  type: "transfer-out" as const,
  transferId: newIds[0] ?? "",
  counterparty: "1",
}));
const writtenWallets = logEntries.map(({ callerKey, walletId: id }) => ({
  walletId: id,
  callerKey,
  assetCode: "USD",
  balance: 1n,
  held: 0n,
  lastSeq: 1_000_000,
  lastAt: now,
  logHash: "00".repeat(32),
  frozenAt: null,
  debitedOn: null,
  debited: null,
}));

/** Statements of batches, of posting and of streams, and look-ups by key: for fifty or a hundred rows each. */
export const writePath: readonly Case[] = [
  within(of(ledgerStates.lockLedgerStateShared, ledgerId), "lockLedgerStateOfWallets"),
  of(ledgerStates.tryLockLedgerState, ledgerId),
  of(ledgerStates.lockLedgerState, ledgerId),
  of(ledgerStates.readLedgerState, ledgerId),
  of(ledgerStates.writeBarrier, ledgerId),
  of(ledgerStates.updateLedgerState, ledgerId, "suspended"),
  of(ledgerStates.upsertStateRequest, ledgerId, 1_000),
  of(ledgerStates.deleteStateRequest, ledgerId),
  of(ledgers.findLedger, ledgerId),
  of(ledgers.getLedgerIdentity, ledgerId),
  of(ledgers.hasClosesInOrder, ledgerId),
  of(ledgers.insertLedger, {
    ...{ ledgerId: newIds[0] ?? "", organizationId: idOf("organization"), name: "x" },
    ...{ functionalCurrency: "USD", closesInOrder: false, createdAt: now },
  }),
  of(findOrganization, idOf("organization")),
  of(findApiKey, "lk_x"),

  of(journalHeads.lockJournalHead, ledgerId),
  of(journalHeads.readJournalHead, ledgerId),
  of(journalHeads.readClock),
  of(journalHeads.advanceJournalHead, ledgerId, lastEntry),
  of(accounts.listAccountStates, ledgerId, codes),
  of(accounts.listAccountsByCode, ledgerId, codes),
  ofOne(accounts.listAccountStates, codes),
  of(accounts.findAccount, ledgerId, busyAccount),
  of(
    accounts.insertAccount,
    ledgerId,
    { glAccountCode: "new", name: "x", type: null, active: true },
    now,
  ),
  of(accounts.updateAccountActive, ledgerId, busyAccount, false),
  of(
    accounts.insertMissingAccounts,
    ledgerId,
    codes.map((glAccountCode) => ({ glAccountCode, name: "x", type: null, active: true })),
    now,
  ),
  of(journalEntries.listEntriesByExternalId, ledgerId, externalIds),
  of(journalEntries.listOriginals, ledgerId, journalIds),
  of(journalEntries.findEntry, ledgerId, journalIds[7] ?? ""),
  of(journalEntries.insertEntries, ledgerId, entries),
  ofOne(journalEntries.insertEntries, entries),
  of(journalEntries.insertLines, ledgerId, entries),
  ofOne(journalEntries.insertLines, entries),
  of(journalEntries.insertReversals, ledgerId, entries),
  of(
    addToBalances,
    ledgerId,
    codes.map((glAccountCode) => ({ glAccountCode, currency: null, amount: 1n, entryCount: 1 })),
  ),
  of(findBalance, ledgerId, busyAccount, null),

  of(wallets.lockWallets, ledgerId, callerKeys),
  of(wallets.listWalletFigures, ledgerId, callerKeys),
  of(wallets.updateWallets, ledgerId, writtenWallets),
  ofOne(wallets.lockWallets, callerKeys),
  ofOne(wallets.updateWallets, writtenWallets, ["updateWallet"]),
  of(wallets.updateControlledWallets, ledgerId, writtenWallets),
  of(
    wallets.insertWallets,
    ledgerId,
    writtenWallets.map((wallet, index) => ({
      ...wallet,
      callerKey: `new ${index}`,
      walletId: newIds[index] ?? "",
    })),
  ),
  of(assetRules.listAssetRules, ledgerId, ["USD", "EUR"]),
  ofOne(assetRules.listAssetRules, ["USD"]),
  of(assetRules.listRuleVersions, ledgerId),
  of(
    assetRules.insertAssetRules,
    ledgerId,
    [
      {
        assetCode: "JPY",
        version: 1,
        walletsAccount: "w",
        clearingAccount: "c",
        rate: null,
        exponent: 0,
        overdraftLimit: 0n,
        maxBalance: null,
        dailyDebitMax: null,
      },
    ],
    now,
  ),
  of(walletHolds.listHolds, ledgerId, holdIds),
  of(walletHolds.listActiveHolds, ledgerId, walletIds),
  of(
    walletHolds.upsertHolds,
    ledgerId,
    holdIds.map((holdId) => ({
      holdId,
      walletId,
      amount: 1n,
      expiresAt: null,
      status: "released" as const,
    })),
  ),
  of(
    walletWrites.listWritesByExternalId,
    ledgerId,
    callerKeys.map((callerKey, index) => ({ callerKey, externalId: `write ${index * 5 + 1} 0` })),
  ),
  of(
    walletWrites.hasWalletWrites,
    ledgerId,
    logEntries.map((one) => ({ ...one, seq: 10 })),
  ),
  of(walletWrites.insertWalletWrites, ledgerId, logEntries),
  ofOne(walletWrites.insertWalletWrites, logEntries),
  within(of(walletWrites.insertWalletWrites, ledgerId, transferEntries), "insertTransfers"),
  ofOne(walletWrites.insertWalletWrites, transferEntries),
  of(
    walletWrites.sumDayDebits,
    ledgerId,
    walletIds.map((id) => ({ walletId: id, day: "2025-11-25" })),
  ),
  of(pendingPostings.insertPendingPostings, ledgerId, [
    {
      pendingPostingId: newIds[0] ?? "",
      assetCode: "USD",
      ruleVersion: 1,
      side: "credit",
      amount: 1n,
      writeCount: 1,
      acceptedFrom: now,
      acceptedTo: now,
      spans: [{ walletId, firstSeq: 1, lastSeq: 1 }],
    },
  ]),

  of(pendingPostings.listPostings, ledgerId, pendingPostingIds),
  of(walletPostings.listWalletPostings, ledgerId, journalIds),
  of(walletPostings.listPostingTotals, ledgerId),
  of(walletPostings.upsertPostingTotals, ledgerId, [
    { assetCode: "USD", ruleVersion: 1, side: "credit", amount: 1n, functionalAmount: 1n },
  ]),
  of(
    walletPostings.insertWalletPostings,
    ledgerId,
    newIds.map((journalId) => ({ journalId, assetCode: "USD", ruleVersion: 1 })),
  ),
  of(
    pendingPostings.markPosted,
    ledgerId,
    waitingIds.map((pendingPostingId) => ({ pendingPostingId, journalId: pendingPostingId })),
  ),

  of(walletWrites.listWalletHistory, ledgerId, busyWallet.callerKey, {
    afterSeq: 150_000,
    limit: 100,
  }),
  of(walletWrites.findLastWriteSeq, ledgerId, walletId, busyWallet.lastSeq),

  of(logs.findLogState, ledgerId, "journal"),
  of(logs.upsertLogState, journalLog, database1, null),
  of(logs.updateLogHalted, ledgerId, "journal", "why"),
  of(logs.readDatabaseIdentity),
  of(logs.insertLogHead, ledgerId, "journal"),
  of(logs.tryLockLogHead, ledgerId, "journal"),
  of(logs.lockLogHead, ledgerId, "journal"),
  of(logs.findLogHead, ledgerId, "journal"),
  of(logs.updateLogTree, ledgerId, "journal", { size: entryCount, subtrees: [Buffer.alloc(32)] }),
  of(logs.updateLogSigned, ledgerId, "journal", {
    ...{ size: entryCount, number: 7, issuedAt: now },
  }),
  of(logs.resetLogHead, ledgerId, "journal"),
  of(
    logs.insertLogSubtrees,
    { ...journalLog, generation: 2 },
    logPlaces.map((place) => ({ ...place, root: Buffer.alloc(32) })),
  ),
  of(logs.listLogSubtrees, journalLog, logPlaces),
  of(logs.countLogLeaves, ledgerId, "journal"),
  of(logs.countLogLeaves, ledgerId, "closes"),
  of(checkpoints.insertCheckpoint, journalLog, checkpoint, database1),
  of(checkpoints.findNewestCheckpoint, journalLog),
  of(checkpoints.findCheckpoint, journalLog, 500),
  of(checkpoints.insertCosignature, journalLog, {
    ...{ size: 500, verifierKey: "another", signature: Buffer.alloc(72), cosignedAt: now },
  }),
  of(checkpoints.listCosignatures, journalLog, [500, 1_000, 2_000]),
  of(checkpoints.findCosignedSize, journalLog, "another"),
  of(deliveries.listDeliveries, ledgerId),
  of(deliveries.findDelivery, ledgerId, delivery.deliveryId),
  of(deliveries.insertDelivery, ledgerId, { ...delivery, deliveryId: newIds[1] ?? "" }),
  of(deliveries.insertDeliveryProgress, ledgerId, delivery.deliveryId, deliveryPlace),
  of(deliveries.updateDeliveryPause, ledgerId, delivery.deliveryId, "asked"),
  of(deliveries.updateDeliveryPlace, ledgerId, delivery.deliveryId, deliveryPlace),
  of(deliveries.deleteDelivery, ledgerId, delivery.deliveryId),
  of(deliveries.leaseDelivery, ledgerId, delivery.deliveryId, { worker, leaseMs: 1 }),
  of(deliveries.advanceDelivery, ledgerId, delivery.deliveryId, worker, deliveryPlace),
  of(deliveries.postponeDelivery, ledgerId, delivery.deliveryId, {
    ...{ worker, failure: "no", waitMs: 1 },
  }),
  of(deliveries.releaseDelivery, ledgerId, delivery.deliveryId, worker),
  of(walletOrder.readWalletOrder, ledgerId),
  of(walletOrder.insertWalletOrderHead, ledgerId),
  of(walletOrder.updateWalletOrder, ledgerId, 7),
  of(walletOrder.insertOrderedWrites, ledgerId, logEntries),
  of(daySums.readSummedSequence, ledgerId),
  of(daySums.insertSummedJournal, ledgerId),
  of(daySums.tryLockSums, ledgerId),
  of(periodCloses.listCloses, ledgerId, { afterNumber: 0, limit: 100 }),
  of(periodCloses.countCloses, ledgerId),
  of(periodCloses.findClose, ledgerId, idOf(`${ledgerId} close 12`)),
  of(periodCloses.findCloseOfPeriod, ledgerId, "2024-05"),
  of(periodCloses.findLastClose, ledgerId),
  of(periodCloses.findCloseBefore, ledgerId, "2025-01-01T00:00:00.000Z" as Timestamp, entryCount),
  of(periodCloses.listClosedPeriods, ledgerId, 20),
  of(periodCloses.listSubtrees, closed),
  of(upsertCommitProbe, 1),
  of(pendingPostings.listPendingPostingIds, ledgerId, walletId),
  of(pendingPostings.listPendingPostings, ledgerId, 500),
];
