// What the logs of all wallets of a ledger say together of transfers, and of the limits of their asset: an oracle that shares
// nothing with the service's own rules.
import { expect } from "vitest";
import type { LoggedRow } from "./wallet-oracle.ts";
import { callerKeyOf } from "./wallet-traffic.ts";

type Logs = ReadonlyMap<string, readonly LoggedRow[]>;

/**
 * Each transfer is in two logs, with the same amount and metadata, and each names the other wallet; its externalId is in the
 * log of the one that pays alone. Gives how many there are.
 */
export function expectBothSides(logs: Logs): number {
  const sides = new Map<string, (LoggedRow & { callerKey: string })[]>();
  for (const [walletKey, rows] of logs) {
    for (const row of rows) {
      const isTransfer = row.type === "transfer-out" || row.type === "transfer-in";
      expect([row.transferId !== undefined, row.counterparty !== undefined]).toEqual([
        isTransfer,
        isTransfer,
      ]);
      if (row.transferId === undefined) continue;
      const own = { ...row, callerKey: callerKeyOf(walletKey) };
      sides.set(row.transferId, [...(sides.get(row.transferId) ?? []), own]);
    }
  }
  for (const pair of sides.values()) {
    expect(pair.map(({ type }) => type).sort()).toEqual(["transfer-in", "transfer-out"]);
    const out = pair.find(({ type }) => type === "transfer-out");
    const into = pair.find(({ type }) => type === "transfer-in");
    expect(into).toMatchObject({
      ...{ amount: out?.amount, metadata: out?.metadata },
      ...{ counterparty: out?.callerKey, callerKey: out?.counterparty },
      ...{ externalId: null, journalId: null },
    });
    expect(out?.journalId).toBe(null);
  }
  return sides.size;
}

/** The wallets have together what credits brought less what debits and commits took out: transfers move no sum. */
export function expectSum(logs: Logs): void {
  let sum = 0n;
  let moved = 0n;
  for (const rows of logs.values()) {
    sum += BigInt(rows.at(-1)?.balance ?? 0);
    for (const { type, amount } of rows) {
      if (type === "credit") moved += BigInt(amount);
      else if (type === "debit" || type === "commit") moved -= BigInt(amount);
    }
  }
  expect(sum).toBe(moved);
}

export interface Limits {
  readonly maxBalance: bigint;
  readonly dailyDebitMax: bigint;
}

/** No credit or transfer ever brought a wallet above its limit, and no UTC day took out more than its own. */
export function expectWithinLimits(logs: Logs, { maxBalance, dailyDebitMax }: Limits): void {
  for (const rows of logs.values()) {
    const byDay = new Map<string, bigint>();
    for (const { type, amount, at, balance } of rows) {
      if (type === "credit" || type === "transfer-in") {
        expect(BigInt(balance)).toBeLessThanOrEqual(maxBalance);
      }
      if (!["debit", "commit", "transfer-out"].includes(type)) continue;
      const day = at.slice(0, 10);
      byDay.set(day, (byDay.get(day) ?? 0n) + BigInt(amount));
    }
    for (const sum of byDay.values()) expect(sum).toBeLessThanOrEqual(dailyDebitMax);
  }
}
