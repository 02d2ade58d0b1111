// Values with which functions of the store are called to learn what they send.
import type { CloseRecord } from "../../../../src/core/close.ts";
import { parseTimestamp, type Timestamp } from "../../../../src/core/time.ts";
import type { Wallet } from "../../../../src/core/wallet.ts";

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
