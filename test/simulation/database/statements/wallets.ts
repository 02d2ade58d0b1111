// The statements of the wallets' write path, as the simulated database carries them out.
import type { AssetRule } from "../../../../src/core/asset.ts";
import type { Hold, WalletWriteType } from "../../../../src/core/wallet.ts";
import {
  insertAssetRules,
  listAssetRules,
  listRuleVersions,
} from "../../../../src/store/asset-rules.ts";
import { listActiveHolds, listHolds, upsertHolds } from "../../../../src/store/wallet-holds.ts";
import {
  hasWalletWrites,
  insertWalletWrites,
  listWritesByExternalId,
  sumDayDebits,
} from "../../../../src/store/wallet-writes.ts";
import {
  insertWallets,
  lockWallets,
  updateControlledWallets,
  updateWallets,
} from "../../../../src/store/wallets.ts";
import type { Execution } from "../execution.ts";
import type { Handlers, Parameters } from "../handler.ts";
import { bytes, text, texts, time, timeOrNull, unnest } from "../parameters.ts";
import type { AssetRuleRow, WalletHoldRow, WalletRow, WalletWriteRow } from "../tables.ts";
import { aLogEntry, anAssetRule, aWallet, anId, anyTime } from "./sample.ts";

export function addWalletStatements(handlers: Handlers): void {
  addFigures(handlers);
  addLogs(handlers);
  addHolds(handlers);
  addAssetRules(handlers);
}

function addFigures(handlers: Handlers): void {
  function* lock(db: Execution, ledgerId: string, callerKeys: readonly string[]) {
    const locked: object[] = [];
    for (const callerKey of callerKeys) {
      const wallet = yield* db.lock(db.tables.wallets, { ledgerId, callerKey }, "update");
      if (wallet !== null) locked.push(withoutLedger(wallet));
    }
    return locked;
  }
  handlers.add(
    (connection) => lockWallets(connection, anId, ["key"]),
    (db, [ledgerId, callerKey]) => lock(db, text(ledgerId), [text(callerKey)]),
  );
  handlers.add(
    (connection) => lockWallets(connection, anId, ["key", "other"]),
    (db, [callerKeys, ledgerId]) => lock(db, text(ledgerId), texts(callerKeys)),
  );
  handlers.addInsert(
    (connection, wallets) => insertWallets(connection, anId, wallets),
    aWallet,
    (db, ledgerId, row) => {
      const [callerKey, walletId, assetCode, balance, held, lastSeq, lastAt, logHash] = row;
      return db.insert<WalletRow>(db.tables.wallets, {
        ledgerId,
        callerKey: text(callerKey),
        walletId: text(walletId),
        assetCode: text(assetCode),
        balance: BigInt(text(balance)),
        held: BigInt(text(held)),
        lastSeq: Number(lastSeq),
        lastAt: time(lastAt),
        logHash: bytes(logHash),
        frozenAt: null,
        debitedOn: null,
        debited: null,
        chainedAfter: 0,
      });
    },
  );
  handlers.add(
    (connection) => updateWallets(connection, anId, [aWallet]),
    function* (db, parameters) {
      const [balance, held, lastSeq, lastAt, logHash, ledgerId, callerKey] = parameters;
      const figures = [callerKey, balance, held, lastSeq, lastAt, bytes(logHash)];
      yield* moveWallet(db, text(ledgerId), figures);
      return [];
    },
  );
  handlers.add(
    (connection) => updateWallets(connection, anId, [aWallet, aWallet]),
    function* (db, parameters) {
      const ledgerId = text(parameters[6]);
      for (const row of unnest(...parameters.slice(0, 6))) yield* moveWallet(db, ledgerId, row);
      return [];
    },
  );
  handlers.add(
    (connection) => updateControlledWallets(connection, anId, [aWallet]),
    function* (db, parameters) {
      const ledgerId = text(parameters[9]);
      for (const row of unnest(...parameters.slice(0, 9))) {
        const [frozenAt, debitedOn, debited] = row.slice(6);
        yield* moveWallet(db, ledgerId, row, {
          frozenAt: timeOrNull(frozenAt),
          debitedOn: debitedOn ?? null,
          debited: debited === null || debited === undefined ? null : BigInt(debited),
        });
      }
      return [];
    },
  );
}

function moveWallet(
  db: Execution,
  ledgerId: string,
  row: readonly (string | null | undefined)[],
  controls: Partial<WalletRow> = {},
) {
  const [callerKey, balance, held, lastSeq, lastAt, logHash] = row;
  const key = { ledgerId, callerKey: text(callerKey) };
  return db.updateInPlace(db.tables.wallets, key, (wallet) => ({
    ...wallet,
    balance: BigInt(text(balance)),
    held: BigInt(text(held)),
    lastSeq: Number(lastSeq),
    lastAt: time(lastAt),
    logHash: text(logHash),
    chainedAfter: wallet.chainedAfter ?? wallet.lastSeq,
    ...controls,
  }));
}

/** A row without the ledger that the statement named. */
export function withoutLedger<Row extends { ledgerId: string }>(row: Row): Omit<Row, "ledgerId"> {
  const { ledgerId, ...rest } = row;
  return rest;
}

function addLogs(handlers: Handlers): void {
  handlers.add(
    (connection) =>
      listWritesByExternalId(connection, anId, [{ callerKey: "key", externalId: "key" }]),
    (db, [callerKeys, externalIds, ledgerId]) =>
      unnest(callerKeys, externalIds).flatMap(([callerKey, externalId]) => {
        const key = { ledgerId: text(ledgerId), callerKey: text(callerKey) };
        const wallet = db.find(db.tables.wallets, key);
        if (wallet === null) return [];
        const write = db.findBy(db.tables.walletWrites, "wallet_writes_external_id_key", {
          ledgerId: key.ledgerId,
          walletId: wallet.walletId,
          externalId: externalId ?? null,
        });
        if (write === null) return [];
        const holdId = write.type === "reserve" ? write.holdId : null;
        return [{ callerKey, externalId, holdId, transferId: write.transferId }];
      }),
  );
  handlers.add(
    (connection) => hasWalletWrites(connection, anId, []),
    (db, [walletIds, seqs, types, holdIds, ats, transferIds, batchIds, ledgerId]) => {
      const wanted = unnest(walletIds, seqs, types, holdIds, ats, transferIds, batchIds);
      const found = wanted.filter(([walletId, seq, type, holdId, at, transferId, batchId]) => {
        const key = { ledgerId: text(ledgerId), walletId: text(walletId), seq: Number(seq) };
        const row = db.find(db.tables.walletWrites, key);
        if (row?.type !== type || row?.at !== time(at)) return false;
        return (
          row.holdId === (holdId ?? null) &&
          row.transferId === (transferId ?? null) &&
          row.pendingPostingId === (batchId ?? null)
        );
      });
      return [{ count: found.length }];
    },
  );
  handlers.addInsert(
    (connection, writes) => insertWalletWrites(connection, anId, writes),
    aLogEntry,
    (db, ledgerId, row) => db.insert(db.tables.walletWrites, writeRow(ledgerId, row)),
  );
  handlers.add(
    (connection) => sumDayDebits(connection, anId, [{ walletId: anId, day: "2026-01-01" }]),
    (db, [walletIds, beginnings, ledgerId]) =>
      unnest(walletIds, beginnings).map(([walletId, beginsAt]) => {
        const rows = db.filter(
          db.tables.walletWrites,
          (row) => row.walletId === walletId && row.ledgerId === ledgerId,
        );
        const isEarlier = ({ at }: WalletWriteRow) => at < text(beginsAt).replace("Z", ".000Z");
        const lastSeq = Math.max(0, ...rows.filter(isEarlier).map(({ seq }) => seq));
        const amount = rows
          .filter(({ seq, type }) => seq > lastSeq && debitTypes.includes(type))
          .reduce((sum, row) => sum + row.amount, 0n);
        return { walletId, amount };
      }),
  );
}

const debitTypes: readonly string[] = ["debit", "commit", "transfer-out"];

function writeRow(ledgerId: string, row: Parameters): WalletWriteRow {
  const [walletId, seq, type, amount, balance, held, externalId, ...rest] = row;
  const [holdId, metadata, at, pendingPostingId, transferId, counterparty] = rest;
  return {
    ledgerId,
    walletId: text(walletId),
    seq: Number(seq),
    type: text(type) as WalletWriteType,
    amount: BigInt(text(amount)),
    balance: BigInt(text(balance)),
    held: BigInt(text(held)),
    externalId: externalId ?? null,
    holdId: holdId ?? null,
    metadata: metadata ?? null,
    at: time(at),
    transferId: transferId ?? null,
    counterparty: counterparty ?? null,
    pendingPostingId: pendingPostingId ?? null,
  };
}

function addHolds(handlers: Handlers): void {
  handlers.add(
    (connection) => listActiveHolds(connection, anId, [anId]),
    (db, [walletIds, ledgerId]) =>
      texts(walletIds).flatMap((walletId) =>
        db
          .filter(
            db.tables.walletHolds,
            (hold) =>
              hold.walletId === walletId && hold.status === "active" && hold.ledgerId === ledgerId,
          )
          .sort(byExpiry)
          .map(withoutLedger),
      ),
  );
  handlers.add(
    (connection) => listHolds(connection, anId, [anId]),
    (db, [holdIds, ledgerId]) =>
      texts(holdIds).flatMap((holdId) => {
        const hold = db.find(db.tables.walletHolds, { ledgerId: text(ledgerId), holdId });
        return hold === null ? [] : [withoutLedger(hold)];
      }),
  );
  handlers.addInsert<Hold>(
    (connection, holds) => upsertHolds(connection, anId, holds),
    { holdId: anId, walletId: anId, amount: 1n, expiresAt: anyTime, status: "active" },
    (db, ledgerId, [holdId, walletId, amount, expiresAt, status]) => {
      const hold: WalletHoldRow = {
        ledgerId,
        holdId: text(holdId),
        walletId: text(walletId),
        amount: BigInt(text(amount)),
        expiresAt: timeOrNull(expiresAt),
        status: text(status) as Hold["status"],
      };
      return db.insert(db.tables.walletHolds, hold, (held) => ({ ...held, status: hold.status }));
    },
  );
}

/** As ORDER BY expires_at, hold_id: nulls come last. */
function byExpiry(one: WalletHoldRow, other: WalletHoldRow): number {
  const left = `${one.expiresAt ?? "~"} ${one.holdId}`;
  const right = `${other.expiresAt ?? "~"} ${other.holdId}`;
  return left < right ? -1 : 1;
}

function addAssetRules(handlers: Handlers): void {
  handlers.add(
    (connection) => listAssetRules(connection, anId, ["EUR"]),
    (db, [ledgerId, assetCode]) =>
      rulesOf(db, ledgerId)
        .filter((rule) => rule.assetCode === assetCode)
        .slice(-1)
        .map(withoutLedger),
  );
  handlers.add(
    (connection) => listAssetRules(connection, anId, ["EUR", "USD"]),
    (db, [assetCodes, ledgerId]) =>
      texts(assetCodes).flatMap((assetCode) => {
        const versions = rulesOf(db, ledgerId).filter((rule) => rule.assetCode === assetCode);
        return versions.slice(-1).map(withoutLedger);
      }),
  );
  handlers.add(
    (connection) => listRuleVersions(connection, anId),
    (db, [ledgerId]) => rulesOf(db, ledgerId).map(withoutLedger),
  );
  handlers.addInsert(
    (connection, rules) => insertAssetRules(connection, anId, rules, anyTime),
    anAssetRule,
    (db, ledgerId, row) => db.insert(db.tables.assetRules, ruleRow(ledgerId, row), "nothing"),
  );
}

/** By asset and version. */
export function rulesOf(db: Execution, ledgerId: string | null | undefined): AssetRuleRow[] {
  return db
    .filter(db.tables.assetRules, (rule) => rule.ledgerId === ledgerId)
    .sort((one, other) =>
      one.assetCode === other.assetCode
        ? one.version - other.version
        : one.assetCode < other.assetCode
          ? -1
          : 1,
    );
}

function ruleRow(ledgerId: string, row: Parameters): AssetRuleRow {
  const [assetCode, version, walletsAccount, clearingAccount, rate, exponent, ...limits] = row;
  const [overdraftLimit, maxBalance, dailyDebitMax] = limits
    .slice(0, 3)
    .map((limit) => (limit === null ? null : BigInt(limit)));
  const rule: AssetRule = {
    assetCode: text(assetCode),
    version: Number(version),
    walletsAccount: text(walletsAccount),
    clearingAccount: text(clearingAccount),
    rate: rate ?? null,
    exponent: Number(exponent),
    overdraftLimit: overdraftLimit ?? 0n,
    maxBalance: maxBalance ?? null,
    dailyDebitMax: dailyDebitMax ?? null,
  };
  return { ...rule, ledgerId };
}
