// The few ledgers, keys, ids and amounts that histories of statements are made of, so that they meet.
import type { AssetRule } from "../../../src/core/asset.ts";
import type { CloseRecord } from "../../../src/core/close.ts";
import type { Entry, Line } from "../../../src/core/journal.ts";
import type { Timestamp } from "../../../src/core/time.ts";
import type { Hold, Wallet, WalletLogEntry } from "../../../src/core/wallet.ts";
import type { NewPendingPosting } from "../../../src/core/wallet-pending.ts";
import type { SeededRandom } from "../../../src/seed/seeded-random.ts";

export const functionalCurrency = "EUR";
export const codes = ["1000", "2000", "wallets:EUR"];
export const callerKeys = ["a", 'b"\\,{}', "c ü"];
export const assets = ["EUR", "GEM", "USD"];
const days = ["2026-01-01", "2026-02-03"];
const texts = ["x", 'quoted " \\ , {} NULL', "ü"];

export function id(kind: number, number: number): string {
  return `0000000${kind}-0000-7000-8000-00000000000${number}`;
}

export const organizationId = id(0, 1);

/** The two ledgers of a history: each history has its own. */
export function ledgerIdsOf(history: number): readonly string[] {
  const first = history.toString(16).padStart(8, "0");
  return [1, 2].map((number) => `${first}-0000-7000-8000-00000000000${number}`);
}

/** Makes what statements are given, from a seed. */
export class Domain {
  readonly random: SeededRandom;
  readonly ledgerIds: readonly string[];

  constructor(random: SeededRandom, ledgerIds: readonly string[]) {
    this.random = random;
    this.ledgerIds = ledgerIds;
  }

  ledgerId(): string {
    return this.ledgerIds[this.random.happens(85) ? 0 : 1] ?? "";
  }

  journalId(): string {
    return id(2, this.random.between(1, 4));
  }

  walletId(): string {
    return id(3, this.random.between(1, 3));
  }

  holdId(): string {
    return id(4, this.random.between(1, 3));
  }

  pendingPostingId(): string {
    return id(5, this.random.between(1, 3));
  }

  transferId(): string {
    return id(7, this.random.between(1, 3));
  }

  externalId(): string | null {
    return this.random.happens(40) ? null : `key-${this.random.between(1, 3)}`;
  }

  amount(): bigint {
    return BigInt(this.random.between(1, 5)) * 10n ** BigInt(this.random.pick([0, 0, 20]));
  }

  time(): Timestamp {
    const day = this.random.between(1, 9);
    return `2026-0${this.random.between(1, 3)}-0${day}T00:00:00.${this.random.pick(["000", "120"])}Z` as Timestamp;
  }

  text(): string | null {
    return this.random.happens(50) ? null : this.random.pick(texts);
  }

  /** Up to three different ones of some. */
  some<Item>(items: readonly Item[]): Item[] {
    return items.filter(() => this.random.happens(60));
  }

  ids(kind: number): string[] {
    return this.some([1, 2, 3]).map((number) => id(kind, number));
  }

  entry(): Entry {
    const amount = this.amount();
    return {
      ledgerId: this.ledgerId(),
      journalId: this.journalId(),
      sequence: this.random.between(1, 4),
      externalId: this.externalId(),
      originSystem: this.text(),
      originAccount: null,
      eventType: this.text(),
      description: this.text(),
      metadata: this.random.happens(50) ? {} : { note: this.text(), list: [1, null, "ü"] },
      transactionDate: this.time(),
      persistedAt: this.time(),
      entryType: "STANDARD",
      postingStatus: "POSTED",
      reversesJournalId: this.random.happens(30) ? this.journalId() : null,
      lines: [this.line(amount), this.line(-amount)],
    };
  }

  line(functionalAmount: bigint): Line {
    return {
      glAccountCode: this.random.pick(codes),
      description: this.text(),
      transactionAmount: functionalAmount * 2n,
      transactionCurrency: this.random.pick(["EUR", "USD"]),
      functionalAmount,
      functionalCurrency,
      spotRate: this.random.happens(50) ? null : 1.5,
    };
  }

  wallet(callerKey = this.random.pick(callerKeys)): Wallet {
    return {
      walletId: this.walletId(),
      callerKey,
      assetCode: this.random.pick(assets),
      balance: this.amount(),
      held: this.random.happens(50) ? 0n : this.amount(),
      lastSeq: this.random.between(1, 3),
      lastAt: this.time(),
      logHash: Buffer.alloc(32, this.random.below(200)).toString("hex"),
      ...this.controls(),
    };
  }

  controls(): Pick<Wallet, "frozenAt" | "debitedOn" | "debited"> {
    const debitedOn = this.random.happens(50) ? null : this.random.pick(days);
    return {
      frozenAt: this.random.happens(50) ? null : this.time(),
      debitedOn,
      debited: debitedOn === null ? null : this.amount(),
    };
  }

  /** A row of a log: where it is of a transfer, of one half of it. */
  write(isTransfer = this.random.happens(30)): WalletLogEntry {
    return {
      callerKey: "",
      walletId: this.walletId(),
      seq: this.random.between(1, 3),
      type: isTransfer
        ? this.random.pick(["transfer-out", "transfer-in"])
        : this.random.pick(["credit", "debit", "reserve"]),
      amount: this.amount(),
      balance: this.amount(),
      held: 0n,
      externalId: this.externalId(),
      holdId: this.random.happens(40) ? this.holdId() : null,
      metadata: this.text(),
      at: this.time(),
      transferId: isTransfer ? this.transferId() : null,
      counterparty: isTransfer ? this.random.pick(callerKeys) : null,
      pendingPostingId: this.random.happens(40) ? this.pendingPostingId() : null,
    };
  }

  hold(): Hold {
    return {
      holdId: this.holdId(),
      walletId: this.walletId(),
      amount: this.amount(),
      expiresAt: this.random.happens(50) ? null : this.time(),
      status: this.random.pick(["active", "active", "committed", "expired", "transferred"]),
    };
  }

  pendingPosting(): NewPendingPosting {
    return {
      pendingPostingId: this.pendingPostingId(),
      assetCode: this.random.pick(assets),
      ruleVersion: this.random.between(1, 2),
      side: this.random.pick(["credit", "debit"]),
      amount: this.amount(),
      writeCount: 1,
      acceptedFrom: this.time(),
      acceptedTo: this.time(),
      spans: this.ids(3).map((walletId) => ({ walletId, firstSeq: 1, lastSeq: 2 })),
    };
  }

  rule(): AssetRule {
    return {
      assetCode: this.random.pick(assets),
      version: this.random.between(1, 2),
      walletsAccount: this.random.pick(codes),
      clearingAccount: this.random.pick(codes),
      rate: this.random.pick([null, "1", "0.25"]),
      exponent: 2,
      overdraftLimit: 0n,
      maxBalance: this.random.happens(50) ? null : this.amount(),
      dailyDebitMax: this.random.happens(50) ? null : this.amount(),
    };
  }

  close(): CloseRecord {
    const number = this.random.between(1, 2);
    return {
      ledgerId: this.ledgerId(),
      closeId: id(6, this.random.between(1, 3)),
      number,
      periodId: `2026-0${number}`,
      reason: this.text(),
      startsAt: this.random.happens(50) ? null : ("2025-01-01T00:00:00.000Z" as Timestamp),
      endsAt: this.time(),
      closedAt: this.time(),
      lastSequence: 2,
      entryCount: 2,
      merkleRoot: "aa",
      merkleAlgorithm: "rfc6962-sha256-jcs-v1",
      balancesRoot: "bb",
      previousCloseHash: null,
      closeHash: "cc",
    };
  }

  span() {
    return {
      startsAt: this.random.happens(30) ? null : ("2026-02-01T00:00:00.000Z" as Timestamp),
      endsAt: this.time(),
      afterSequence: this.random.below(2),
      upToSequence: this.random.between(2, 4),
    };
  }
}
