// `bench wallets`: credits and debits of wallets that are this run's own. How they are verified is in
// wallet-logs.ts.
import { paths } from "../../../contract/paths.ts";
import type { LedgerClient, BulkMovementInput, Ledger } from "../../../client/ledger-client.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { readStanding } from "./books.ts";
import type { BenchSettings } from "./settings.ts";
import { verifyWallets } from "./wallet-logs.ts";
import {
  callerKeyOf,
  fundingAmount,
  fundingIdOf,
  movementOf,
  type WalletRun,
} from "./wallet-run.ts";
import { externalIdOf, type Workload } from "./workload.ts";

const bulkMax = 1_000;

export async function prepareWallets(
  client: LedgerClient,
  ledger: Ledger,
  run: string,
  settings: BenchSettings,
): Promise<Workload> {
  const { walletCount } = settings;
  const assetCode = ledger.functionalCurrency;
  const walletRun: WalletRun = { ledgerId: ledger.id, assetCode, run, walletCount };
  const account = `wallets:${assetCode}`;
  const before = await readStanding(client, ledger.id, [account]);
  await fundWallets(client, walletRun);
  return {
    described: { wallets: walletCount },
    request: (number) => {
      const { wallet, type, amount } = movementOf(walletRun, number);
      const walletKey = `${ledger.id}:${callerKeyOf(walletRun, wallet)}`;
      const externalId = externalIdOf(run, number);
      return {
        method: "POST",
        target: (type === "credit" ? paths.creditWallet : paths.debitWallet)({ walletKey }),
        body: JSON.stringify({ amount: amount.toString(), assetCode, externalId }),
      };
    },
    verify: (outcomes, tell) =>
      verifyWallets({ client, walletRun, account, before }, outcomes, tell),
  };
}

/** Not measured. Without it a debit that comes before the first credit would be refused. */
async function fundWallets(client: LedgerClient, walletRun: WalletRun): Promise<void> {
  const { ledgerId, assetCode, walletCount } = walletRun;
  for (let first = 0; first < walletCount; first += bulkMax) {
    const length = Math.min(bulkMax, walletCount - first);
    const writes = Array.from({ length }, (_, index): BulkMovementInput => ({
      callerKey: callerKeyOf(walletRun, first + index),
      type: "credit",
      amount: fundingAmount.toString(),
      assetCode,
      externalId: fundingIdOf(walletRun),
    }));
    const { results } = await client.writeWallets(ledgerId, writes);
    for (const result of results) {
      if ("error" in result) {
        throw new CommandFailure(
          `the wallets can't be funded: ${result.error} (${result.status})`,
          exitCodes.failed,
        );
      }
    }
  }
}
