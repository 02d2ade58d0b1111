// What a benchmark is asked to do, from its flags.
import { requireDurationMs } from "../../input/arguments.ts";
import { requireHttpUrl } from "../../connection/settings.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { requireWholeNumber } from "../../input/whole-number.ts";
import type { LoadSettings } from "./load.ts";

export type BenchKind = "entries" | "wallets" | "streams" | "overload";

export interface BenchFlags extends ServiceFlags {
  rate?: string;
  duration: string;
  connections?: string;
  wallets?: string;
  hot?: boolean;
  bulk?: string;
  balances?: boolean;
  accounts?: string;
  readUrl?: string;
  factor?: string;
  serverPid?: string;
}

export interface WorkloadSettings {
  readonly walletCount: number;
  /** Writes in a request; null: one, and not as a bulk. */
  readonly bulk: number | null;
  /** Whether balances are read, and nothing is written. */
  readonly balances: boolean;
  /** null: the first two of the chart. */
  readonly accounts: readonly [string, string] | null;
  /** Where streams are read; null: where is written. */
  readonly readUrl: string | null;
}

export interface BenchSettings extends LoadSettings, WorkloadSettings {
  /** How many times the sustained rate an overload is. */
  readonly factor: number;
  /** The server's process on this machine; null: it is not watched. */
  readonly serverPid: number | null;
}

const walletCountDefault = 1_000;

export function readSettings(flags: BenchFlags): BenchSettings {
  const { rate, duration, connections = "1", bulk, factor = "2", serverPid } = flags;
  if (bulk !== undefined && flags.balances === true) {
    throw usageFailure("--balances reads one balance a request; leave out --bulk");
  }
  return {
    rate: rate === undefined ? null : requireWholeNumber("--rate", rate, 1, 1_000_000),
    durationMs: requireDurationMs("--duration", duration),
    connections: requireWholeNumber("--connections", connections, 1, 20_000),
    walletCount: readWalletCount(flags),
    bulk: bulk === undefined ? null : requireWholeNumber("--bulk", bulk, 1, 1_000),
    balances: flags.balances === true,
    accounts: flags.accounts === undefined ? null : readAccounts(flags.accounts),
    readUrl: flags.readUrl === undefined ? null : requireHttpUrl(flags.readUrl),
    factor: requireWholeNumber("--factor", factor, 1, 100),
    serverPid: serverPid === undefined ? null : requireWholeNumber("--server-pid", serverPid, 1),
  };
}

function readWalletCount({ wallets, hot }: BenchFlags): number {
  if (wallets === undefined) return hot === true ? 1 : walletCountDefault;
  if (hot === true) throw usageFailure("--hot writes one wallet; leave out --wallets");
  return requireWholeNumber("--wallets", wallets, 1, 1_000_000);
}

function readAccounts(text: string): readonly [string, string] {
  const [first = "", second = "", ...more] = text.split(",");
  if (first === "" || second === "" || more.length > 0 || first === second) {
    throw usageFailure("--accounts must be two accounts, such as 1000,4000");
  }
  return [first, second];
}
