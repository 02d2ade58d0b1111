// One wallet: holds and their instants, the clock that never runs backwards, overdraft.
import { describe, expect, test } from "vitest";
import type { Timestamp } from "../../src/core/time.ts";
import {
  availableOf,
  duplicateReply,
  expiredHolds,
  type Hold,
  type WalletState,
  type WalletWrite,
} from "../../src/core/wallet.ts";
import { decideWalletWrite } from "../../src/core/wallet-write.ts";

const at = (time: string) => `2026-03-01T${time}Z` as Timestamp;
const noon = at("12:00:00.000");

function hold(holdId: string, amount: bigint, more: Partial<Hold> = {}): Hold {
  return { holdId, walletId: "w", amount, expiresAt: null, status: "active", ...more };
}

function state(balance: bigint, holds: Hold[] = [], lastAt = at("00:00:00.000")): WalletState {
  const held = holds.reduce((sum, { amount }) => sum + amount, 0n);
  const wallet = {
    walletId: "w",
    callerKey: "k",
    assetCode: "USD",
    balance,
    held,
    lastSeq: 4,
    lastAt,
    logHash: null,
    frozenAt: null,
    debitedOn: null,
    debited: null,
  };
  return { wallet, activeHolds: new Map(holds.map((one) => [one.holdId, one])) };
}

const debit = (amount: bigint) => ({
  type: "debit" as const,
  callerKey: "k",
  amount,
  assetCode: "USD",
  externalId: null,
  metadata: null,
});

function decide(given: WalletState, write: WalletWrite, now = noon, more = {}) {
  return decideWalletWrite(given, write, {
    now,
    limits: { overdraftLimit: 0n, maxBalance: null, dailyDebitMax: null },
    namedHold: "holdId" in write ? given.activeHolds.get(write.holdId ?? "") : undefined,
    newHoldId: () => "new",
    ...more,
  });
}

function change(...given: Parameters<typeof decide>) {
  const decision = decide(...given);
  if ("refusal" in decision) throw decision.refusal;
  return decision;
}

function problem(...given: Parameters<typeof decide>): string | null {
  const decision = decide(...given);
  return "refusal" in decision ? decision.refusal.problem : null;
}

describe("a hold that expires", () => {
  const expiring = state(100n, [hold("h", 40n, { expiresAt: noon }), hold("other", 5n)]);

  test("counts up to the millisecond before its instant, and not at it", () => {
    expect(availableOf(expiring, at("11:59:59.999"))).toBe(55n);
    expect(availableOf(expiring, noon)).toBe(95n);
    expect(expiredHolds(expiring, at("11:59:59.999"))).toEqual([]);
    expect(expiredHolds(expiring, noon).map(({ holdId }) => holdId)).toEqual(["h"]);
  });

  test("frees its amount at its instant, and is logged first, at the same moment", () => {
    expect(problem(expiring, debit(56n), at("11:59:59.999"))).toBe("insufficientFunds");
    const { entries, holds, reply } = change(expiring, debit(95n));
    expect(entries).toMatchObject([
      { seq: 5, type: "expire", amount: 40n, balance: 100n, held: 5n, at: noon, holdId: "h" },
      { seq: 6, type: "debit", amount: 95n, balance: 5n, held: 5n, at: noon, holdId: null },
    ]);
    expect(holds).toMatchObject([{ holdId: "h", status: "expired" }]);
    expect(reply).toMatchObject({ status: "accepted", balance: 5n, available: 0n });
  });

  test("can be resolved up to then, and not at its instant", () => {
    for (const type of ["commit", "release"] as const) {
      const resolve: WalletWrite = { type, callerKey: "k", holdId: "h", amount: null };
      expect(problem(expiring, resolve, at("11:59:59.999"))).toBeNull();
      expect(problem(expiring, resolve)).toBe("holdResolved");
    }
  });

  test("has its expiry logged by what was refused for it", () => {
    const decision = decide(expiring, { type: "release", callerKey: "k", holdId: "h" });
    expect(decision).toMatchObject({
      refusal: { problem: "holdResolved" },
      expiries: {
        entries: [{ seq: 5, type: "expire", amount: 40n, balance: 100n, held: 5n, holdId: "h" }],
        holds: [{ holdId: "h", status: "expired" }],
      },
    });
    expect(decide(expiring, debit(96n))).toMatchObject({ expiries: null });
  });

  test("begins at the moment of its reservation", () => {
    const reserve: WalletWrite = { ...debit(10n), type: "reserve", expiresInSeconds: 90 };
    const { holds } = change(state(10n), reserve);
    expect(holds).toEqual([hold("new", 10n, { expiresAt: at("12:01:30.000") })]);
  });
});

describe("a clock that is behind the wallet's last write", () => {
  const ahead = state(100n, [hold("h", 40n, { expiresAt: noon })], at("13:00:00.000"));

  test("does not bring an expired hold back", () => {
    expect(availableOf(ahead, at("11:00:00.000"))).toBe(100n);
    expect(duplicateReply(ahead, at("11:00:00.000"), null).available).toBe(100n);
  });

  test("leaves the wallet's time where it is", () => {
    const { entries, state: after } = change(ahead, debit(1n), at("11:00:00.000"));
    expect(entries.map((entry) => entry.at)).toEqual([at("13:00:00.000"), at("13:00:00.000")]);
    expect(after.wallet.lastAt).toBe(at("13:00:00.000"));
  });
});

describe("an overdraft limit", () => {
  test("is the last unit that may be taken, holds counted", () => {
    const given = state(100n, [hold("h", 30n)]);
    const limit = { limits: { overdraftLimit: 50n, maxBalance: null, dailyDebitMax: null } };
    expect(problem(given, debit(120n), noon, limit)).toBeNull();
    expect(problem(given, debit(121n), noon, limit)).toBe("insufficientFunds");
    const reserve: WalletWrite = { ...debit(121n), type: "reserve", expiresInSeconds: null };
    expect(problem(given, reserve, noon, limit)).toBe("insufficientFunds");
  });

  test("does not keep a hold from being committed once it was granted", () => {
    const overdrawn = state(-40n, [hold("h", 30n)]);
    const commit: WalletWrite = { type: "commit", callerKey: "k", holdId: "h", amount: null };
    expect(change(overdrawn, commit).reply).toMatchObject({ balance: -70n, available: -70n });
  });

  test("does not keep a wallet below it from being credited", () => {
    expect(problem(state(-400n), { ...debit(1n), type: "credit" })).toBeNull();
  });
});
