// `bench wallets`: credits and debits of wallets that are this run's own, or reads of their balances. How they are verified is in
// wallet-logs.ts.
import { paths } from "../../../contract/paths.ts";
import type { Environment } from "../../../config.ts";
import { usageFailure, type ExitCode } from "../../failure.ts";
import { readBulk, readLoadSettings, readWalletCount, type LoadFlags } from "./load-flags.ts";
import { measure } from "./measure.ts";
import type { BenchLedger } from "./open-bench.ts";
import { readPosition } from "./position.ts";
import { verifyWallets, type WalletsToVerify } from "./wallet-logs.ts";
import {
  callerKeyOf,
  fundWallets,
  movementInput,
  movementOf,
  sentMovements,
  type WalletRun,
} from "./wallet-writes.ts";
import type { BenchRequest, Workload } from "./workload.ts";

export interface WalletsFlags extends LoadFlags {
  wallets?: string;
  hot?: boolean;
  bulk?: string;
  balances?: boolean;
}

interface WalletsSettings {
  readonly walletCount: number;
  /** Writes in a request; null: one, and not as a bulk. */
  readonly bulk?: number | null;
  /** Whether balances are read, and nothing is written. */
  readonly balances?: boolean;
}

export async function benchWallets(
  flags: WalletsFlags,
  environment: Environment,
): Promise<ExitCode> {
  const load = readLoadSettings(flags);
  const settings = readWalletsSettings(flags);
  return measure("wallets", flags, environment, {
    prepare: (bench) => prepareWallets(bench, settings),
    load: async (runLoad) => ({ load: await runLoad(load) }),
  });
}

function readWalletsSettings(flags: WalletsFlags): WalletsSettings {
  const { wallets, hot = false, bulk, balances = false } = flags;
  if (bulk !== undefined && balances) {
    throw usageFailure("--balances reads one balance a request; leave out --bulk");
  }
  if (hot && wallets !== undefined) {
    throw usageFailure("--hot writes one wallet; leave out --wallets");
  }
  return {
    walletCount: readWalletCount(wallets ?? (hot ? "1" : "1000")),
    bulk: bulk === undefined ? null : readBulk(bulk),
    balances,
  };
}

export async function prepareWallets(
  bench: BenchLedger,
  { walletCount, bulk = null, balances = false }: WalletsSettings,
): Promise<Workload & { walletRun: WalletRun }> {
  const funded = await openWallets(bench, walletCount);
  const { walletRun } = funded;
  return {
    walletRun,
    described: { wallets: walletCount, ...(bulk === null ? {} : { bulk }) },
    writesPerRequest: balances ? 0 : (bulk ?? 1),
    request: balances
      ? (number) => balanceRequest(walletRun, number)
      : bulk === null
        ? (number) => writeRequest(walletRun, number)
        : (number) => bulkRequest(walletRun, number, bulk),
    verify: (outcomes) => verifyWallets({ ...funded, sent: sentMovements(walletRun) }, outcomes),
  };
}

/** Makes the wallets of a run and funds them; gives what verifying them needs. */
export async function openWallets(
  { client, ledger, run, progress }: BenchLedger,
  walletCount: number,
): Promise<Omit<WalletsToVerify, "sent">> {
  const assetCode = ledger.functionalCurrency;
  const walletRun: WalletRun = { ledgerId: ledger.id, assetCode, run, walletCount };
  const account = `wallets:${assetCode}`;
  const before = await readPosition(client, ledger.id, [account]);
  await fundWallets(client, walletRun);
  return { client, progress, walletRun, account, before };
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
