// What a benchmark is asked to do, from its flags.
import type { LoadSettings } from "./load.ts";
import { requireDurationMs } from "../../input/arguments.ts";
import { usageFailure } from "../../failure.ts";
import type { ServiceFlags } from "../../options.ts";
import { requireWholeNumber } from "../../input/whole-number.ts";

export type BenchKind = "entries" | "wallets";

export interface BenchFlags extends ServiceFlags {
  rate?: string;
  duration: string;
  connections: string;
  wallets?: string;
  hot?: boolean;
  accounts?: string;
}

export interface BenchSettings extends LoadSettings {
  readonly walletCount: number;
  /** null: the first two of the chart. */
  readonly accounts: readonly [string, string] | null;
}

const walletCountDefault = 1_000;

export function readSettings(flags: BenchFlags): BenchSettings {
  const { rate, duration, connections } = flags;
  return {
    rate: rate === undefined ? null : requireWholeNumber("--rate", rate, 1, 1_000_000),
    durationMs: requireDurationMs("--duration", duration),
    connections: requireWholeNumber("--connections", connections, 1, 4_096),
    walletCount: readWalletCount(flags),
    accounts: flags.accounts === undefined ? null : readAccounts(flags.accounts),
  };
}

function readWalletCount({ wallets, hot }: BenchFlags): number {
  if (wallets === undefined) return hot === true ? 1 : walletCountDefault;
  if (hot === true) throw usageFailure("--hot writes one wallet; leave out --wallets");
  return requireWholeNumber("--wallets", wallets, 1, 100_000);
}

function readAccounts(text: string): readonly [string, string] {
  const [first = "", second = "", ...more] = text.split(",");
  if (first === "" || second === "" || more.length > 0 || first === second) {
    throw usageFailure("--accounts must be two accounts, such as 1000,4000");
  }
  return [first, second];
}
