// `bench wallets`: credits and debits of wallets that are this run's own, or reads of their balances. How they are verified is in
// wallet-logs.ts.
import { paths } from "../../../contract/paths.ts";
import type { BulkMovementInput, LedgerClient } from "../../../client/ledger-client.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import type { WorkloadBench } from "./open-bench.ts";
import { readPosition } from "./position.ts";
import type { WorkloadSettings } from "./settings.ts";
import { verifyWallets } from "./wallet-logs.ts";
import {
  callerKeyOf,
  fundingAmount,
  fundingIdOf,
  movementOf,
  type WalletRun,
} from "./wallet-run.ts";
import { externalIdOf, type BenchRequest, type Workload } from "./workload.ts";

const bulkMax = 1_000;

export async function prepareWallets(
  { client, ledger, run }: WorkloadBench,
  settings: WorkloadSettings,
): Promise<Workload & { walletRun: WalletRun }> {
  const { walletCount } = settings;
  const assetCode = ledger.functionalCurrency;
  const walletRun: WalletRun = { ledgerId: ledger.id, assetCode, run, walletCount };
  const account = `wallets:${assetCode}`;
  const before = await readPosition(client, ledger.id, [account]);
  await fundWallets(client, walletRun);
  const { balances, bulk } = settings;
  return {
    walletRun,
    described: { wallets: walletCount, ...(bulk === null ? {} : { bulk }) },
    writesPerRequest: balances ? 0 : (bulk ?? 1),
    request: balances
      ? (number) => balanceRequest(walletRun, number)
      : bulk === null
        ? (number) => writeRequest(walletRun, number)
        : (number) => bulkRequest(walletRun, number, bulk),
    verify: (outcomes, tell) =>
      verifyWallets({ client, walletRun, account, before }, outcomes, tell),
  };
}

function writeRequest(walletRun: WalletRun, number: number): BenchRequest {
  const { callerKey, type, ...body } = movementInput(walletRun, number);
  const walletKey = `${walletRun.ledgerId}:${callerKey}`;
  const target = (type === "credit" ? paths.creditWallet : paths.debitWallet)({ walletKey });
  return { method: "POST", target, body: JSON.stringify(body) };
}

function bulkRequest(walletRun: WalletRun, number: number, bulk: number): BenchRequest {
  const writes = Array.from({ length: bulk }, (_, index) =>
    movementInput(walletRun, (number - 1) * bulk + 1 + index),
  );
  const target = paths.writeWallets({ ledgerId: walletRun.ledgerId });
  return { method: "POST", target, body: JSON.stringify({ writes }) };
}

function balanceRequest(walletRun: WalletRun, number: number): BenchRequest {
  const { wallet } = movementOf(walletRun, number);
  const walletKey = `${walletRun.ledgerId}:${callerKeyOf(walletRun, wallet)}`;
  return { method: "GET", target: paths.getWalletBalance({ walletKey }), body: "" };
}

function movementInput(walletRun: WalletRun, number: number): BulkMovementInput {
  const { wallet, type, amount } = movementOf(walletRun, number);
  return {
    callerKey: callerKeyOf(walletRun, wallet),
    type,
    amount: amount.toString(),
    assetCode: walletRun.assetCode,
    externalId: externalIdOf(walletRun.run, number),
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
