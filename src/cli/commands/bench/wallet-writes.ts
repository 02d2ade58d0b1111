// The wallets of one run, and what each of its writes does to which of them.
import type { BulkMovementInput, LedgerClient } from "../../../client/ledger-client.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { externalIdOf } from "./workload.ts";

/** What each wallet starts with: enough for any debits in any order. */
export const fundingAmount = 1_000_000_000_000n;
const bulkMax = 1_000;

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

export function movementInput(walletRun: WalletRun, number: number): BulkMovementInput {
  const externalId = externalIdOf(walletRun.run, number);
  return inputOf(walletRun, movementOf(walletRun, number), externalId);
}

/** Not measured. Without it a debit that comes before the first credit would be refused. */
export async function fundWallets(client: LedgerClient, walletRun: WalletRun): Promise<void> {
  const { ledgerId, walletCount } = walletRun;
  for (let first = 0; first < walletCount; first += bulkMax) {
    const length = Math.min(bulkMax, walletCount - first);
    const writes = Array.from({ length }, (_, index) => {
      const funding = { wallet: first + index, type: "credit", amount: fundingAmount } as const;
      return inputOf(walletRun, funding, fundingIdOf(walletRun));
    });
    const { results } = await client.writeWallets(ledgerId, writes);
    const refused = results.find((result) => "error" in result);
    if (refused !== undefined) {
      throw new CommandFailure(
        `the wallets can't be funded: ${refused.error} (${refused.status})`,
        exitCodes.failed,
      );
    }
  }
}

function inputOf(
  walletRun: WalletRun,
  { wallet, type, amount }: Movement,
  externalId: string,
): BulkMovementInput {
  const { assetCode } = walletRun;
  const callerKey = callerKeyOf(walletRun, wallet);
  return { callerKey, type, amount: amount.toString(), assetCode, externalId };
}
