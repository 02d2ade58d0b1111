// Whether the ledger holds what the wallets do, read through the API alone.
import { expect } from "vitest";
import { readLog, type LoggedRow, type Source } from "./wallet-oracle.ts";
import { until } from "./until.ts";

interface PostedLine {
  readonly glAccountCode: string;
  readonly functionalAmount: string;
}

interface PostedEntry {
  readonly journalId: string;
  readonly sequence: number;
  readonly eventType: string | null;
  readonly lines: readonly PostedLine[];
}

const walletsAccount = "wallets:USD";
const clearingAccount = "wallets-clearing:USD";

export type Logs = ReadonlyMap<string, readonly LoggedRow[]>;

/**
 * Reads all logs at a quiet moment and checks that the wallets' sum is −(ledger) + what is pending. Postings
 * go on at such moments; what was read across one is read again.
 */
export async function expectReconciled(
  source: Source,
  ledgerId: string,
  walletKeys: readonly string[],
): Promise<Logs> {
  for (;;) {
    const before = await readWalletsAccount(source, ledgerId);
    const logs = new Map<string, readonly LoggedRow[]>();
    for (const walletKey of walletKeys) logs.set(walletKey, await readLog(source, walletKey));
    const after = await readWalletsAccount(source, ledgerId);
    if (before.entryCount !== after.entryCount) continue;
    const total = [...logs.values()].reduce((sum, rows) => sum + lastBalance(rows), 0n);
    const pending = [...logs.values()].flat().filter(({ journalId }) => journalId === null);
    expect(total).toBe(-after.balance + sumOf(pending, "credit") - sumOf(pending, "debit"));
    return logs;
  }
}

/** Waits until nothing is pending; then each entry holds exactly the writes that name it, gross. */
export async function expectPostedExactly(
  source: Source,
  ledgerId: string,
  walletKeys: readonly string[],
): Promise<void> {
  const logs = await until("all is posted", async () => {
    const read = await expectReconciled(source, ledgerId, walletKeys);
    const isPending = (row: LoggedRow) => sideOf(row) && row.journalId === null;
    return [...read.values()].flat().some(isPending) ? null : read;
  });
  const rowsOf = new Map<string, LoggedRow[]>();
  for (const row of [...logs.values()].flat()) {
    if (row.journalId === null) continue;
    rowsOf.set(row.journalId, [...(rowsOf.get(row.journalId) ?? []), row]);
  }
  const entries = await readPostings(source, ledgerId);
  expect(entries.map(({ journalId }) => journalId).sort()).toEqual([...rowsOf.keys()].sort());
  for (const { journalId, lines } of entries) {
    const rows = rowsOf.get(journalId) ?? [];
    const [credited, debited] = [sumOf(rows, "credit"), sumOf(rows, "debit")];
    expect(lines.map(asText).sort()).toEqual(
      [
        ...(credited === 0n
          ? []
          : [`${clearingAccount} ${credited}`, `${walletsAccount} -${credited}`]),
        ...(debited === 0n
          ? []
          : [`${walletsAccount} ${debited}`, `${clearingAccount} -${debited}`]),
      ].sort(),
    );
  }
}

function asText({ glAccountCode, functionalAmount }: PostedLine): string {
  return `${glAccountCode} ${functionalAmount}`;
}

async function readWalletsAccount(
  source: Source,
  ledgerId: string,
): Promise<{ balance: bigint; entryCount: number }> {
  const account = encodeURIComponent(walletsAccount);
  const reply = await source.get(`/v1/ledgers/${ledgerId}/balances?account=${account}`);
  const { balance, entryCount } = reply.body as { balance: number; entryCount: number };
  return { balance: BigInt(balance), entryCount };
}

/** The entries that wallets were posted with; their sequences have no gap where nobody else writes. */
async function readPostings(source: Source, ledgerId: string): Promise<PostedEntry[]> {
  const entries: PostedEntry[] = [];
  for (;;) {
    const after = entries.at(-1)?.sequence ?? 0;
    const target = `/v1/ledgers/${ledgerId}/journal-entries?limit=100&after=${after}`;
    const page = (await source.get(target)).body as { entries: PostedEntry[]; hasMore: boolean };
    entries.push(...page.entries);
    if (!page.hasMore) break;
  }
  expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
  return entries.filter(({ eventType }) => eventType === "WALLET_BATCH");
}

function sideOf({ type }: LoggedRow): "credit" | "debit" | null {
  if (type === "credit") return "credit";
  return type === "debit" || type === "commit" ? "debit" : null;
}

function sumOf(rows: readonly LoggedRow[], side: "credit" | "debit"): bigint {
  return rows.reduce((sum, row) => (sideOf(row) === side ? sum + BigInt(row.amount) : sum), 0n);
}

function lastBalance(rows: readonly LoggedRow[]): bigint {
  return BigInt(rows.at(-1)?.balance ?? 0);
}
