// Random transfers, writes, holds, limits and freezes against a naive oracle that keeps one number for each thing.
import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultAssetRule } from "../../src/core/asset.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { decideWalletBatch, type WalletItem } from "../../src/core/wallet-batch.ts";
import type { WalletTransfer } from "../../src/core/wallet-transfer.ts";

const now = "2026-03-01T12:00:00.000Z" as Timestamp;
const keys = ["a", "b", "c"] as const;
type Key = (typeof keys)[number];

const key = fc.constantFrom(...keys);
const amount = fc.bigInt({ min: 1n, max: 60n });
const externalId = fc.option(fc.constantFrom("x", "y"), { freq: 3 });
const members = { assetCode: fc.constant("USD"), externalId, metadata: fc.constant(null) };
const movement = fc.record({
  type: fc.constantFrom("credit" as const, "debit" as const),
  callerKey: key,
  amount,
  ...members,
});
const control = fc.record({
  type: fc.constantFrom("freeze" as const, "unfreeze" as const),
  callerKey: key,
});
const transfer = fc
  .record({ type: fc.constant("transfer" as const), from: key, to: key, amount, ...members })
  .filter(({ from, to }) => from !== to)
  .map((one): WalletTransfer => ({ ...one, fromHold: null }));
const atomic = fc
  .array(transfer, { minLength: 1, maxLength: 4 })
  .filter((transfers) => {
    const used = transfers.flatMap(({ from, externalId: id }) =>
      id === null ? [] : `${from} ${id}`,
    );
    return new Set(used).size === used.length;
  })
  .map((transfers) => ({ type: "atomic-transfers" as const, transfers }));
const item: fc.Arbitrary<WalletItem> = fc.oneof(movement, movement, control, transfer, atomic);

const limits = { overdraftLimit: 10n, maxBalance: 150n, dailyDebitMax: 90n };

class Oracle {
  balances: Partial<Record<Key, bigint>> = {};
  debited: Partial<Record<Key, bigint>> = {};
  frozen = new Set<string>();
  used = new Set<string>();

  copy(): Oracle {
    return Object.assign(new Oracle(), {
      balances: { ...this.balances },
      debited: { ...this.debited },
      frozen: new Set(this.frozen),
      used: new Set(this.used),
    });
  }

  isKnown(of: string, id: string | null): boolean {
    return id !== null && this.used.has(`${of} ${id}`);
  }

  /** Moves amounts, or says why not. */
  move(from: Key | null, to: Key | null, amount: bigint, id: string | null): string {
    const of = from ?? to ?? "a";
    if (this.isKnown(of, id)) return "duplicate";
    if (from !== null) {
      if (this.frozen.has(from)) return "walletFrozen";
      if ((this.balances[from] ?? 0n) - amount < -limits.overdraftLimit) return "insufficientFunds";
      if ((this.debited[from] ?? 0n) + amount > limits.dailyDebitMax) return "limitExceeded";
    }
    if (to !== null && (this.balances[to] ?? 0n) + amount > limits.maxBalance)
      return "limitExceeded";
    if (from !== null) {
      this.balances[from] = (this.balances[from] ?? 0n) - amount;
      this.debited[from] = (this.debited[from] ?? 0n) + amount;
    }
    if (to !== null) this.balances[to] = (this.balances[to] ?? 0n) + amount;
    if (id !== null) this.used.add(`${of} ${id}`);
    return "accepted";
  }

  decide(item: WalletItem): string {
    switch (item.type) {
      case "credit":
        return this.move(null, item.callerKey as Key, item.amount, item.externalId);
      case "debit":
        return this.move(item.callerKey as Key, null, item.amount, item.externalId);
      case "freeze":
      case "unfreeze": {
        const isThere = this.balances[item.callerKey as Key] !== undefined;
        if (!isThere) return "walletNotFound";
        if (this.frozen.has(item.callerKey) === (item.type === "freeze")) return "duplicate";
        if (item.type === "freeze") this.frozen.add(item.callerKey);
        else this.frozen.delete(item.callerKey);
        return "accepted";
      }
      case "transfer":
        return this.move(item.from as Key, item.to as Key, item.amount, item.externalId);
      case "atomic-transfers": {
        const known = item.transfers.filter((one) => this.isKnown(one.from, one.externalId)).length;
        if (known === item.transfers.length) return "duplicate";
        if (known > 0) return "partlyDuplicate";
        const trial = this.copy();
        for (const one of item.transfers) {
          const word = trial.decide(one);
          if (word !== "accepted") return word;
        }
        Object.assign(this, trial);
        return "accepted";
      }
      default:
        throw new Error("no such item here");
    }
  }
}

test("transfers, limits and freezes do what a naive oracle does, and transfers move no sum", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 25 }), (items) => {
      const oracle = new Oracle();
      const expected = items.map((one) => oracle.decide(one));
      let ids = 0;
      const batch = decideWalletBatch(
        {
          ledger: { ledgerId: "l", organizationId: "o", functionalCurrency: "USD" },
          status: "active",
          now,
          wallets: new Map(),
          rules: new Map([["USD", { ...defaultAssetRule("USD", "USD"), ...limits }]]),
          idempotencyKeys: new Map(),
          namedHolds: new Map(),
        },
        items,
        () => `id ${(ids += 1)}`,
      );
      const words = batch.outcomes.map((one) =>
        "reply" in one ? one.reply.status : one.refusal.problem,
      );
      expect(words).toEqual(expected);
      const balances = batch.wallets.map(({ wallet }) => [wallet.callerKey, wallet.balance]);
      expect(Object.fromEntries(balances)).toEqual(oracle.balances);
      for (const { wallet } of batch.wallets) {
        const rows = batch.writes.filter(({ callerKey }) => callerKey === wallet.callerKey);
        expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
        expect(rows.at(-1)?.balance).toBe(wallet.balance);
        expect(wallet.frozenAt !== null).toBe(oracle.frozen.has(wallet.callerKey));
        expect(wallet.debited).toBe(oracle.debited[wallet.callerKey as Key] ?? 0n);
      }
      const posted = batch.pendingPostings.reduce(
        (sum, { side, amount: part }) => sum + (side === "credit" ? part : -part),
        0n,
      );
      const total = batch.wallets.reduce((sum, { wallet }) => sum + wallet.balance, 0n);
      expect(posted).toBe(total);
    }),
    { numRuns: 2_000 },
  );
});
