// The statements of posting what wallets accepted, as the simulated database carries them out.
import type { PostingTotal } from "../../../../src/core/posting.ts";
import {
  insertPendingPostings,
  listAssetsWithoutRate,
  listLedgersWithPending,
  listPendingPostings,
  markPosted,
} from "../../../../src/store/pending-postings.ts";
import {
  insertWalletPostings,
  listPostingTotals,
  upsertPostingTotals,
} from "../../../../src/store/wallet-postings.ts";
import { DatabaseFault, type Execution } from "../execution.ts";
import type { Handlers, Parameters } from "../handler.ts";
import { text, texts, time, unnest } from "../parameters.ts";
import type { PostingTotalRow, WalletBatchRow } from "../tables.ts";
import { anId, anyTime } from "./sample.ts";
import { rulesOf, withoutLedger } from "./wallets.ts";

export function addPostingStatements(handlers: Handlers): void {
  addPending(handlers);
  addMarks(handlers);
  addTotals(handlers);
}

function isPending(row: WalletBatchRow, ledgerId: string | null | undefined): boolean {
  return row.journalId === null && row.ledgerId === ledgerId;
}

/** Whether a rule gives a rate to a pending posting. */
function hasRate(db: Execution, row: WalletBatchRow): boolean {
  return rulesOf(db, row.ledgerId).some(
    (rule) =>
      rule.assetCode === row.assetCode && rule.version >= row.ruleVersion && rule.rate !== null,
  );
}

function addPending(handlers: Handlers): void {
  handlers.add(
    (connection) =>
      insertPendingPostings(connection, anId, [
        {
          pendingPostingId: anId,
          assetCode: "EUR",
          ruleVersion: 1,
          side: "credit",
          amount: 1n,
          writeCount: 1,
          acceptedFrom: anyTime,
          acceptedTo: anyTime,
          spans: [],
        },
      ]),
    function* (db, parameters) {
      yield* db.insert(db.tables.walletBatches, batchRow(parameters));
      return [];
    },
  );
  handlers.add(
    (connection) => listLedgersWithPending(connection),
    (db) => {
      const waiting = db.filter(db.tables.walletBatches, ({ journalId }) => journalId === null);
      return [...new Set(waiting.map(({ ledgerId }) => ledgerId))].map((ledgerId) => ({
        ledgerId,
      }));
    },
  );
  handlers.add(
    (connection) => listPendingPostings(connection, anId, 1),
    (db, [ledgerId, , limit]) =>
      db
        .filter(db.tables.walletBatches, (row) => isPending(row, ledgerId))
        .filter((row) => hasRate(db, row))
        .sort((one, other) => (one.acceptedTo < other.acceptedTo ? -1 : 1))
        .slice(0, Number(limit))
        .map(pendingColumns),
  );
  handlers.add(
    (connection) => listAssetsWithoutRate(connection, anId),
    (db, [ledgerId]) => {
      const waiting = db
        .filter(db.tables.walletBatches, (row) => isPending(row, ledgerId))
        .filter((row) => !hasRate(db, row));
      const assets = new Set(waiting.map(({ assetCode }) => assetCode));
      return [...assets].sort().map((assetCode) => ({ assetCode }));
    },
  );
}

function batchRow(parameters: Parameters): WalletBatchRow {
  const [ledgerId, id, assetCode, ruleVersion, side, amount, writeCount, ...rest] = parameters;
  const [acceptedFrom, acceptedTo, walletIds, firstSeqs, lastSeqs] = rest;
  return {
    ledgerId: text(ledgerId),
    pendingPostingId: text(id),
    assetCode: text(assetCode),
    ruleVersion: Number(ruleVersion),
    side: text(side) as WalletBatchRow["side"],
    amount: BigInt(text(amount)),
    writeCount: Number(writeCount),
    acceptedFrom: time(acceptedFrom),
    acceptedTo: time(acceptedTo),
    walletIds: texts(walletIds),
    firstSeqs: texts(firstSeqs).map(Number),
    lastSeqs: texts(lastSeqs).map(Number),
    journalId: null,
  };
}

function pendingColumns(row: WalletBatchRow): object {
  const { ledgerId, firstSeqs, lastSeqs, journalId, ...columns } = row;
  return columns;
}

function addMarks(handlers: Handlers): void {
  handlers.add(
    (connection) => markPosted(connection, anId, []),
    function* (db, [ids, journalIds, ledgerId]) {
      for (const [pendingPostingId, journalId] of unnest(ids, journalIds)) {
        const key = { ledgerId: text(ledgerId), pendingPostingId: text(pendingPostingId) };
        yield* db.updateInPlace(db.tables.walletBatches, key, (row) => {
          // Its trigger lets a pending posting be marked once.
          if (row.journalId !== null) throw new DatabaseFault("23001");
          return { ...row, journalId: text(journalId) };
        });
      }
      return [];
    },
  );
  handlers.addInsert(
    (connection, postings) => insertWalletPostings(connection, anId, postings),
    { journalId: anId, assetCode: "EUR", ruleVersion: 1 },
    (db, ledgerId, [journalId, assetCode, ruleVersion]) =>
      db.insert(db.tables.walletPostings, {
        ledgerId,
        journalId: text(journalId),
        assetCode: text(assetCode),
        ruleVersion: Number(ruleVersion),
      }),
  );
}

function addTotals(handlers: Handlers): void {
  handlers.add(
    (connection) => listPostingTotals(connection, anId),
    (db, [ledgerId]) =>
      db.filter(db.tables.postingTotals, (total) => total.ledgerId === ledgerId).map(withoutLedger),
  );
  handlers.addInsert<PostingTotal>(
    (connection, totals) => upsertPostingTotals(connection, anId, totals),
    { assetCode: "EUR", ruleVersion: 1, side: "credit", amount: 1n, functionalAmount: 1n },
    (db, ledgerId, [assetCode, ruleVersion, side, amount, functionalAmount]) => {
      const total: PostingTotalRow = {
        ledgerId,
        assetCode: text(assetCode),
        ruleVersion: Number(ruleVersion),
        side: text(side) as PostingTotalRow["side"],
        amount: BigInt(text(amount)),
        functionalAmount: BigInt(text(functionalAmount)),
      };
      return db.insert(db.tables.postingTotals, total, () => total);
    },
  );
}
