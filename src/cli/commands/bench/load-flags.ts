// The flags that several benchmarks have.
import { bulkItemsMax } from "../../../contract/field-schemas.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { requireDurationMs, requireWholeNumber } from "../../input/arguments.ts";
import type { LoadSettings } from "./load.ts";

export interface WatchFlags extends ServiceFlags {
  serverPid?: string;
}

export interface LoadFlags extends WatchFlags {
  rate?: string;
  duration: string;
  connections: string;
}

export function readLoadSettings(flags: LoadFlags): LoadSettings {
  const { rate, duration, connections } = flags;
  return {
    rate: rate === undefined ? null : requireWholeNumber("--rate", rate, 1, 1_000_000),
    durationMs: requireDurationMs("--duration", duration),
    connections: requireWholeNumber("--connections", connections, 1, 20_000),
  };
}

export function readWalletCount(wallets: string): number {
  return requireWholeNumber("--wallets", wallets, 1, 1_000_000);
}

/** How many writes a request has; as many as the API takes. */
export function readBulk(bulk: string): number {
  return requireWholeNumber("--bulk", bulk, 1, bulkItemsMax);
}

/** The server's process on this machine; null: it is not watched. */
export function readServerPid({ serverPid }: WatchFlags): number | null {
  return serverPid === undefined ? null : requireWholeNumber("--server-pid", serverPid, 1);
}
