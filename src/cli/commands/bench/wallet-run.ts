// The wallets of one run of `bench wallets`, and what each of its writes does to which of them.

/** What each wallet starts with: enough for any debits in any order. */
export const fundingAmount = 1_000_000_000_000n;

export interface WalletRun {
  readonly ledgerId: string;
  readonly assetCode: string;
  readonly run: string;
  readonly walletCount: number;
}

export interface Movement {
  readonly wallet: number;
  readonly type: "credit" | "debit";
  readonly amount: bigint;
}

export function callerKeyOf({ run }: WalletRun, wallet: number): string {
  return `bench-${run}-${wallet}`;
}

export function fundingIdOf({ run }: WalletRun): string {
  return `bench-${run}-funding`;
}

/** What a write does: three credits to a debit, wallets as if at random (Knuth's multiplicative hash). */
export function movementOf({ walletCount }: WalletRun, number: number): Movement {
  const wallet = (Math.imul(number, 2_654_435_761) >>> 0) % walletCount;
  return number % 4 === 0
    ? { wallet, type: "debit", amount: BigInt(1 + (number % 499)) }
    : { wallet, type: "credit", amount: BigInt(1 + (number % 997)) };
}
