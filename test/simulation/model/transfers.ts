// Transfers at the end of a history: each is in two logs, moves what it was asked to, and the wallets of an asset have
// together what came in from elsewhere less what went out to elsewhere.
import type { TransferReply, WalletTransfer } from "../../../src/core/wallet-transfer.ts";
import type { WalletRow, WalletWriteRow } from "../database/tables.ts";
import { refusalOf, type Attempt } from "../history/attempt.ts";
import { groupBy, type FinalBooks } from "./final-books.ts";
import { shown, type Violations } from "./violation.ts";
import { wereMade } from "./transfer-answers.ts";

type Side = WalletWriteRow & { readonly callerKey: string; readonly assetCode: string };

interface Sides {
  readonly out: Side;
  readonly in: Side;
}

export function checkTransfers(
  violations: Violations,
  books: FinalBooks,
  attempts: readonly Attempt[],
): void {
  const wallets = new Map(books.wallets.map((wallet) => [wallet.walletId, wallet]));
  const byTag = new Map<string, Sides>();
  const rows = books.writes.filter(({ transferId }) => transferId !== null);
  for (const sides of groupBy(rows, ({ transferId }) => transferId ?? "").values()) {
    const pair = pairOf(sides, wallets);
    violations.expect(pair !== null, "half a transfer", () => shown(sides));
    if (pair !== null) byTag.set(pair.out.metadata ?? "", pair);
  }
  for (const attempt of attempts) {
    if (attempt.asked.kind === "transfers") {
      checkAttempt(violations, attempt, attempt.asked.transfers, byTag);
    }
  }
  checkSums(violations, books);
}

/** The two sides of a transfer; null where they don't belong together. */
function pairOf(
  rows: readonly WalletWriteRow[],
  wallets: ReadonlyMap<string, WalletRow>,
): Sides | null {
  const sides = rows.flatMap((row): Side[] => {
    const wallet = wallets.get(row.walletId);
    return wallet === undefined ? [] : [{ ...wallet, ...row }];
  });
  const out = sides.find(({ type }) => type === "transfer-out");
  const into = sides.find(({ type }) => type === "transfer-in");
  if (rows.length !== 2 || out === undefined || into === undefined) return null;
  const isOne =
    out.ledgerId === into.ledgerId &&
    out.assetCode === into.assetCode &&
    out.amount === into.amount &&
    out.metadata === into.metadata &&
    out.counterparty === into.callerKey &&
    into.counterparty === out.callerKey &&
    into.externalId === null;
  return isOne ? { out, in: into } : null;
}

/** All of an attempt's transfers are there or none, and as they were asked for and answered. */
function checkAttempt(
  violations: Violations,
  attempt: Attempt,
  transfers: readonly WalletTransfer[],
  byTag: ReadonlyMap<string, Sides>,
): void {
  const found = transfers.map(({ metadata }) => byTag.get(metadata ?? ""));
  const tell = () => shown({ ...attempt, incarnation: undefined, found });
  const isThere = found.some((each) => each !== undefined);
  const isWhole = !found.includes(undefined);
  violations.expect(isWhole || !isThere, "part of a whole", tell);
  transfers.forEach((transfer, index) => {
    const pair = found[index];
    const isSame = pair === undefined || isAsAsked(pair, transfer);
    violations.expect(isSame, "changed transfer", tell);
  });
  const refusal = refusalOf(attempt);
  if (refusal !== null && refusal.problem !== "outcomeUnknown") {
    violations.expect(!isThere, "refused and written", tell);
  }
  if (attempt.outcome?.kind !== "reply") return;
  if (!wereMade(attempt)) {
    violations.expect(!isThere, "duplicate of itself", tell);
    return;
  }
  const replies = attempt.outcome.reply as readonly TransferReply[];
  violations.expect(isWhole, "lost transfer", tell);
  const isAsAnswered = found.every((pair, index) => isReply(pair, replies[index]));
  violations.expect(isAsAnswered, "changed transfer", tell);
}

function isAsAsked({ out, in: into }: Sides, transfer: WalletTransfer): boolean {
  const { from, to, amount, assetCode, externalId, fromHold } = transfer;
  return (
    out.callerKey === from &&
    into.callerKey === to &&
    out.assetCode === assetCode &&
    out.amount === amount &&
    out.externalId === externalId &&
    out.holdId === (fromHold?.holdId ?? null)
  );
}

function isReply(pair: Sides | undefined, reply: TransferReply | undefined): boolean {
  if (pair === undefined || reply === undefined) return false;
  const isOf = (side: Side, { balance, available }: TransferReply["from"]) =>
    side.balance === balance && side.balance - side.held === available;
  return (
    reply.status === "accepted" &&
    reply.transferId === pair.out.transferId &&
    isOf(pair.out, reply.from) &&
    isOf(pair.in, reply.to)
  );
}

/** Nothing is made or lost between wallets: by ledger and asset, they have what writes with the rest of the ledger left. */
function checkSums(violations: Violations, { wallets, writes }: FinalBooks): void {
  const byAsset = groupBy(wallets, ({ ledgerId, assetCode }) => `${ledgerId} ${assetCode}`);
  for (const own of byAsset.values()) {
    const ids = new Set(own.map(({ walletId }) => walletId));
    const sum = own.reduce((total, { balance }) => total + balance, 0n);
    const moved = writes
      .filter(({ walletId }) => ids.has(walletId))
      .reduce((total, { type, amount }) => {
        if (type === "credit") return total + amount;
        return type === "debit" || type === "commit" ? total - amount : total;
      }, 0n);
    violations.expect(sum === moved, "sum of wallets", () => shown({ own, sum, moved }));
  }
}
