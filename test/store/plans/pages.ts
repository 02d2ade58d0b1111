// Statements that read pages, and what waits to be posted.
import * as accounts from "../../../src/store/accounts.ts";
import { listAdministrationActs } from "../../../src/store/administration-acts.ts";
import * as assetRules from "../../../src/store/asset-rules.ts";
import { readAuditedActs } from "../../../src/store/audit/administration.ts";
import { readAuditedEntries } from "../../../src/store/audit/journal.ts";
import { readAuditedWallets, readAuditedWrites } from "../../../src/store/audit/wallets.ts";
import * as daySums from "../../../src/store/day-sums.ts";
import { everyEntry, listEntries } from "../../../src/store/entry-lists.ts";
import * as journalSpans from "../../../src/store/journal-spans.ts";
import * as checkpoints from "../../../src/store/log-checkpoints.ts";
import * as logs from "../../../src/store/logs.ts";
import * as ledgers from "../../../src/store/ledgers.ts";
import * as pendingPostings from "../../../src/store/pending-postings.ts";
import * as periodCloses from "../../../src/store/period-closes.ts";
import * as digests from "../../../src/store/wallet-log-digests.ts";
import * as walletOrder from "../../../src/store/ordered-wallet-writes.ts";
import * as walletWrites from "../../../src/store/wallet-writes.ts";
import * as walletLists from "../../../src/store/wallet-lists.ts";
import { idOf } from "../../support/million-rows.ts";
import {
  type Case,
  busyAccount,
  closed,
  codes,
  entryCount,
  ledgerId,
  marchDays,
  marchSpan,
  newIds,
  now,
  of,
  page,
  walletId,
  walletIds,
  whole,
  within,
} from "./cases.ts";

const newClose = {
  ...{
    ledgerId,
    closeId: newIds[0] ?? "",
    number: 100,
    periodId: "new",
    reason: null,
    startsAt: null,
    endsAt: now,
  },
  ...{
    closedAt: now,
    lastSequence: entryCount,
    entryCount: 1,
    merkleRoot: "",
    merkleAlgorithm: "",
  },
  ...{ balancesRoot: "", previousCloseHash: null, closeHash: "" },
};

const walletPage = { prefix: "", afterKey: "12", limit: 101 };

/** What came while a close was prepared. */
const latest = { ...whole, afterSequence: entryCount - 500 };

export const pages: readonly Case[] = [
  of(listEntries, ledgerId, {
    ...{ ...page, filter: everyEntry, afterSequence: 200_000, upToSequence: entryCount },
  }),
  of(journalSpans.readFirstLeaves, ledgerId, marchSpan, 1_024),
  of(walletWrites.listPostedWrites, ledgerId, idOf("entry 250003"), { offset: 0, limit: 100 }),
  within(of(walletLists.listWallets, ledgerId, walletPage), "listRows"),
  of(walletLists.listWallets, ledgerId, { ...walletPage, prefix: "12" }),
  of(walletLists.listWalletsOfAsset, ledgerId, "USD", walletPage),
  of(walletLists.listWalletsOfAsset, ledgerId, "USD", { ...walletPage, prefix: "12" }),
  of(walletLists.listWalletsOfAsset, ledgerId, "EUR", { ...walletPage, afterKey: "" }),
  // What a delivery reads that is almost everything behind, and one that is not.
  ...[7, 799_000].map((afterNumber) =>
    of(walletOrder.listOrderedWrites, ledgerId, {
      ...{ afterNumber, upToNumber: 2 * entryCount, limit: 500, bytesMax: 262_144 },
    }),
  ),
  of(listAdministrationActs, 100),
  of(accounts.listAccounts, ledgerId, true),
  of(periodCloses.listCloseBalances, closed),
  // What a close reads under the lock.
  of(journalSpans.sumAmounts, ledgerId, latest),
  of(journalSpans.sumTrialBalance, ledgerId, latest),
  of(journalSpans.sumMovements, ledgerId, latest),
  of(journalSpans.sumAllMovements, ledgerId, latest),
  of(journalSpans.readLeaves, ledgerId, latest),
  of(journalSpans.divideSpan, ledgerId, latest, 4_096),
  of(daySums.countJournalDays, ledgerId, marchDays),
  of(daySums.countAccountDays, ledgerId, busyAccount, marchDays),
  of(assetRules.listAssetsUsing, ledgerId, busyAccount),
  of(
    accounts.upsertAccounts,
    ledgerId,
    codes.map((glAccountCode) => ({ glAccountCode, name: "y", type: null, active: null })),
    now,
  ),
  // Of all ledgers.
  of(ledgers.listLedgers, idOf("organization")),
  of(ledgers.listLedgerIds),
  of(daySums.listUnsummedLedgers, 8_192),
  of(logs.listUnsignedJournals, 60_000),
  // Digests after an upgrade, piece by piece.
  of(digests.areLogsDigested),
  of(digests.tryLockDigests),
  of(digests.listUndigestedLogs, ledgerId, walletIds[7] ?? "", 500),
  of(digests.listOlderRows, ledgerId, { walletId, seq: 100_000 }, walletId, 1_000),
  of(
    digests.insertDigests,
    ledgerId,
    newIds.map((id) => ({ walletId: id, digest: "00".repeat(32) })),
  ),
  of(digests.insertDigestCompletion),
  {
    name: "insertClose",
    of: ["insertClose"],
    send: (connection) => Promise.all(periodCloses.insertClose(connection, newClose, [], [])),
  },
  {
    name: "the first pages of readAuditedActs",
    of: ["readAuditedActs"],
    send: async (connection) => {
      const pages = readAuditedActs(connection, null);
      for (let count = 0; count < 3; count += 1) await pages.next();
    },
  },
  ...[readAuditedEntries, readAuditedWallets, readAuditedWrites].map((read): Case => ({
    name: `the first pages of ${read.name}`,
    of: [read.name, "listByColumns"],
    send: async (connection) => {
      const rows = read(connection, ledgerId);
      for (let count = 0; count < 3; count += 1) await rows.next();
    },
  })),
];

/** Sums of what waits to be posted, for a rate too. */
export const backlogs: readonly Case[] = [
  of(pendingPostings.listLedgersWithPending),
  of(logs.listUnsignedCloses),
  of(checkpoints.listUncosignedLogs, "another", 1_000),
  of(pendingPostings.listAssetsWithoutRate, ledgerId),
  of(pendingPostings.listPendingAmounts, ledgerId),
  of(pendingPostings.listWaitingAssets),
  of(pendingPostings.getPostingBacklog),
];
