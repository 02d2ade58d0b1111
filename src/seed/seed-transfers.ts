// The last evening of a seeded ledger: amounts that its wallets give each other, and wallets that are frozen. Its randomness is
// its own, so that all that comes before is the same with it and without it.
import type { WalletTransfer } from "../core/wallet-transfer.ts";
import type { WalletState, WalletWrite } from "../core/wallet.ts";
import type { SeededRandom } from "./seeded-random.ts";

const amountMax = 5_000;

/** The limits that assets have in the end. */
export const seedLimits = { maxBalance: 100_000_000n, dailyDebitMax: 1_000_000n };

/** The wallets of one asset: two or more. */
export interface AssetWallets {
  readonly assetCode: string;
  readonly keys: readonly string[];
}

/** Makes as many transfers as are wanted; fewer only where no wallet has anything to give. */
export function makeTransfers(
  random: SeededRandom,
  assets: readonly AssetWallets[],
  states: ReadonlyMap<string, WalletState>,
  count: number,
): readonly WalletTransfer[] {
  const funds = new Funds(states);
  const transfers: WalletTransfer[] = [];
  let giving = assets;
  while (transfers.length < count && giving.length > 0) {
    const asset = random.pick(giving);
    const { keys } = asset;
    const from = pickGiver(random, keys, funds);
    if (from === null) giving = giving.filter((each) => each !== asset);
    else {
      const to = (from + 1 + random.below(keys.length - 1)) % keys.length;
      const sides = { from: keys[from] ?? "", to: keys[to] ?? "", assetCode: asset.assetCode };
      transfers.push(makeTransfer(random, sides, funds, transfers.length + 1));
    }
  }
  return transfers;
}

/** The place of the first wallet, from somewhere on, that has something to give. */
function pickGiver(random: SeededRandom, keys: readonly string[], funds: Funds): number | null {
  const first = random.below(keys.length);
  for (let step = 0; step < keys.length; step += 1) {
    const place = (first + step) % keys.length;
    if (funds.of(keys[place] ?? "") > 0n) return place;
  }
  return null;
}

/** One in five comes out of a hold, where the wallet that gives has one. */
function makeTransfer(
  random: SeededRandom,
  sides: Pick<WalletTransfer, "from" | "to" | "assetCode">,
  funds: Funds,
  number: number,
): WalletTransfer {
  const hold = random.happens(20) ? funds.takeHold(sides.from) : null;
  const most = hold?.amount ?? funds.of(sides.from);
  const amount = BigInt(random.between(1, most < amountMax ? Number(most) : amountMax));
  funds.add(sides.from, (hold?.amount ?? 0n) - amount);
  funds.add(sides.to, amount);
  return {
    type: "transfer",
    ...sides,
    amount,
    externalId: `gift-${String(number).padStart(7, "0")}`,
    metadata: JSON.stringify({ gift: number }),
    fromHold: hold === null ? null : { holdId: hold.holdId },
  };
}

/** What wallets can give while transfers are made up. */
class Funds {
  readonly #available = new Map<string, bigint>();
  readonly #holds = new Map<string, { readonly holdId: string; readonly amount: bigint }[]>();

  constructor(states: ReadonlyMap<string, WalletState>) {
    for (const [key, { wallet, activeHolds }] of states) {
      this.#available.set(key, wallet.balance - wallet.held);
      this.#holds.set(key, [...activeHolds.values()]);
    }
  }

  of(key: string): bigint {
    return this.#available.get(key) ?? 0n;
  }

  add(key: string, amount: bigint): void {
    this.#available.set(key, this.of(key) + amount);
  }

  takeHold(key: string): { readonly holdId: string; readonly amount: bigint } | null {
    return this.#holds.get(key)?.pop() ?? null;
  }
}

/** Freezes as many wallets as are wanted, none twice. */
export function makeFreezes(
  random: SeededRandom,
  keys: readonly string[],
  count: number,
): readonly WalletWrite[] {
  const left = [...keys];
  return Array.from({ length: Math.min(count, keys.length) }, () => {
    const place = random.below(left.length);
    const callerKey = left[place] ?? "";
    // The last one takes its place.
    left[place] = left.at(-1) ?? "";
    left.pop();
    return { type: "freeze" as const, callerKey };
  });
}
