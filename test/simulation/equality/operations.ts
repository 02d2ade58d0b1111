// The functions of the store that the write path uses, each called with something from a domain.
import { balanceChanges } from "../../../src/core/journal.ts";
import type { Connection } from "../../../src/store/database/connection.ts";
import * as accountBalances from "../../../src/store/account-balances.ts";
import * as accounts from "../../../src/store/accounts.ts";
import * as assetRules from "../../../src/store/asset-rules.ts";
import * as lists from "../../../src/store/entry-lists.ts";
import * as entries from "../../../src/store/journal-entries.ts";
import * as heads from "../../../src/store/journal-heads.ts";
import * as spans from "../../../src/store/journal-spans.ts";
import * as states from "../../../src/store/ledger-states.ts";
import * as ledgers from "../../../src/store/ledgers.ts";
import * as pendingPostings from "../../../src/store/pending-postings.ts";
import * as closes from "../../../src/store/period-closes.ts";
import * as holds from "../../../src/store/wallet-holds.ts";
import * as postings from "../../../src/store/wallet-postings.ts";
import * as writes from "../../../src/store/wallet-writes.ts";
import * as wallets from "../../../src/store/wallets.ts";
import { assets, callerKeys, codes, id as testId, type Domain } from "./domain.ts";

/** What is done on a connection, whichever database is behind it. */
export type Call = (connection: Connection) => Promise<unknown>;
export type Operation = (domain: Domain) => Call;

/** By name; reads. Whatever a write does is seen by one of them. */
export const reads: Readonly<Record<string, Operation>> = {
  readJournalHead: (d) => bind(d.ledgerId(), (c, id) => heads.readJournalHead(c, id)),
  readLedgerState: (d) => bind(d.ledgerId(), (c, id) => states.readLedgerState(c, id)),
  getLedgerIdentity: (d) => bind(d.ledgerId(), (c, id) => ledgers.getLedgerIdentity(c, id)),
  hasClosesInOrder: (d) => bind(d.ledgerId(), (c, id) => ledgers.hasClosesInOrder(c, id)),
  listAccountStates: (d) => {
    const wanted = d.some([...codes, "none"]);
    return bind(d.ledgerId(), (c, id) => accounts.listAccountStates(c, id, wanted));
  },
  listOriginals: (d) => {
    const wanted = d.ids(2);
    return bind(d.ledgerId(), (c, id) => entries.listOriginals(c, id, wanted));
  },
  listEntriesByExternalId: (d) => {
    const wanted = d.some(["key-1", "key-2", "key-3"]);
    return bind(d.ledgerId(), (c, id) => entries.listEntriesByExternalId(c, id, wanted));
  },
  listWalletPostings: (d) => {
    const wanted = d.ids(2);
    return bind(d.ledgerId(), (c, id) => postings.listWalletPostings(c, id, wanted));
  },
  listAssetRules: (d) => {
    const wanted = d.some(assets);
    return bind(d.ledgerId(), (c, id) => assetRules.listAssetRules(c, id, wanted));
  },
  listRuleVersions: (d) => bind(d.ledgerId(), (c, id) => assetRules.listRuleVersions(c, id)),
  listActiveHolds: (d) => {
    const wanted = d.ids(3);
    return bind(d.ledgerId(), (c, id) => holds.listActiveHolds(c, id, wanted));
  },
  listHolds: (d) => {
    const wanted = d.ids(4);
    return bind(d.ledgerId(), (c, id) => holds.listHolds(c, id, wanted));
  },
  listWritesByExternalId: (d) => {
    const keys = callerKeys.map((callerKey) => ({
      callerKey,
      externalId: d.externalId() ?? "key-1",
    }));
    return bind(d.ledgerId(), (c, id) => writes.listWritesByExternalId(c, id, keys));
  },
  sumDayDebits: (d) => {
    const wanted = d.ids(3).map((walletId) => ({ walletId, day: d.time().slice(0, 10) }));
    return bind(d.ledgerId(), (c, id) => writes.sumDayDebits(c, id, wanted));
  },
  hasWalletWrites: (d) => {
    const wanted = [d.write(), d.write()];
    return bind(d.ledgerId(), (c, id) => writes.hasWalletWrites(c, id, wanted));
  },
  listWalletFigures: (d) => {
    const wanted = d.some([...callerKeys, "none"]);
    return bind(d.ledgerId(), (c, id) => wallets.listWalletFigures(c, id, wanted));
  },
  listWalletHistory: (d) => {
    const callerKey = d.random.pick(callerKeys);
    const page = { afterSeq: d.random.below(2), limit: d.random.between(1, 9) };
    return bind(d.ledgerId(), (c, id) => writes.listWalletHistory(c, id, callerKey, page));
  },
  findLastWriteSeq: (d) => {
    const [walletId, upToSeq] = [d.walletId(), d.random.below(4)];
    return bind(d.ledgerId(), (c, id) => writes.findLastWriteSeq(c, id, walletId, upToSeq));
  },
  listPostings: (d) => {
    const wanted = d.ids(5);
    return bind(d.ledgerId(), (c, id) => pendingPostings.listPostings(c, id, wanted));
  },
  listPendingPostingIds: (d) => {
    const walletId = d.walletId();
    return bind(d.ledgerId(), (c, id) => pendingPostings.listPendingPostingIds(c, id, walletId));
  },
  listLedgersWithPending: (d) => async (c) => {
    const found = await pendingPostings.listLedgersWithPending(c);
    return found.filter((ledgerId) => d.ledgerIds.includes(ledgerId));
  },
  listPendingPostings: (d) =>
    bind(d.ledgerId(), (c, id) => pendingPostings.listPendingPostings(c, id, 500)),
  listAssetsWithoutRate: (d) =>
    bind(d.ledgerId(), (c, id) => pendingPostings.listAssetsWithoutRate(c, id)),
  listPostingTotals: (d) => bind(d.ledgerId(), (c, id) => postings.listPostingTotals(c, id)),
  findCloseOfPeriod: (d) =>
    bind(d.ledgerId(), (c, id) => closes.findCloseOfPeriod(c, id, "2026-01")),
  findLastClose: (d) => bind(d.ledgerId(), (c, id) => closes.findLastClose(c, id)),
  findCloseBefore: (d) => {
    const [moment, upToSequence] = [d.time(), d.random.below(9)];
    return bind(d.ledgerId(), (c, id) => closes.findCloseBefore(c, id, moment, upToSequence));
  },
  listCloseBalances: (d) => {
    const { number } = d.close();
    return bind(d.ledgerId(), (c, ledgerId) => closes.listCloseBalances(c, { ledgerId, number }));
  },
  listClosedPeriods: (d) => bind(d.ledgerId(), (c, id) => closes.listClosedPeriods(c, id, 1)),
  countEntries: (d) => {
    const span = d.span();
    const between = { ...lists.everyEntry, from: span.startsAt ?? span.endsAt, to: span.endsAt };
    return bind(d.ledgerId(), (c, id) => lists.countEntries(c, id, between, span));
  },
  readLeaves: (d) => {
    const span = d.span();
    return bind(d.ledgerId(), (c, id) => spans.readLeaves(c, id, span));
  },
  divideSpan: (d) => {
    const span = d.span();
    return bind(d.ledgerId(), (c, id) => spans.divideSpan(c, id, span, 2));
  },
  sumAllMovements: (d) => {
    const span = d.span();
    return bind(d.ledgerId(), (c, id) => spans.sumAllMovements(c, id, span));
  },
  sumMovements: (d) => {
    const span = d.span();
    return bind(d.ledgerId(), (c, id) => spans.sumMovements(c, id, span));
  },
  sumAmounts: (d) => {
    const span = d.span();
    return bind(d.ledgerId(), (c, id) => spans.sumAmounts(c, id, span));
  },
  sumTrialBalance: (d) => {
    const span = d.span();
    return bind(d.ledgerId(), (c, id) => spans.sumTrialBalance(c, id, span));
  },
  countEntriesByMonth: (d) => {
    const span = d.span();
    return bind(d.ledgerId(), (c, id) => spans.countEntriesByMonth(c, id, [span], span));
  },
};

/** By name; locks. */
export const locks: Readonly<Record<string, Operation>> = {
  lockJournalHead: (d) => bind(d.ledgerId(), (c, id) => heads.lockJournalHead(c, id)),
  lockLedgerStateShared: (d) => bind(d.ledgerId(), (c, id) => states.lockLedgerStateShared(c, id)),
  lockLedgerState: (d) => bind(d.ledgerId(), (c, id) => states.lockLedgerState(c, id)),
  writeBarrier: (d) => bind(d.ledgerId(), (c, id) => states.writeBarrier(c, id)),
  lockWallets: (d) => {
    const wanted = d.some(callerKeys);
    return bind(d.ledgerId(), (c, id) => wallets.lockWallets(c, id, wanted));
  },
};

/** By name; writes. */
export const changes: Readonly<Record<string, Operation>> = {
  advanceJournalHead: (d) => {
    const last = { sequence: d.random.below(9), persistedAt: d.time() };
    return bind(d.ledgerId(), (c, id) => heads.advanceJournalHead(c, id, last));
  },
  updateLedgerState: (d) => {
    const status = d.random.pick(["active", "suspended"] as const);
    return bind(d.ledgerId(), (c, id) => states.updateLedgerState(c, id, status));
  },
  upsertStateRequest: (d) => {
    const waitMs = d.random.pick([9_000, 60_000]);
    return bind(d.ledgerId(), (c, id) => states.upsertStateRequest(c, id, waitMs));
  },
  deleteStateRequest: (d) => bind(d.ledgerId(), (c, id) => states.deleteStateRequest(c, id)),
  updateAccountActive: (d) => {
    const active = d.random.happens(50);
    const code = d.random.pick(codes);
    return bind(d.ledgerId(), (c, id) => accounts.updateAccountActive(c, id, code, active));
  },
  insertMissingAccounts: (d) => {
    const given = d.some(codes).map((glAccountCode) => ({
      glAccountCode,
      name: d.text() ?? "name",
      type: d.random.pick([null, "asset"] as const),
      active: true,
    }));
    const at = d.time();
    return bind(d.ledgerId(), (c, id) => accounts.insertMissingAccounts(c, id, given, at));
  },
  insertEntries: (d) => {
    const given = d.random.happens(70) ? [d.entry()] : [d.entry(), d.entry()];
    return bind(d.ledgerId(), (c, id) => entries.insertEntries(c, id, given));
  },
  insertLines: (d) => {
    const given = [d.entry()];
    return bind(d.ledgerId(), (c, id) => entries.insertLines(c, id, given));
  },
  insertReversals: (d) => {
    const given = [d.entry()];
    return bind(d.ledgerId(), (c, id) => entries.insertReversals(c, id, given));
  },
  addToBalances: (d) => {
    const given = balanceChanges([d.entry()]);
    return bind(d.ledgerId(), (c, id) => accountBalances.addToBalances(c, id, given));
  },
  insertWallets: (d) => {
    const given = d.some(callerKeys).map((callerKey) => d.wallet(callerKey));
    return bind(d.ledgerId(), (c, id) => wallets.insertWallets(c, id, given));
  },
  updateWallets: (d) => {
    const given = d.some(callerKeys).map((callerKey) => d.wallet(callerKey));
    return bind(d.ledgerId(), (c, id) => wallets.updateWallets(c, id, given));
  },
  updateControlledWallets: (d) => {
    const given = d.some(callerKeys).map((callerKey) => d.wallet(callerKey));
    return bind(d.ledgerId(), (c, id) => wallets.updateControlledWallets(c, id, given));
  },
  insertWalletWrites: (d) => {
    const given = d.random.happens(60) ? [d.write()] : [d.write(), d.write()];
    return bind(d.ledgerId(), (c, id) => writes.insertWalletWrites(c, id, given));
  },
  upsertHolds: (d) => {
    const given = [d.hold()];
    return bind(d.ledgerId(), (c, id) => holds.upsertHolds(c, id, given));
  },
  insertPendingPostings: (d) => {
    const given = [d.pendingPosting()];
    return bind(d.ledgerId(), (c, id) => pendingPostings.insertPendingPostings(c, id, given));
  },
  markPosted: (d) => {
    // All that there may be, so that some are marked twice.
    const marks = [1, 2, 3].map((number) => ({
      pendingPostingId: testId(5, number),
      journalId: d.journalId(),
    }));
    return bind(d.ledgerId(), (c, id) => pendingPostings.markPosted(c, id, marks));
  },
  insertAssetRules: (d) => {
    const given = [d.rule()];
    const at = d.time();
    return bind(d.ledgerId(), (c, id) => assetRules.insertAssetRules(c, id, given, at));
  },
  upsertPostingTotals: (d) => {
    const { assetCode, ruleVersion, side, amount } = d.pendingPosting();
    const given = [{ assetCode, ruleVersion, side, amount, functionalAmount: amount }];
    return bind(d.ledgerId(), (c, id) => postings.upsertPostingTotals(c, id, given));
  },
  insertWalletPostings: (d) => {
    const given = [{ journalId: d.journalId(), assetCode: "EUR", ruleVersion: 1 }];
    return bind(d.ledgerId(), (c, id) => postings.insertWalletPostings(c, id, given));
  },
  insertClose: (d) => {
    const record = d.close();
    const balance = { glAccountCode: "1000", opening: 1n, debits: 1n, credits: -1n };
    const rows = [{ ...balance, closing: 1n, entryCount: 1 }];
    const subtrees = [{ firstSequence: 1, root: Buffer.alloc(32, 7) }];
    return (c) => Promise.all(closes.insertClose(c, record, rows, subtrees));
  },
};

function bind(
  ledgerId: string,
  send: (connection: Connection, ledgerId: string) => Promise<unknown>,
): Call {
  return (connection) => send(connection, ledgerId);
}
