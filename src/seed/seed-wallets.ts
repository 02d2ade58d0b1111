// The wallets of a seeded ledger: credits, debits and holds of an evening, decided by the wallets' own rules.
import type { AssetRule } from "../core/asset.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import { decideWalletBatch, type WalletBatch, type WalletItem } from "../core/wallet-batch.ts";
import type { Hold, Wallet, WalletState, WalletWrite } from "../core/wallet.ts";
import { timestampOf } from "./seed-business.ts";
import { shareOf, type SeedSettings, type WalletSlot } from "./seed-schedule.ts";
import { makeFreezes, makeTransfers } from "./seed-transfers.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Writes of a batch: many enough that a busy evening has some dozens of batches, not thousands. */
const writesPerBatchMin = 50;
const batchesPerSlotMax = 100;
const itemsPerBatchMax = 1_000;
const minuteMs = 60_000;

/** What a wallet can spend while a batch is being made up. */
interface Funds {
  available: bigint;
  /** The hold that can be resolved, if there is one. */
  holdId: string | null;
  /** Reserved in this very batch: its hold has no id yet. */
  isReserving: boolean;
}

export class SeedWallets {
  readonly #random: SeededRandom;
  readonly #ledger: LedgerIdentity;
  readonly #rules: readonly AssetRule[];
  readonly #states = new Map<string, WalletState>();
  readonly #holds = new Map<string, Hold>();
  /** The keys of each asset's wallets, by its place among the rules. */
  readonly #keys: string[][];
  #writeCount = 0;

  constructor(random: SeededRandom, ledger: LedgerIdentity, rules: readonly AssetRule[]) {
    this.#random = random;
    this.#ledger = ledger;
    this.#rules = rules;
    this.#keys = rules.map(() => []);
  }

  /** The batches of an evening. The first write of each is a credit, so that there is something to post. */
  *evening(slot: WalletSlot): Generator<WalletBatch> {
    const { writes, newWallets, atMs } = slot;
    const batches = Math.min(batchesPerSlotMax, Math.ceil(writes / writesPerBatchMin));
    for (let number = 0; number < batches; number += 1) {
      const batchMs = atMs - (batches - number + 1) * minuteMs;
      const share = (whole: number) => shareOf(whole, batches, number);
      yield this.#batch(slot.assetIndex, share(writes), share(newWallets), batchMs);
    }
  }

  /** Transfers between wallets, then wallets that are frozen, in as many batches as that takes from a moment on. */
  *lastEvening(
    { transfers, frozen }: Pick<SeedSettings, "transfers" | "frozen">,
    random: SeededRandom,
    atMs: number,
  ): Generator<WalletBatch> {
    const assets = this.#rules
      .map(({ assetCode }, index) => ({ assetCode, keys: this.#keys[index] ?? [] }))
      .filter(({ keys }) => keys.length > 1);
    const items: readonly WalletItem[] = [
      ...makeTransfers(random, assets, this.#states, transfers),
      ...makeFreezes(random, this.#keys.flat(), frozen),
    ];
    for (let first = 0; first < items.length; first += itemsPerBatchMax) {
      const part = items.slice(first, first + itemsPerBatchMax);
      const touched = part.flatMap((item) => {
        if (item.type === "transfer") return [item.from, item.to];
        return "callerKey" in item ? [item.callerKey] : [];
      });
      yield this.#decide(part, new Set(touched), atMs + first, random);
    }
  }

  /** The wallets as they are in the end, by key. */
  wallets(): readonly Wallet[] {
    return [...this.#states.keys()].sort().flatMap((key) => this.#states.get(key)?.wallet ?? []);
  }

  /** Every hold that was made, as it is in the end. */
  holds(): readonly Hold[] {
    return [...this.#holds.values()];
  }

  #batch(assetIndex: number, writes: number, newWallets: number, atMs: number): WalletBatch {
    const rule = this.#rules[assetIndex];
    const keys = this.#keys[assetIndex];
    if (rule === undefined || keys === undefined) throw new Error("wallets have an asset");
    const fundsByKey = new Map<string, Funds>();
    const items: WalletWrite[] = [];
    for (let number = 0; number < writes; number += 1) {
      if (number < newWallets) items.push(this.#firstCredit(rule, keys, fundsByKey));
      else items.push(this.#next(this.#random.pick(keys), rule, fundsByKey, number === 0));
    }
    return this.#decide(items, fundsByKey.keys(), atMs, this.#random);
  }

  /** Decides items on the wallets that they touch, and takes in what that does to them. */
  #decide(
    items: readonly WalletItem[],
    touched: Iterable<string>,
    atMs: number,
    random: SeededRandom,
  ): WalletBatch {
    const states = [...touched].flatMap((key) => {
      const state = this.#states.get(key);
      return state === undefined ? [] : [[key, state] as const];
    });
    const batch = decideWalletBatch(
      {
        ledger: this.#ledger,
        status: "active",
        now: timestampOf(atMs),
        wallets: new Map(states),
        rules: new Map(this.#rules.map((each) => [each.assetCode, each])),
        idempotencyKeys: new Map(),
        namedHolds: new Map(states.flatMap(([, { activeHolds }]) => [...activeHolds])),
      },
      items,
      () => random.id(atMs),
    );
    this.#settle(batch);
    return batch;
  }

  #settle(batch: WalletBatch): void {
    const refused = batch.outcomes.find((outcome) => "refusal" in outcome);
    if (refused !== undefined)
      throw new Error("a seed's wallet write is accepted", { cause: refused });
    for (const hold of batch.holds) this.#holds.set(hold.holdId, hold);
    const changed = new Map(batch.holds.map((hold) => [hold.walletId, [] as Hold[]]));
    for (const hold of batch.holds) changed.get(hold.walletId)?.push(hold);
    for (const { wallet } of batch.wallets) {
      const activeHolds = new Map(this.#states.get(wallet.callerKey)?.activeHolds);
      for (const hold of changed.get(wallet.walletId) ?? []) {
        if (hold.status === "active") activeHolds.set(hold.holdId, hold);
        else activeHolds.delete(hold.holdId);
      }
      this.#states.set(wallet.callerKey, { wallet, activeHolds });
    }
  }

  #firstCredit(rule: AssetRule, keys: string[], fundsByKey: Map<string, Funds>): WalletWrite {
    const number = String(keys.length + 1).padStart(5, "0");
    const key = `${rule.assetCode.toLowerCase()}-${number}`;
    keys.push(key);
    const funds = { available: 0n, holdId: null, isReserving: false };
    fundsByKey.set(key, funds);
    return this.#credit(key, rule, funds);
  }

  #next(
    callerKey: string,
    rule: AssetRule,
    fundsByKey: Map<string, Funds>,
    isCredit: boolean,
  ): WalletWrite {
    const funds = fundsByKey.get(callerKey) ?? this.#fundsOf(callerKey);
    fundsByKey.set(callerKey, funds);
    const roll = isCredit ? 0 : this.#random.below(100);
    if (roll < 50 || funds.available < 100n) return this.#credit(callerKey, rule, funds);
    const amount = BigInt(this.#random.between(1, Math.min(Number(funds.available), 8_000)));
    if (roll < 80) {
      funds.available -= amount;
      return { type: "debit", amount, ...this.#movement(callerKey, rule, "purchase") };
    }
    if (funds.holdId !== null) return this.#resolve(callerKey, funds, funds.holdId);
    if (funds.isReserving) return this.#credit(callerKey, rule, funds);
    funds.isReserving = true;
    funds.available -= amount;
    const movement = this.#movement(callerKey, rule, "booking");
    return { type: "reserve", amount, expiresInSeconds: null, ...movement };
  }

  /** Commits two of three holds, and releases the third. */
  #resolve(callerKey: string, funds: Funds, holdId: string): WalletWrite {
    funds.holdId = null;
    // What a release gives back is left until the next batch: only less is spent for it.
    return this.#random.happens(66)
      ? { type: "commit", callerKey, holdId, amount: null }
      : { type: "release", callerKey, holdId };
  }

  #credit(callerKey: string, rule: AssetRule, funds: Funds): WalletWrite {
    const amount = BigInt(this.#random.between(500, 20_000));
    funds.available += amount;
    return { type: "credit", amount, ...this.#movement(callerKey, rule, "top-up") };
  }

  #movement(callerKey: string, { assetCode }: AssetRule, what: string) {
    this.#writeCount += 1;
    const externalId = `${what}-${String(this.#writeCount).padStart(7, "0")}`;
    return { callerKey, assetCode, externalId, metadata: JSON.stringify({ order: externalId }) };
  }

  #fundsOf(callerKey: string): Funds {
    const state = this.#states.get(callerKey);
    if (state === undefined) throw new Error("a wallet that was credited is there");
    const { balance, held } = state.wallet;
    const [holdId = null] = state.activeHolds.keys();
    return { available: balance - held, holdId, isReserving: false };
  }
}
