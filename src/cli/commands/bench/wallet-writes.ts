// The wallets of one run, and what each of its writes does to which of them.
import type {
  BulkMovementInput,
  LedgerClient,
  WalletLogEntry,
} from "../../../client/ledger-client.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import type { OutcomeLog } from "./outcome-log.ts";
import { externalIdOf, numberOf } from "./workload.ts";

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

/** What the writes 1, 2, 3 … of a run were, for whoever finds them in logs. */
export interface SentWrites {
  /** The wallets that a write was sent to. */
  readonly walletsOf: (number: number) => readonly number[];
  /** Takes note of a row that did not fund its wallet; gives what is wrong with it, or null. */
  readonly see: (wallet: number, row: WalletLogEntry, outcomes: OutcomeLog) => string | null;
}

export function callerKeyOf({ run }: WalletRun, wallet: number): string {
  return `bench-${run}-${wallet}`;
}

export function fundingIdOf({ run }: WalletRun): string {
  return `bench-${run}-funding`;
}

/** Spreads numbers as if at random (Knuth's multiplicative hash): from 0 up to, not including, `below`. */
export function spread(number: number, below: number): number {
  return (Math.imul(number, 2_654_435_761) >>> 0) % below;
}

/** What a write does: three credits to a debit, wallets as if at random. */
export function movementOf({ walletCount }: WalletRun, number: number): Movement {
  const wallet = spread(number, walletCount);
  return number % 4 === 0
    ? { wallet, type: "debit", amount: BigInt(1 + (number % 499)) }
    : { wallet, type: "credit", amount: BigInt(1 + (number % 997)) };
}

export function movementInput(walletRun: WalletRun, number: number): BulkMovementInput {
  const externalId = externalIdOf(walletRun.run, number);
  return inputOf(walletRun, movementOf(walletRun, number), externalId);
}

/** The movements of a run, as its wallets' logs have them. */
export function sentMovements(walletRun: WalletRun): SentWrites {
  return {
    walletsOf: (number) => [movementOf(walletRun, number).wallet],
    see: (wallet, row, outcomes) => {
      const number = seenNumber(walletRun, row, outcomes);
      if (number === null) return neverSent(row);
      const sent = movementOf(walletRun, number);
      const isAsSent =
        sent.wallet === wallet && sent.type === row.type && sent.amount.toString() === row.amount;
      return isAsSent ? null : `holds write ${number} otherwise than it was sent`;
    },
  };
}

/** The number of the write that a row is of, which is noted as seen; null where none such was sent. */
export function seenNumber(
  { run }: WalletRun,
  { externalId }: WalletLogEntry,
  outcomes: OutcomeLog,
): number | null {
  const number = numberOf(run, externalId);
  return number !== null && outcomes.see(number) ? number : null;
}

export function neverSent({ seq }: WalletLogEntry): string {
  return `holds a write at seq ${seq} that was never sent`;
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
