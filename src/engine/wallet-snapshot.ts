// What a batch of wallet writes depends on, read under the locks of its wallets.
import { type AssetRule } from "../core/asset.ts";
import type { LedgerIdentity } from "../core/ledger.ts";
import { laterOf, type Timestamp } from "../core/time.ts";
import type { WalletItem } from "../core/wallet-batch.ts";
import { keyOf, type FirstUse, type WalletSnapshot } from "../core/wallet-batch-state.ts";
import type { WalletTransfer } from "../core/wallet-transfer.ts";
import type { Hold, Wallet, WalletState } from "../core/wallet.ts";
import { listAssetRules } from "../store/asset-rules.ts";
import { readClock } from "../store/journal-heads.ts";
import { lockLedgerStateOfWallets } from "../store/ledger-states.ts";
import { listActiveHolds, listHolds } from "../store/wallet-holds.ts";
import { listWritesByExternalId, sumDayDebits } from "../store/wallet-writes.ts";
import { lockWallets } from "../store/wallets.ts";
import type { Connection } from "../store/database/connection.ts";

/**
 * Locks and reads what a batch depends on. One round trip; a second one only where wallets have holds or assets that no item
 * named, a third one where what was taken out of them today has to be summed.
 */
export async function readWalletSnapshot(
  transaction: Connection,
  ledger: LedgerIdentity,
  items: readonly WalletItem[],
  looksUpKeys: boolean,
): Promise<WalletSnapshot & { readonly ordersWalletWrites: boolean }> {
  const { ledgerId } = ledger;
  const { callerKeys, assetCodes, holdIds } = namesIn(items);
  const [state, wallets, now, rules, holds, idempotencyKeys] = await Promise.all([
    lockLedgerStateOfWallets(transaction, ledgerId),
    lockWallets(transaction, ledgerId, callerKeys),
    readClock(transaction),
    listAssetRules(transaction, ledgerId, assetCodes),
    listHolds(transaction, ledgerId, holdIds),
    readIdempotencyKeys(transaction, ledgerId, looksUpKeys ? items : []),
  ]);
  const holders = wallets.filter(({ held }) => held > 0n).map(({ walletId }) => walletId);
  const otherAssets = wallets
    .map(({ assetCode }) => assetCode)
    .filter((assetCode) => !assetCodes.includes(assetCode));
  const [activeHolds, otherRules] = await Promise.all([
    listActiveHolds(transaction, ledgerId, holders),
    listAssetRules(transaction, ledgerId, [...new Set(otherAssets)]),
  ]);
  const rulesByAsset = new Map([...rules, ...otherRules].map((rule) => [rule.assetCode, rule]));
  const counted = await withDayDebits(transaction, ledgerId, items, { wallets, rulesByAsset, now });
  return {
    ledger,
    ...state,
    now,
    wallets: statesOf(counted, activeHolds),
    rules: rulesByAsset,
    idempotencyKeys,
    namedHolds: new Map(holds.map((hold) => [hold.holdId, hold])),
  };
}

/** The first uses of the externalIds of writes, as far as they are in use. */
export async function readIdempotencyKeys(
  transaction: Connection,
  ledgerId: string,
  items: readonly WalletItem[],
): Promise<Map<string, FirstUse>> {
  const keys = items
    .flatMap(writesOf)
    .flatMap(({ callerKey, externalId }) =>
      externalId === null ? [] : [{ callerKey, externalId }],
    );
  const rows = await listWritesByExternalId(transaction, ledgerId, keys);
  return new Map(
    rows.map(({ callerKey, externalId, ...use }) => [keyOf(callerKey, externalId), use]),
  );
}

function statesOf(wallets: readonly Wallet[], holds: readonly Hold[]): Map<string, WalletState> {
  const holdsByWallet = new Map<string, Map<string, Hold>>();
  for (const hold of holds) {
    const held = holdsByWallet.get(hold.walletId) ?? new Map<string, Hold>();
    holdsByWallet.set(hold.walletId, held.set(hold.holdId, hold));
  }
  const none = new Map<string, Hold>();
  return new Map(
    wallets.map((wallet) => [
      wallet.callerKey,
      { wallet, activeHolds: holdsByWallet.get(wallet.walletId) ?? none },
    ]),
  );
}

/** What items name, each once; keys in the order in which every batch locks them. */
function namesIn(items: readonly WalletItem[]) {
  const callerKeys = new Set<string>();
  const assetCodes = new Set<string>();
  const holdIds = new Set<string>();
  for (const item of items) {
    const transfers = transfersIn(item);
    for (const { from, to, assetCode, fromHold } of transfers) {
      callerKeys.add(from).add(to);
      assetCodes.add(assetCode);
      if (fromHold !== null && fromHold.holdId !== null) holdIds.add(fromHold.holdId);
    }
    if ("callerKey" in item) callerKeys.add(item.callerKey);
    if ("assetCode" in item) assetCodes.add(item.assetCode);
    if ("holdId" in item && item.holdId !== null) holdIds.add(item.holdId);
  }
  return {
    callerKeys: [...callerKeys].sort(),
    assetCodes: [...assetCodes],
    holdIds: [...holdIds],
  };
}

function transfersIn(item: WalletItem): readonly WalletTransfer[] {
  if (item.type === "atomic-transfers") return item.transfers;
  return item.type === "transfer" ? [item] : [];
}

/** The writes with which externalIds are used: whose, and in which wallet. */
function writesOf(item: WalletItem): { callerKey: string; externalId: string | null }[] {
  const transfers = transfersIn(item);
  if (transfers.length > 0) {
    return transfers.map(({ from, externalId }) => ({ callerKey: from, externalId }));
  }
  return "externalId" in item && "callerKey" in item ? [item] : [];
}

/** Wallets with what was taken out of them on their day, where the batch takes out under a limit and no figure is kept. */
async function withDayDebits(
  transaction: Connection,
  ledgerId: string,
  items: readonly WalletItem[],
  read: {
    readonly wallets: readonly Wallet[];
    readonly rulesByAsset: ReadonlyMap<string, AssetRule>;
    readonly now: Timestamp;
  },
): Promise<readonly Wallet[]> {
  const { wallets, rulesByAsset, now } = read;
  const isLimited = ({ assetCode }: Wallet) =>
    (rulesByAsset.get(assetCode)?.dailyDebitMax ?? null) !== null;
  const missing = wallets.filter((wallet) => wallet.debited === null && isLimited(wallet));
  if (missing.length === 0) return wallets;
  const debited = new Set(items.flatMap(debitedIn));
  const days = missing
    .filter(({ callerKey }) => debited.has(callerKey))
    .map(({ walletId, lastAt }) => ({ walletId, day: laterOf(now, lastAt).slice(0, 10) }));
  const sums = await sumDayDebits(transaction, ledgerId, days);
  const amounts = new Map(sums.map(({ walletId, amount }) => [walletId, amount]));
  const dayOf = new Map(days.map(({ walletId, day }) => [walletId, day]));
  return wallets.map((wallet) => {
    const debitedOn = dayOf.get(wallet.walletId);
    if (debitedOn === undefined) return wallet;
    return { ...wallet, debitedOn, debited: amounts.get(wallet.walletId) ?? 0n };
  });
}

/** The keys of the wallets that an item takes out of. */
function debitedIn(item: WalletItem): string[] {
  if (item.type === "debit" || item.type === "commit") return [item.callerKey];
  return transfersIn(item).map(({ from }) => from);
}
