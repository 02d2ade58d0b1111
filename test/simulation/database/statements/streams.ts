// The statements of wallets' streams, as the simulated database carries them out.
import { laterOf, timestampFromEpochMs, type Timestamp } from "../../../../src/core/time.ts";
import { listPendingPostingIds, listPostings } from "../../../../src/store/pending-postings.ts";
import { findLastWriteSeq, listWalletHistory } from "../../../../src/store/wallet-writes.ts";
import { listWalletFigures } from "../../../../src/store/wallets.ts";
import type { Execution } from "../execution.ts";
import type { Handlers } from "../handler.ts";
import { text, texts } from "../parameters.ts";
import type { WalletRow } from "../tables.ts";
import { anId } from "./sample.ts";
import { withoutLedger } from "./wallets.ts";

export function addStreamStatements(handlers: Handlers): void {
  addLogReads(handlers);
  addPostingReads(handlers);
}

function addLogReads(handlers: Handlers): void {
  handlers.add(
    (connection) => listWalletFigures(connection, anId, ["key"]),
    (db, [ledgerId, callerKeys]) =>
      texts(callerKeys).flatMap((callerKey) => {
        const wallet = db.find(db.tables.wallets, { ledgerId: text(ledgerId), callerKey });
        return wallet === null ? [] : [figuresOf(db, wallet)];
      }),
  );
  handlers.add(
    (connection) => listWalletHistory(connection, anId, "key", { afterSeq: 0, limit: 1 }),
    (db, [ledgerId, key, , afterSeq, limit]) => {
      const callerKey = text(key);
      const wallet = db.find(db.tables.wallets, { ledgerId: text(ledgerId), callerKey });
      if (wallet === null) return [];
      return db
        .filter(
          db.tables.walletWrites,
          (row) =>
            row.walletId === wallet.walletId &&
            row.ledgerId === ledgerId &&
            row.seq > Number(afterSeq),
        )
        .sort((one, other) => one.seq - other.seq)
        .slice(0, Number(limit))
        .map((row) => {
          const { pendingPostingId } = row;
          const batch =
            pendingPostingId === null
              ? null
              : db.find(db.tables.walletBatches, { ledgerId: row.ledgerId, pendingPostingId });
          return { ...withoutLedger(row), callerKey, journalId: batch?.journalId ?? null };
        });
    },
  );
  handlers.add(
    (connection) => findLastWriteSeq(connection, anId, anId, 1),
    (db, [ledgerId, walletId, upToSeq]) =>
      db
        .filter(
          db.tables.walletWrites,
          (row) =>
            row.walletId === walletId &&
            row.ledgerId === ledgerId &&
            row.seq <= Number(upToSeq) &&
            row.type !== "expire",
        )
        .map(({ seq }) => ({ seq }))
        .sort((one, other) => other.seq - one.seq)
        .slice(0, 1),
  );
}

/** Holds that have expired count no more. */
function figuresOf(db: Execution, wallet: WalletRow): object {
  const { ledgerId, callerKey, walletId, balance, held, lastSeq, lastAt } = wallet;
  const now = laterOf(timestampFromEpochMs(db.clockMs()) as Timestamp, lastAt);
  const expired = db.filter(
    db.tables.walletHolds,
    (hold) =>
      hold.walletId === walletId &&
      hold.ledgerId === ledgerId &&
      hold.status === "active" &&
      hold.expiresAt !== null &&
      hold.expiresAt <= now,
  );
  const freed = held === 0n ? 0n : expired.reduce((sum, { amount }) => sum + amount, 0n);
  return { callerKey, walletId, balance, lastSeq, available: balance - held + freed };
}

function addPostingReads(handlers: Handlers): void {
  handlers.add(
    (connection) => listPostings(connection, anId, [anId]),
    (db, [wanted, ledgerId]) =>
      texts(wanted).flatMap((pendingPostingId) => {
        const key = { ledgerId: text(ledgerId), pendingPostingId };
        const journalId = db.find(db.tables.walletBatches, key)?.journalId ?? null;
        return journalId === null ? [] : [{ pendingPostingId, journalId }];
      }),
  );
  handlers.add(
    (connection) => listPendingPostingIds(connection, anId, anId),
    (db, [ledgerId, walletId]) =>
      db
        .filter(
          db.tables.walletBatches,
          (row) =>
            row.ledgerId === ledgerId &&
            row.journalId === null &&
            row.walletIds.includes(text(walletId)),
        )
        .map(({ pendingPostingId }) => ({ pendingPostingId })),
  );
}
