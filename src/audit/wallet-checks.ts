// Checks of wallets: their figures against their logs, pending postings against writes, the journal against both.
import { convert, parseRate } from "../core/asset.ts";
import { countRows } from "../store/audit/journal.ts";
import {
  listBatchFaults,
  listComparedTotals,
  listForeignEntries,
  listPostingFaults,
  listReconciliations,
} from "../store/audit/wallet-postings.ts";
import {
  type AuditedWallet,
  type AuditedWrite,
  listStrayDigests,
  listStrayHolds,
  listTransferFaults,
  readAuditedWallets,
  readAuditedWrites,
} from "../store/audit/wallets.ts";
import { listOrderFaults } from "../store/audit/wallet-order.ts";
import { PageCursor } from "../store/pages.ts";
import type { Connection } from "../store/database/connection.ts";
import type { AuditLog, CheckLog } from "./audit-log.ts";
import { WalletLogCheck } from "./wallet-log-check.ts";
import { replayOf } from "./wallet-replay.ts";

/**
 * Each wallet equals the result of its log. Wallets and logs are read in parallel, both by wallet. `areDigested`: all
 * rows that are older than chains have had their digests.
 */
export async function checkWallets(
  connection: Connection,
  ledgerId: string,
  areDigested: boolean,
  auditLog: AuditLog,
): Promise<void> {
  const log = auditLog.of("wallets", ledgerId);
  const logs = new WalletLogCheck(ledgerId, areDigested, auditLog);
  const writes = new PageCursor(readAuditedWrites(connection, ledgerId));
  const nextWrite = async (): Promise<AuditedWrite | undefined> =>
    (await writes.readPage()) ? writes.current : undefined;
  const skipStray = async (upTo: string | null) => {
    let stray = "";
    for (;;) {
      const write = writes.current ?? (await nextWrite());
      if (write === undefined || (upTo !== null && write.walletId >= upTo)) return;
      if (write.walletId !== stray) {
        log.find(`wallet ${write.walletId}`, "has a log and is not there");
      }
      stray = write.walletId;
      writes.advance();
    }
  };
  const checkWallet = async (wallet: AuditedWallet) => {
    await skipStray(wallet.walletId);
    const replay = replayOf(wallet, log);
    const chain = logs.begin(wallet);
    for (;;) {
      const write = writes.current ?? (await nextWrite());
      if (write?.walletId !== wallet.walletId) break;
      replay.add(write);
      chain.add(write);
      writes.advance();
    }
    replay.finish();
    chain.finish();
    log.looked(1);
  };
  for await (const page of readAuditedWallets(connection, ledgerId)) {
    for (const wallet of page) await checkWallet(wallet);
  }
  await skipStray(null);
  log.findAll(await listStrayHolds(connection, ledgerId));
  log.findAll(await listTransferFaults(connection, ledgerId));
  log.findAll(await listOrderFaults(connection, ledgerId));
  logs.finish(await listStrayDigests(connection, ledgerId));
}

/** Pending postings are the sums of their writes, and name exactly those. */
export async function checkBatches(
  connection: Connection,
  ledgerId: string,
  log: CheckLog,
): Promise<void> {
  log.looked(await countRows(connection, "wallet_batches", ledgerId));
  log.findAll(await listBatchFaults(connection, ledgerId));
}

/** Posted sums are in entries that exist and move as much; running totals equal what was posted. */
export async function checkPostings(
  connection: Connection,
  ledgerId: string,
  log: CheckLog,
): Promise<void> {
  log.looked(await countRows(connection, "wallet_postings", ledgerId));
  log.findAll(await listPostingFaults(connection, ledgerId));
  for (const total of await listComparedTotals(connection, ledgerId)) {
    const { assetCode, ruleVersion, side, rate, amount, functionalAmount } = total;
    const where = `posting total of ${assetCode}, rule ${ruleVersion}, ${side}s`;
    const isPosted = total.postedAmount !== 0n && amount === total.postedAmount;
    if (!isPosted || functionalAmount !== total.postedFunctionalAmount) {
      const stored = `${amount ?? "nothing"} worth ${functionalAmount ?? "nothing"}`;
      const posted = `${total.postedAmount} worth ${total.postedFunctionalAmount}`;
      log.find(where, `is ${stored}, the entries have ${posted}`);
    }
    const fraction = rate === null ? null : parseRate(rate);
    const worth = fraction === null ? null : convert(total.postedAmount, fraction);
    if (worth !== total.postedFunctionalAmount) {
      const what = `at the rate ${rate ?? "none"}: ${worth ?? "nothing"} is due, ${total.postedFunctionalAmount} posted`;
      log.find(where, what);
    }
  }
}

/** The wallets of an asset sum to what the journal has of it plus what waits to be posted. */
export async function checkReconciliation(
  connection: Connection,
  ledgerId: string,
  log: AuditLog,
): Promise<void> {
  const check = log.of("reconciliation", ledgerId);
  const assets = await listReconciliations(connection, ledgerId);
  for (const { assetCode, wallets, posted, pending } of assets) {
    check.looked(1);
    if (wallets !== pending - posted) {
      const journal = `${-posted} are posted and ${pending} pending`;
      check.find(`asset ${assetCode}`, `wallets sum to ${wallets}, but ${journal}`);
    }
  }
  const accounts = await listForeignEntries(connection, ledgerId);
  for (const { glAccountCode, entryCount, amount } of accounts) {
    const entries =
      entryCount === 1
        ? "1 entry that is no posting"
        : `${entryCount} entries that are no postings`;
    const what = `has ${entries} of wallets, ${amount} in all`;
    log.note(ledgerId, `account ${JSON.stringify(glAccountCode)}`, what);
  }
}
