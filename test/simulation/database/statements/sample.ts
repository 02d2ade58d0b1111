// Values with which functions of the store are called to learn what they send.
import type { CloseRecord } from "../../../../src/core/close.ts";
import { parseTimestamp, type Timestamp } from "../../../../src/core/time.ts";
import type { AssetRule } from "../../../../src/core/asset.ts";
import type { Entry } from "../../../../src/core/journal.ts";
import type { Wallet, WalletLogEntry } from "../../../../src/core/wallet.ts";

export const anId = "00000000-0000-7000-8000-000000000000";

export const anyTime = parseTimestamp("2026-01-01T00:00:00Z") as Timestamp;

export const aWallet: Wallet = {
  walletId: anId,
  callerKey: "key",
  assetCode: "EUR",
  balance: 0n,
  held: 0n,
  lastSeq: 0,
  lastAt: anyTime,
  logHash: "00".repeat(32),
  frozenAt: null,
  debitedOn: null,
  debited: null,
};

export const aClose: CloseRecord = {
  ledgerId: anId,
  closeId: anId,
  number: 1,
  periodId: "2026",
  reason: null,
  startsAt: null,
  endsAt: anyTime,
  closedAt: anyTime,
  lastSequence: 0,
  entryCount: 0,
  merkleRoot: "",
  merkleAlgorithm: "",
  balancesRoot: "",
  previousCloseHash: null,
  closeHash: "",
};

export const aLogEntry: WalletLogEntry = {
  walletId: anId,
  callerKey: "key",
  seq: 1,
  type: "credit",
  amount: 1n,
  balance: 1n,
  held: 0n,
  externalId: null,
  holdId: null,
  metadata: null,
  at: anyTime,
  transferId: null,
  counterparty: null,
  pendingPostingId: null,
};

export const anAssetRule: AssetRule = {
  assetCode: "EUR",
  version: 1,
  walletsAccount: "1",
  clearingAccount: "2",
  rate: null,
  exponent: 0,
  overdraftLimit: 0n,
  maxBalance: null,
  dailyDebitMax: null,
};

/** With one line, and a reversal. */
export const anEntry: Entry = {
  ledgerId: anId,
  journalId: anId,
  sequence: 1,
  externalId: null,
  originSystem: null,
  originAccount: null,
  eventType: null,
  description: null,
  transactionDate: anyTime,
  persistedAt: anyTime,
  entryType: "STANDARD",
  postingStatus: "POSTED",
  metadata: {},
  reversesJournalId: anId,
  lines: [
    {
      glAccountCode: "1000",
      description: null,
      transactionAmount: 1n,
      transactionCurrency: "EUR",
      functionalAmount: 1n,
      functionalCurrency: "EUR",
      spotRate: null,
    },
  ],
};
