// Wallets at the end of a history: their logs, replayed by a small model of its own, explain every figure.
import { chainEntry, chainStart } from "../../../src/core/wallet-chain.ts";
import type { WalletHoldRow, WalletRow, WalletWriteRow } from "../database/tables.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";

export function checkWallets(violations: Violations, books: FinalBooks, ledgerId: string): void {
  const wallets = books.wallets.filter((wallet) => wallet.ledgerId === ledgerId);
  const logs = groupBy(
    books.writes.filter((write) => write.ledgerId === ledgerId),
    ({ walletId }) => walletId,
  );
  violations.expect(logs.size === wallets.length, "wallet", () => shown(wallets));
  for (const wallet of wallets) {
    const holds = books.holds.filter(({ walletId }) => walletId === wallet.walletId);
    const log = logs.get(wallet.walletId) ?? [];
    checkLog(violations, wallet, log, holds);
    checkChain(violations, wallet, log, books);
  }
}

/** What a row of a log does to the balance, and to what is held. */
export function effectOf({ type, amount }: WalletWriteRow, held: bigint): [bigint, bigint] {
  switch (type) {
    case "credit":
    case "transfer-in":
      return [amount, 0n];
    case "debit":
      return [-amount, 0n];
    case "reserve":
      return [0n, amount];
    case "transfer-out":
    case "commit":
      return [-amount, -held];
    case "release":
    case "expire":
      return [0n, -held];
    case "freeze":
    case "unfreeze":
      return [0n, 0n];
  }
}

/** The hash of a wallet covers all of its log. */
function checkChain(
  violations: Violations,
  wallet: WalletRow,
  log: readonly WalletWriteRow[],
  { holds, batches }: FinalBooks,
): void {
  let hash = chainStart({ ...wallet, chainedAfter: 0 });
  for (const row of log) {
    const hold = holds.find(({ holdId }) => row.type === "reserve" && holdId === row.holdId);
    const batch = batches.find(({ pendingPostingId }) => pendingPostingId === row.pendingPostingId);
    const expiresAt = hold?.expiresAt ?? null;
    hash = chainEntry(hash, row, { expiresAt, ruleVersion: batch?.ruleVersion ?? null });
  }
  violations.expect(wallet.logHash === hash, "log chain", () => shown({ wallet, log }));
}

const ends: Partial<Record<WalletWriteRow["type"], WalletHoldRow["status"]>> = {
  commit: "committed",
  release: "released",
  expire: "expired",
  "transfer-out": "transferred",
};

/** What takes out of a wallet, or would. */
const takesOut: readonly WalletWriteRow["type"][] = ["debit", "reserve", "commit", "transfer-out"];

function checkLog(
  violations: Violations,
  wallet: WalletRow,
  log: readonly WalletWriteRow[],
  holds: readonly WalletHoldRow[],
): void {
  let balance = 0n;
  let held = 0n;
  let at = "";
  let isFrozen = false;
  const active = new Map<string, WalletHoldRow>();
  const tell = (row: WalletWriteRow) => () => shown({ wallet, row, balance, held });
  log.forEach((row, index) => {
    const hold = holds.find(({ holdId }) => holdId === row.holdId);
    const wasActive = active.has(row.holdId ?? "");
    const [moved, reserved] = effectOf(row, wasActive ? (hold?.amount ?? 0n) : 0n);
    balance += moved;
    held += reserved;
    violations.expect(row.seq === index + 1, "log", tell(row));
    violations.expect(row.balance === balance && row.held === held, "figures", tell(row));
    violations.expect(row.at >= at, "time", tell(row));
    violations.expect(!isFrozen || !takesOut.includes(row.type), "frozen", tell(row));
    if (row.type === "freeze" || row.type === "unfreeze") isFrozen = row.type === "freeze";
    // A transfer need not come out of a hold.
    const end = row.holdId === null ? undefined : ends[row.type];
    if (end !== undefined) {
      violations.expect(wasActive && hold?.status === end, "hold", tell(row));
      const isDue = row.type !== "expire" || (hold?.expiresAt ?? "~") <= row.at;
      violations.expect(isDue, "hold", tell(row));
      active.delete(row.holdId ?? "");
    } else if (row.type === "reserve" && hold !== undefined) active.set(hold.holdId, hold);
    const isOver = [...active.values()].some(({ expiresAt }) => (expiresAt ?? "~") <= row.at);
    // Expiries of one moment are logged one by one, before the write that found them.
    violations.expect(row.type === "expire" || !isOver, "hold", tell(row));
    if (takesOut.includes(row.type)) {
      violations.expect(balance - held >= 0n, "overdraft", tell(row));
    }
    at = row.at;
  });
  const isLast = wallet.balance === balance && wallet.held === held;
  violations.expect(isLast && wallet.lastSeq === log.length, "figures", () => shown(wallet));
  const isAsLogged = (wallet.frozenAt !== null) === isFrozen;
  violations.expect(isAsLogged, "frozen", () => shown({ wallet, log }));
  for (const hold of holds) {
    const isRight = (hold.status === "active") === active.has(hold.holdId);
    violations.expect(isRight, "hold", () => shown(hold));
  }
  const keys = log.flatMap(({ externalId }) => externalId ?? []);
  violations.expect(new Set(keys).size === keys.length, "doubled", () => shown(keys));
}
