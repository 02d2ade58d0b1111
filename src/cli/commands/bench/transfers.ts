// `bench transfers`: amounts that move between wallets that are this run's own. The logs of both wallets are read for each.
import { paths } from "../../../contract/paths.ts";
import type { TransferInput, WalletLogEntry } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { usageFailure, type ExitCode } from "../../failure.ts";
import { Findings, type Check } from "./findings.ts";
import { readBulk, readLoadSettings, readWalletCount, type LoadFlags } from "./load-flags.ts";
import { measure } from "./measure.ts";
import type { BenchLedger } from "./open-bench.ts";
import type { OutcomeLog } from "./outcome-log.ts";
import { verifyWallets } from "./wallet-logs.ts";
import {
  callerKeyOf,
  neverSent,
  seenNumber,
  spread,
  type SentWrites,
  type WalletRun,
} from "./wallet-writes.ts";
import { openWallets } from "./wallets.ts";
import { externalIdOf, type Workload } from "./workload.ts";

export interface TransfersFlags extends LoadFlags {
  wallets: string;
  bulk?: string;
  atomic?: boolean;
}

interface TransfersSettings {
  readonly walletCount: number;
  readonly bulk?: number;
  /** Whether all transfers of a request are made or none. */
  readonly atomic?: boolean;
}

export async function benchTransfers(
  flags: TransfersFlags,
  environment: Environment,
): Promise<ExitCode> {
  const load = readLoadSettings(flags);
  const { wallets, bulk, atomic = false } = flags;
  const walletCount = readWalletCount(wallets);
  if (walletCount < 2) throw usageFailure("--wallets must be at least 2: a transfer has two");
  const settings = { walletCount, atomic, bulk: bulk === undefined ? 1 : readBulk(bulk) };
  return measure("transfers", flags, environment, {
    prepare: (bench) => prepareTransfers(bench, settings),
    load: async (runLoad) => ({ load: await runLoad(load) }),
  });
}

export async function prepareTransfers(
  bench: BenchLedger,
  { walletCount, bulk = 1, atomic = false }: TransfersSettings,
): Promise<Workload> {
  const funded = await openWallets(bench, walletCount);
  const { walletRun } = funded;
  const target = paths.transferFunds({ ledgerId: walletRun.ledgerId });
  return {
    described: { wallets: walletCount, ...(bulk > 1 && { bulk }), ...(atomic && { atomic }) },
    writesPerRequest: bulk,
    request: (number) => {
      const first = (number - 1) * bulk + 1;
      const transfers = Array.from({ length: bulk }, (_, index) =>
        transferInput(walletRun, first + index),
      );
      return { method: "POST", target, body: JSON.stringify({ transfers, atomic }) };
    },
    verify: async (outcomes) => {
      const sent = new SentTransfers(walletRun);
      const verdict = await verifyWallets({ ...funded, sent }, outcomes);
      return { ...verdict, checks: [...verdict.checks, sent.checkSides()] };
    },
  };
}

interface Transfer {
  readonly from: number;
  readonly to: number;
  readonly amount: bigint;
}

/** Between any two wallets, in either direction. */
function transferOf({ walletCount }: WalletRun, number: number): Transfer {
  const from = spread(number, walletCount);
  // Another wallet than the first, whichever it is: 1 to the number of wallets less one further on.
  const to = (from + 1 + spread(number * 7 + 3, walletCount - 1)) % walletCount;
  return { from, to, amount: BigInt(1 + (number % 997)) };
}

function transferInput(walletRun: WalletRun, number: number): TransferInput {
  const { from, to, amount } = transferOf(walletRun, number);
  return {
    from: callerKeyOf(walletRun, from),
    to: callerKeyOf(walletRun, to),
    amount: amount.toString(),
    assetCode: walletRun.assetCode,
    externalId: externalIdOf(walletRun.run, number),
  };
}

/** The transfers of a run, as the logs of both wallets have them. */
class SentTransfers implements SentWrites {
  readonly #walletRun: WalletRun;
  /** By transferId, of the transfers of which one side was read; it says what the other one has to be. */
  readonly #otherSides = new Map<string, string>();
  readonly #faults = new Findings();
  #sidesRead = 0;

  constructor(walletRun: WalletRun) {
    this.#walletRun = walletRun;
  }

  readonly walletsOf = (number: number): readonly number[] => {
    const { from, to } = transferOf(this.#walletRun, number);
    return [from, to];
  };

  readonly see = (wallet: number, row: WalletLogEntry, outcomes: OutcomeLog): string | null => {
    const { transferId, type } = row;
    if (transferId === undefined) return neverSent(row);
    this.#pair(wallet, row, transferId);
    // Only the wallet that pays has the externalId.
    if (type === "transfer-in") return row.externalId === null ? null : neverSent(row);
    const number = seenNumber(this.#walletRun, row, outcomes);
    if (number === null) return neverSent(row);
    const { from, to, amount } = transferOf(this.#walletRun, number);
    const isAsSent =
      from === wallet &&
      callerKeyOf(this.#walletRun, to) === row.counterparty &&
      amount.toString() === row.amount;
    return isAsSent ? null : `holds transfer ${number} otherwise than it was sent`;
  };

  /** Whether each transfer that is in one log is in the other one, with the same amount. */
  checkSides(): Check {
    for (const [transferId, side] of this.#otherSides) {
      this.#faults.add(`transfer ${transferId} has no other side (${side})`);
    }
    return this.#faults.check("every transfer is in the logs of both wallets", this.#sidesRead);
  }

  #pair(wallet: number, { type, amount, counterparty }: WalletLogEntry, transferId: string): void {
    this.#sidesRead += 1;
    const own = callerKeyOf(this.#walletRun, wallet);
    const other = type === "transfer-out" ? "transfer-in" : "transfer-out";
    const expected = this.#otherSides.get(transferId);
    if (expected === undefined) {
      const side = `${other} of ${amount} in ${counterparty ?? ""}, with ${own}`;
      this.#otherSides.set(transferId, side);
      return;
    }
    this.#otherSides.delete(transferId);
    const found = `${type} of ${amount} in ${own}, with ${counterparty ?? ""}`;
    if (found !== expected) {
      this.#faults.add(`transfer ${transferId} has a ${found}, and not a ${expected}`);
    }
  }
}
