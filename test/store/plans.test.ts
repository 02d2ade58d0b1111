// What the statements of the store cost in books of a million lines and a million wallet writes, whatever the tables held
// when they were last analyzed: on the write path the rows that are named and no more, in reads what they ask for. Each
// statement of the store has its cases here, or is named in a list of those that need none.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DaySums } from "../../src/engine/day-sums.ts";
import { SummedJournal } from "../../src/engine/summed-journal.ts";
import type { Entry } from "../../src/core/journal.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { addToBalances, findBalance, listCurrencies } from "../../src/store/account-balances.ts";
import * as accounts from "../../src/store/accounts.ts";
import { listAdministrationActs } from "../../src/store/administration-acts.ts";
import { findApiKey } from "../../src/store/api-keys.ts";
import * as assetRules from "../../src/store/asset-rules.ts";
import { readAuditedActs } from "../../src/store/audit/administration.ts";
import { readAuditedEntries } from "../../src/store/audit/journal.ts";
import { readAuditedWallets, readAuditedWrites } from "../../src/store/audit/wallets.ts";
import { upsertCommitProbe } from "../../src/store/commit-probes.ts";
import type { Connection } from "../../src/store/database/connection.ts";
import { Pool } from "../../src/store/database/pool.ts";
import * as deliveries from "../../src/store/deliveries.ts";
import * as daySums from "../../src/store/day-sums.ts";
import { listEntryContents } from "../../src/store/entry-contents.ts";
import { everyEntry, listEntries, type EntryFilter } from "../../src/store/entry-lists.ts";
import type { PagePlace } from "../../src/store/entry-places.ts";
import * as orders from "../../src/store/entry-orders.ts";
import * as searches from "../../src/store/entry-searches.ts";
import * as journalEntries from "../../src/store/journal-entries.ts";
import * as journalHeads from "../../src/store/journal-heads.ts";
import * as journalSpans from "../../src/store/journal-spans.ts";
import * as checkpoints from "../../src/store/log-checkpoints.ts";
import * as logs from "../../src/store/logs.ts";
import * as ledgerStates from "../../src/store/ledger-states.ts";
import * as ledgers from "../../src/store/ledgers.ts";
import { findOrganization } from "../../src/store/organizations.ts";
import * as pendingPostings from "../../src/store/pending-postings.ts";
import * as periodCloses from "../../src/store/period-closes.ts";
import { addRegisterSpan, findRegisteredSequence } from "../../src/store/register-days.ts";
import * as monthSums from "../../src/store/month-sums.ts";
import * as registers from "../../src/store/registers.ts";
import * as statementSums from "../../src/store/statement-sums.ts";
import { startOfDay } from "../../src/store/whole-days.ts";
import * as walletHolds from "../../src/store/wallet-holds.ts";
import * as digests from "../../src/store/wallet-log-digests.ts";
import * as walletPostings from "../../src/store/wallet-postings.ts";
import * as walletOrder from "../../src/store/ordered-wallet-writes.ts";
import * as walletWrites from "../../src/store/wallet-writes.ts";
import * as wallets from "../../src/store/wallets.ts";
import * as walletLists from "../../src/store/wallet-lists.ts";
import { isCluster } from "../support/cluster.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import {
  entryNames,
  fill,
  forgetStatistics,
  idOf,
  largeLedger,
  lineCount,
  steps,
} from "../support/million-rows.ts";
import {
  costOf,
  ExplainingConnection,
  plannings,
  tablesWalked,
  type PlanNode,
  type Planning,
  TaskCountingConnection,
} from "../support/plans.ts";

/** What a function of the store sends for one call. */
interface Case {
  readonly name: string;
  /** Functions whose statements it sends. */
  readonly of: readonly string[];
  readonly send: (connection: Connection) => unknown;
}

/** The same for a batch of one, which has statements of its own. */
function ofOne<Rows extends readonly unknown[]>(
  call: (connection: Connection, ledgerId: string, rows: Rows) => unknown,
  rows: Rows,
  inside: readonly string[] = [],
): Case {
  return {
    name: `${call.name} of one`,
    of: [call.name, ...inside],
    send: (connection) => call(connection, ledgerId, rows.slice(0, 1) as unknown as Rows),
  };
}

/** `costMax`: what each statement may cost, see `costOf`. */
interface LimitedCase extends Case {
  readonly costMax: number;
}

const limited = (costMax: number, cases: readonly Case[]): LimitedCase[] =>
  cases.map((each) => ({ ...each, costMax }));

function of<Arguments extends unknown[]>(
  call: (connection: Connection, ...given: Arguments) => unknown,
  ...given: Arguments
): Case {
  return { name: call.name, of: [call.name], send: (connection) => call(connection, ...given) };
}

/** The same, of a statement that is in another function. */
function within(each: Case, inside: string): Case {
  return { ...each, name: `${each.name}, ${inside}`, of: [...each.of, inside] };
}

const { ledgerId, entryCount, busyAccount, rareAccount, busyWallet, walletCount } = largeLedger;
const { walletId } = busyWallet;
const end = "9999-12-31T23:59:59.999Z" as Timestamp;
const now = "2026-01-01T00:00:00.000Z" as Timestamp;
const externalIds = entryNames(50);
const journalIds = externalIds.map(idOf);
const callerKeys = [
  busyWallet.callerKey,
  ...Array.from({ length: 49 }, (_, index) => String((index * 997) % walletCount)),
];
const walletIds = callerKeys.map((callerKey) => idOf(`wallet ${callerKey}`));
const codes = Array.from({ length: 50 }, (_, index) => String(index * 7));
const newIds = Array.from({ length: 50 }, (_, index) => idOf(`new ${index}`));
const pendingPostingIds = Array.from({ length: 50 }, (_, index) =>
  idOf(`pending ${index * 37} ${index % 2}`),
);
const waitingIds = Array.from({ length: 50 }, (_, index) =>
  idOf(`pending ${1_962 + Math.floor(index / 2)} ${index % 2}`),
);
const holdIds = Array.from({ length: 50 }, (_, index) => idOf(`hold ${index * 2_000 + 1}`));
const whole = { startsAt: null, endsAt: end, afterSequence: 0, upToSequence: entryCount };
/** As much as a server leaves to those who read sums. */
const unsummed = { afterSequence: entryCount - 8_192, upToSequence: entryCount };
const closed = { ledgerId, number: 12 };

const deliveryPlace = { sequence: 1, closeNumber: 1, walletNumber: 1 };
const worker = idOf("worker");
const delivery = {
  ...{ deliveryId: idOf("delivery"), url: "https://example.com/", events: ["entry"] as const },
  ...{ masterKeyFingerprint: "0011223344556677", createdAt: now },
};

const journalLog = { ledgerId, log: "journal", generation: 1 } as const;
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
  lines: [1n, -1n].map((amount) => ({
    glAccountCode: busyAccount,
    description: null,
    transactionAmount: amount,
    transactionCurrency: "USD",
    functionalAmount: amount,
    functionalCurrency: "USD",
    spotRate: null,
  })),
}));
const newClose = {
  ...{
    ledgerId,
    closeId: newIds[0] ?? "",
    number: 100,
    periodId: "new",
    reason: null,
    startsAt: null,
    endsAt: now,
  },
  ...{
    closedAt: now,
    lastSequence: entryCount,
    entryCount: 1,
    merkleRoot: "",
    merkleAlgorithm: "",
  },
  ...{ balancesRoot: "", previousCloseHash: null, closeHash: "" },
};
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
const writePath: readonly Case[] = [
  within(of(ledgerStates.lockLedgerStateShared, ledgerId), "lockLedgerStateOfWallets"),
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

const walletPage = { prefix: "", afterKey: "12", limit: 101 };
const page = { afterSequence: 0, offset: 0, limit: 100, bytesMax: 8_000_000 };
const march = {
  from: "2025-03-01T00:00:00.000Z" as Timestamp,
  to: "2025-04-01T00:00:00.000Z" as Timestamp,
};
const marchDays = { fromDay: "2025-03-01", untilDay: "2025-04-01" };
/** As many entries as are dated in a month, in a part of the journal. */
const marchSpan = { ...whole, startsAt: march.from, endsAt: march.to, afterSequence: 250_000 };
/** What came while a close was prepared. */
const latest = { ...whole, afterSequence: entryCount - 500 };

const pages: readonly Case[] = [
  of(listEntries, ledgerId, {
    ...{ ...page, filter: everyEntry, afterSequence: 200_000, upToSequence: entryCount },
  }),
  of(listEntryContents, ledgerId, marchSpan, page),
  of(journalSpans.readLeaves, ledgerId, marchSpan, 1_024),
  of(walletWrites.listPostedWrites, ledgerId, idOf("entry 250003"), { offset: 0, limit: 100 }),
  within(of(walletLists.listWallets, ledgerId, walletPage), "listRows"),
  of(walletLists.listWallets, ledgerId, { ...walletPage, prefix: "12" }),
  of(walletLists.listWalletsOfAsset, ledgerId, "USD", walletPage),
  of(walletLists.listWalletsOfAsset, ledgerId, "USD", { ...walletPage, prefix: "12" }),
  of(walletLists.listWalletsOfAsset, ledgerId, "EUR", { ...walletPage, afterKey: "" }),
  // What a delivery reads that is almost everything behind, and one that is not.
  ...[7, 799_000].map((afterNumber) =>
    of(walletOrder.listOrderedWrites, ledgerId, {
      ...{ afterNumber, upToNumber: 2 * entryCount, limit: 500, bytesMax: 262_144 },
    }),
  ),
  of(listAdministrationActs, 100),
  of(accounts.listAccounts, ledgerId, true),
  of(periodCloses.listCloseBalances, closed),
  // What a close reads under the lock.
  of(journalSpans.sumAmounts, ledgerId, latest),
  of(journalSpans.sumTrialBalance, ledgerId, latest),
  of(journalSpans.sumMovements, ledgerId, latest),
  of(journalSpans.sumAllMovements, ledgerId, latest),
  of(journalSpans.readLeaves, ledgerId, latest, 4_096),
  of(journalSpans.countEntriesBySequence, ledgerId, latest, 4_096),
  of(daySums.countJournalDays, ledgerId, marchDays),
  of(daySums.countAccountDays, ledgerId, busyAccount, marchDays),
  of(assetRules.listAssetsUsing, ledgerId, busyAccount),
  of(
    accounts.upsertAccounts,
    ledgerId,
    codes.map((glAccountCode) => ({ glAccountCode, name: "y", type: null, active: null })),
    now,
  ),
  // Of all ledgers.
  of(ledgers.listLedgers, idOf("organization")),
  of(ledgers.listLedgerIds),
  of(daySums.listUnsummedLedgers, 8_192),
  of(logs.listUnsignedJournals, 60_000),
  // Digests after an upgrade, piece by piece.
  of(digests.areLogsDigested),
  of(digests.tryLockDigests),
  of(digests.listUndigestedLogs, ledgerId, walletIds[7] ?? "", 500),
  of(digests.listOlderRows, ledgerId, { walletId, seq: 100_000 }, walletId, 1_000),
  of(
    digests.insertDigests,
    ledgerId,
    newIds.map((id) => ({ walletId: id, digest: "00".repeat(32) })),
  ),
  of(digests.insertDigestCompletion),
  {
    name: "insertClose",
    of: ["insertClose"],
    send: (connection) => Promise.all(periodCloses.insertClose(connection, newClose, [], [])),
  },
  {
    name: "the first pages of readAuditedActs",
    of: ["readAuditedActs"],
    send: async (connection) => {
      const pages = readAuditedActs(connection, null);
      for (let count = 0; count < 3; count += 1) await pages.next();
    },
  },
  ...[readAuditedEntries, readAuditedWallets, readAuditedWrites].map((read): Case => ({
    name: `the first pages of ${read.name}`,
    of: [read.name, "listByColumns"],
    send: async (connection) => {
      const rows = read(connection, ledgerId);
      for (let count = 0; count < 3; count += 1) await rows.next();
    },
  })),
];

const inSums = (name: string, read: (journal: SummedJournal) => Promise<unknown>): Case => ({
  name,
  of: ["findPage", "findFirst", "listEntries", "countEntries", "listSums"],
  send: async (connection) => read(await SummedJournal.read(connection, ledgerId)),
});

function list(filter: Partial<EntryFilter>, place: Partial<PagePlace> = {}): Case {
  return inSums(`entries with ${JSON.stringify({ ...filter, ...place })}`, async (journal) => {
    await journal.listEntries({ ...everyEntry, ...filter }, { ...page, ...place });
    await journal.countEntries({ ...everyEntry, ...filter });
  });
}

const busy = { glAccountCode: busyAccount, currency: null };
const rare = { glAccountCode: rareAccount, currency: "USD" };
const middle = registers.placeBefore("2025-03-20T09:00:00.000Z" as Timestamp);
const wholeJournal = { afterSequence: 0, upToSequence: entryCount };

/** Whole spans are in registers, as in sums. */
const reach = {
  registeredSequence: entryCount - (entryCount % 8_192),
  upToSequence: entryCount,
};

function ofRegister(
  subject: registers.RegisterSubject,
  range: registers.RegisterRange,
  read: registers.RegisterReach = reach,
): Case {
  const limits = { limit: 100, bytesMax: 8_000_000 };
  return of(registers.listRegisterLines, ledgerId, subject, read, range, limits);
}

function byDate(glAccountCode: string | null, from: string, to: string): Case {
  const interval = { from: startOfDay(from), to: startOfDay(to) };
  const inOrder = { direction: "desc", offset: 20, limit: 100 } as const;
  return of(orders.listSequencesByDate, ledgerId, glAccountCode, interval, reach, inOrder);
}

/** What is looked for goes by the spans of the journal, and by the entries that are not summed yet. */
const lists: readonly Case[] = [
  of(checkpoints.listCheckpoints, journalLog, { limit: 100, offset: 5_000 }),
  of(checkpoints.countCheckpoints, journalLog),
  of(checkpoints.listOrigins, journalLog),
  of(checkpoints.listCosignedSizes, journalLog, { below: entryCount, limit: 64 }),
  of(logs.listEntryLeaves, ledgerId, { afterSequence: 4_096, upToSequence: 8_192 }),
  of(statementSums.findFirstDate, ledgerId),
  of(monthSums.listMonths, ledgerId),
  of(monthSums.updateMonthSequence, ledgerId),
  of(monthSums.listLedgersWithNewDays),
  of(searches.listEntriesBySequence, ledgerId, [7, 3_000, 90_000], 8_000_000),
  of(listCurrencies, ledgerId),
  of(findRegisteredSequence, ledgerId, entryCount),
  of(orders.listDayCounts, ledgerId, null, marchDays),
  of(orders.listDayCounts, ledgerId, busyAccount, marchDays),
  byDate(null, "2025-03-20", "2025-03-21"),
  byDate(busyAccount, "2025-03-20", "2025-04-01"),
  byDate(rareAccount, "2024-01-01", "2025-04-01"),
  of(registers.sumDaysBefore, ledgerId, busy, "2025-03-20"),
  of(registers.countRegisteredEntries, ledgerId, rare, "2025-03-20", reach),
  of(registers.sumLinesBefore, ledgerId, busy, middle.transactionDate, unsummed),
  of(registers.sumLinesOfDay, ledgerId, busy, middle, reach),
  ofRegister(busy, { after: null, to: null }),
  ofRegister(busy, { after: middle, to: null }),
  ofRegister(busy, { after: middle, to: march.to }),
  ofRegister(rare, { after: null, to: null }),
  ofRegister(rare, { after: middle, to: null }),
  // As far as another page had it, and nothing is registered since.
  ofRegister(busy, { after: middle, to: null }, { registeredSequence: 8_192, upToSequence: 9_000 }),
  list(march),
  list(march, { offset: 15_000 }),
  list(march, { afterSequence: 260_000 }),
  list({ glAccountCode: busyAccount }),
  list({ glAccountCode: busyAccount }, { offset: 15_000 }),
  list({ glAccountCode: busyAccount }, { afterSequence: 300_000 }),
  list({ glAccountCode: rareAccount }, { offset: 10 }),
  list({ externalId: externalIds[9] ?? "" }),
  list({
    from: "2025-03-01T07:00:00.000Z" as Timestamp,
    to: "2025-03-20T09:00:00.000Z" as Timestamp,
  }),
];

function search(filter: Partial<EntryFilter & searches.EntryContentFilter>): Case {
  const content = { text: null, amountMin: null, amountMax: null, entryType: null };
  const order = { order: "date", direction: "desc" } as const;
  return of(
    searches.searchEntries,
    ledgerId,
    { ...everyEntry, ...content, ...filter },
    { ...order, after: null, offset: 10, limit: 100 },
    wholeJournal,
  );
}

const inMarch = { startsAt: march.from, endsAt: march.to };

/** What reads the entries of a month or of a span, or the sums of all accounts and days. */
const sums: readonly Case[] = [
  list({ ...march, glAccountCode: busyAccount }),
  list({ ...march, glAccountCode: rareAccount }),
  inSums("a trial balance", (journal) => journal.sumTrialBalance(inMarch)),
  inSums("a trial balance of cut days", (journal) =>
    journal.sumTrialBalance({
      startsAt: "2025-03-01T07:00:00.000Z" as Timestamp,
      endsAt: "2025-03-20T09:00:00.000Z" as Timestamp,
    }),
  ),
  inSums("entries by month", (journal) => journal.countByMonth([{ ...inMarch, startsAt: null }])),
  inSums("columns of a statement", (journal) =>
    journal.sumColumns([{ from: march.from, to: march.to }], march.to),
  ),
  of(
    statementSums.sumDayColumns,
    ledgerId,
    ["2025-01-01", "2025-02-01"],
    marchDays,
    { fromDay: "2025-03-10", untilDay: "2025-03-20" },
    [],
  ),
  of(statementSums.sumMonthColumns, ledgerId, ["2025-01-01", "2025-02-01"], marchDays),
  of(monthSums.upsertMonths, ledgerId, marchDays),
  of(
    statementSums.sumEntryColumns,
    ledgerId,
    [march.from],
    { from: march.from, to: march.to },
    wholeJournal,
  ),
  of(addRegisterSpan, ledgerId, unsummed),
  // The account's entries up to there.
  of(
    orders.listSequences,
    ledgerId,
    { ...everyEntry, glAccountCode: busyAccount },
    { afterSequence: 0, upToSequence: 200_000 },
    { direction: "desc", offset: 0, limit: 100 },
  ),
  of(orders.countEntriesByDay, ledgerId, everyEntry, unsummed),
  of(orders.countEntriesByDay, ledgerId, { ...everyEntry, glAccountCode: busyAccount }, unsummed),
  of(daySums.sumAccountDays, ledgerId, marchDays, []),
  of(daySums.addSpan, ledgerId, unsummed),
  of(journalSpans.countEntriesBySequence, ledgerId, marchSpan, 4_096),
  of(journalSpans.countEntriesByMonth, ledgerId, [inMarch], whole),
  of(journalSpans.sumTrialBalance, ledgerId, { ...marchSpan, openingFrom: march.from }),
  of(journalSpans.sumMovements, ledgerId, {
    ...{ ...whole, afterSequence: 300_000, upToSequence: 304_096 },
  }),
  of(journalSpans.sumAllMovements, ledgerId, { afterSequence: 300_000, upToSequence: 304_096 }),
];

/** Sums of what waits to be posted, for a rate too. */
const backlogs: readonly Case[] = [
  of(pendingPostings.listLedgersWithPending),
  of(logs.listUnsignedCloses),
  of(checkpoints.listUncosignedLogs, "another", 1_000),
  of(pendingPostings.listAssetsWithoutRate, ledgerId),
  of(pendingPostings.listPendingAmounts, ledgerId),
  of(pendingPostings.listWaitingAssets),
  of(pendingPostings.getPostingBacklog),
];

/** Planned for their values each time: only connections of the write path keep plans. */
const reads = [
  ...limited(10_000, pages),
  ...limited(15_000, lists),
  ...limited(50_000, backlogs),
  ...limited(250_000, sums),
  // Every entry that may pass is looked at, with its lines.
  ...limited(lineCount / 2, [
    search({ ...march, text: "entry 77" }),
    search({ ...march, amountMin: 5n, entryType: "STANDARD" }),
    search({ glAccountCode: busyAccount, text: "entry 77" }),
  ]),
  // Of the first close all that came before its period, for which lines are best read once.
  ...limited(1.2 * lineCount, [of(journalSpans.sumAmounts, ledgerId, marchSpan)]),
];

/** Functions and files of the store whose statements have no cases, and why. */
const free = {
  "audit/administration.ts": "an audit reads each act and each row that acts are about once",
  "audit/day-sums.ts": "an audit adds all entries up again",
  "audit/logs.ts": "an audit reads all checkpoints of a log once",
  countHaltedLogs: "reads a row for each log, once for each scrape of metrics",
  listAllDeliveries: "an operator reads a row for each delivery of all ledgers, which are few",
  countFailingDeliveries: "reads a row for each delivery, once for each scrape of metrics",
  listDueDeliveries: "reads a row for each delivery of all ledgers, which are few",
  hasCheckpoints: "is asked once at the start",
  "audit/journal.ts": "an audit reads all rows of a ledger once",
  "audit/wallet-postings.ts": "an audit reads all rows of a ledger once",
  "audit/wallet-order.ts": "an audit reads all rows of a ledger once",
  "audit/wallets.ts": "an audit reads all rows of a ledger once",
  "backup/": "a backup has whole tables",
  "database/": "the way statements go",
  "citus-nodes.ts": "asks Citus, which is not there",
  "distribution.ts": "asks the catalog, and Citus",
  listReachedLedgersWithPending: "asks Citus, which is not there",
  haveLedgersOwnActs: "asks the catalog",
  nameOperator: "sets a setting",
  newestOf: "an operator reads all acts, by time",
  "database-settings.ts": "asks the catalog",
  "organizations.ts": "operators make few",
  "api-keys.ts": "operators make few",
  "backups.ts": "operators make few",
  "commit-probes.ts": "has 64 rows at most",
  listWalletDifferences: "sums all wallets once a minute at most",
};

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  // As sessions of the service have it; and a bad plan would go on for hours.
  await client.query(`
    SET jit = off; SET timezone = 'UTC'; SET ledgerctl.chains_logs = 'on'; SET statement_timeout = '60s'`);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** How the statements of a case are carried out. What they write is undone. */
async function plansOf(each: Case, planning: Planning): Promise<readonly PlanNode[]> {
  const connection = new ExplainingConnection(client, planning);
  await client.query("BEGIN");
  try {
    await each.send(connection);
  } finally {
    await connection.settled();
    await client.query("ROLLBACK");
  }
  return connection.plans;
}

async function expectCosts(each: Case, planning: Planning, costMax: number): Promise<void> {
  for (const plan of await plansOf(each, planning)) {
    expect(costOf(plan), JSON.stringify(plan)).toBeLessThanOrEqual(costMax);
  }
}

async function fillUpTo(step: number): Promise<void> {
  await fill(client, steps[step - 1] ?? 0, steps[step] ?? 0);
}

/** What reads all ledgers. */
const ofAllNodes = new Set([
  ...[
    "listLedgers",
    "listLedgersWithPending",
    "listUnsummedLedgers",
    "listLedgersWithNewDays",
    "listWaitingAssets",
  ],
  ...["listUnsignedJournals", "listUnsignedCloses", "listUncosignedLogs"],
  ...["getPostingBacklog", "listAdministrationActs"],
]);

describe.runIf(isCluster)("on a cluster", () => {
  beforeAll(() => fillUpTo(0));

  // Citus does not explain what makes a row on every node.
  const statements = [...writePath, ...reads].filter(({ name }) => name !== "insertLedger");

  test.each(statements.filter(({ name }) => !ofAllNodes.has(name)))(
    "$name goes to one node",
    async (each) => {
      for (const { text, tasks } of await countTasks(each)) {
        expect(Math.max(0, ...tasks), text).toBeLessThanOrEqual(1);
      }
    },
  );

  test.each(statements.filter(({ name }) => ofAllNodes.has(name)))(
    "$name goes to several nodes",
    async (each) => {
      const counts = (await countTasks(each)).flatMap(({ tasks }) => tasks);
      expect(Math.max(0, ...counts)).toBeGreaterThan(1);
    },
  );
});

/** To how many parts of tables Citus sends the statements of a case. What they write is undone. */
async function countTasks(each: Case): Promise<TaskCountingConnection["taskCounts"]> {
  const connection = new TaskCountingConnection(client);
  await client.query("BEGIN");
  try {
    await each.send(connection);
  } finally {
    await connection.settled();
    await client.query("ROLLBACK");
  }
  return connection.taskCounts;
}

describe.skipIf(isCluster)("in a new ledger, with its first entry", () => {
  beforeAll(() => fillUpTo(0));

  // Which index it is does not matter yet: no plan is kept for long.
  describe.each(plannings)("under %s", (planning) => {
    test.each(writePath)("$name walks no table", async (each) => {
      expect((await plansOf(each, planning)).flatMap(tablesWalked)).toEqual([]);
    });
  });
});

/** `maxOf`: what a statement of a read may cost there; null: not tested, since tables are analyzed after a minute or two. */
const states = [
  {
    books: "that were a fiftieth when they were analyzed",
    reach: async () => {
      await fillUpTo(1);
      await client.query("VACUUM ANALYZE");
      await fillUpTo(2);
      await sumEntries();
    },
    // A ledger may be read once, never a row for each other row.
    maxOf: () => lineCount,
  },
  {
    books: "that were never analyzed",
    reach: () => client.query(forgetStatistics),
    maxOf: null,
  },
  {
    books: "that were analyzed",
    reach: () => client.query("VACUUM ANALYZE"),
    maxOf: ({ costMax }: LimitedCase) => costMax,
  },
];

async function sumEntries(): Promise<void> {
  const pool = new Pool({ databaseUrl: database.url, connectionsMax: 1, answerTimeoutMs: 60_000 });
  const onFailure = (error: unknown) => {
    throw error;
  };
  await new DaySums(pool, { intervalMs: 1, onFailure }).sumAll();
  await pool.end();
}

describe.skipIf(isCluster).each(states)("in full books $books", ({ reach, maxOf }) => {
  beforeAll(async () => {
    await reach();
  });

  describe.each(plannings)("under %s", (planning) => {
    test.each(writePath)("$name reads the rows it names", (each) =>
      expectCosts(each, planning, 2_000),
    );
  });

  if (maxOf === null) return;
  test.each(reads)("$name reads what it asks for", (each) =>
    expectCosts(each, "force_custom_plan", maxOf(each)),
  );
});

test("each statement of the store has a case or needs none", () => {
  const covered = new Set([...writePath, ...reads].flatMap((each) => each.of));
  const unused = new Set(Object.keys(free));
  const missing = listStoreFunctions().filter(({ file, name }) => {
    const reason = Object.keys(free).find((key) => key === name || file.startsWith(key));
    if (reason !== undefined) unused.delete(reason);
    return reason === undefined && !covered.has(name);
  });
  expect(missing).toEqual([]);
  expect([...unused]).toEqual([]);
});

/** The functions of the store that have statements. */
function listStoreFunctions(): { file: string; name: string }[] {
  const folder = fileURLToPath(new URL("../../src/store", import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const source = readFileSync(join(folder, file), "utf8");
      const functions = source.split(/^(?:export )?(?:async )?function\*? /m).slice(1);
      return functions
        .filter((text) => /\bsql\.(?:type\(|unsafe)|\bcommand`/.test(text))
        .map((text) => ({ file, name: /^\w+/.exec(text)?.[0] ?? "" }));
    });
}
