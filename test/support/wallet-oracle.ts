// What a wallet's log has to look like, written from the contract: an oracle that shares nothing with the
// service's own rules.
import { expect } from "vitest";
import type { Reply } from "./signed-request.ts";

/** Whoever answers signed GETs. */
export interface Source {
  get(target: string): Promise<Reply>;
}

export interface LoggedRow {
  readonly seq: number;
  readonly type: string;
  readonly amount: string;
  readonly balance: string;
  readonly held: string;
  readonly externalId: string | null;
  readonly holdId: string | null;
  readonly metadata: string | null;
  readonly at: string;
  readonly journalId: string | null;
  /** Of transfers. */
  readonly transferId?: string;
  readonly counterparty?: string;
}

/** What takes out of a wallet, or would. */
export const takesOut: readonly string[] = ["debit", "reserve", "commit", "transfer-out"];

/** The whole log of a wallet, page by page. */
export async function readLog(source: Source, walletKey: string): Promise<LoggedRow[]> {
  const rows: LoggedRow[] = [];
  for (;;) {
    const after = rows.at(-1)?.seq ?? 0;
    const reply = await source.get(`/v1/wallets/${walletKey}/history?after=${after}&limit=100`);
    const page = reply.body as { writes: LoggedRow[]; hasMore: boolean };
    rows.push(...page.writes);
    if (!page.hasMore) return rows;
  }
}

/**
 * Replays a log: seqs without gaps, figures that follow from the rows, holds resolved once, nothing overdrawn, nothing taken out
 * while the wallet was frozen.
 */
export function expectConsistentLog(rows: readonly LoggedRow[]): { balance: bigint; held: bigint } {
  let balance = 0n;
  let held = 0n;
  let lastAt = "";
  let isFrozen = false;
  const holds = new Map<string, bigint>();
  const externalIds = new Set<string>();
  rows.forEach((row, index) => {
    expect(row.seq).toBe(index + 1);
    expect(row.at >= lastAt).toBe(true);
    lastAt = row.at;
    if (row.externalId !== null) {
      expect(externalIds.has(row.externalId)).toBe(false);
      externalIds.add(row.externalId);
    }
    const amount = BigInt(row.amount);
    const holdId = row.holdId ?? "";
    expect(isFrozen && takesOut.includes(row.type)).toBe(false);
    switch (row.holdId === null || row.type !== "transfer-out" ? row.type : "transfer-held") {
      case "credit":
      case "transfer-in":
        balance += amount;
        break;
      case "debit":
      case "transfer-out":
        balance -= amount;
        break;
      case "freeze":
      case "unfreeze":
        expect([amount, isFrozen]).toEqual([0n, row.type === "unfreeze"]);
        isFrozen = row.type === "freeze";
        break;
      case "reserve":
        expect(holds.has(holdId)).toBe(false);
        holds.set(holdId, amount);
        held += amount;
        break;
      default: {
        const hold = holds.get(holdId);
        expect(hold).toBeDefined();
        holds.delete(holdId);
        held -= hold ?? 0n;
        if (row.type === "commit" || row.type === "transfer-out") {
          expect(amount <= (hold ?? 0n)).toBe(true);
          balance -= amount;
        } else {
          expect(["release", "expire"]).toContain(row.type);
          expect(amount).toBe(hold);
        }
      }
    }
    expect(BigInt(row.balance)).toBe(balance);
    expect(BigInt(row.held)).toBe(held);
    expect(balance - held >= 0n).toBe(true);
  });
  return { balance, held };
}
