// Writing and reading wallets.
import { validationRefusal } from "../../core/errors.ts";
import type { WalletReply } from "../../core/wallet.ts";
import {
  parseBulkBody,
  parseBulkMovement,
  parseCommitBody,
  parseFreezeBody,
  parseMovementBody,
  parseReleaseBody,
  parseReserveBody,
} from "../../contract/wallet-body.ts";
import type { Wallet, WalletResult } from "../../contract/types.ts";
import {
  listWallets as listPage,
  listWalletsOfAsset as listOfAsset,
  type ListedWallet,
} from "../../store/wallet-lists.ts";
import { listPostedWrites as listPosted, listWalletHistory } from "../../store/wallet-writes.ts";
import { callerKeyFault } from "../path-parameters.ts";
import { replyToItem } from "./item-replies.ts";
import { requireEntry } from "./named-records.ts";
import { limitSearch, type RouteHandler } from "./route-handler.ts";
import { wireLogEntry } from "./wire-wallet-log.ts";

export const creditWallet: RouteHandler<"creditWallet"> = async ({ wallets }, request) => {
  const { body, ledger, callerKey, bodyBytes } = request;
  const write = parseMovementBody(body, "credit", callerKey);
  return wireReply(await wallets.write(ledger, write, bodyBytes));
};

export const debitWallet: RouteHandler<"debitWallet"> = async ({ wallets }, request) => {
  const { body, ledger, callerKey, bodyBytes } = request;
  const write = parseMovementBody(body, "debit", callerKey);
  return wireReply(await wallets.write(ledger, write, bodyBytes));
};

export const reserveFunds: RouteHandler<"reserveFunds"> = async ({ wallets }, request) => {
  const { body, ledger, callerKey, bodyBytes } = request;
  const reply = await wallets.write(ledger, parseReserveBody(body, callerKey), bodyBytes);
  const { status, ...figures } = wireReply(reply);
  return { status, holdId: reply.holdId, ...figures };
};

export const commitHold: RouteHandler<"commitHold"> = async ({ wallets }, request) => {
  const { body, ledger, callerKey, holdId, bodyBytes } = request;
  const write = parseCommitBody(body, callerKey, holdId);
  return wireReply(await wallets.write(ledger, write, bodyBytes));
};

export const releaseHold: RouteHandler<"releaseHold"> = async ({ wallets }, request) => {
  const { body, ledger, callerKey, holdId, bodyBytes } = request;
  const write = parseReleaseBody(body, callerKey, holdId);
  return wireReply(await wallets.write(ledger, write, bodyBytes));
};

export const freezeWallet: RouteHandler<"freezeWallet"> = async ({ wallets }, request) => {
  const { body, ledger, callerKey, bodyBytes } = request;
  const write = parseFreezeBody(body, "freeze", callerKey);
  return { ...wireReply(await wallets.write(ledger, write, bodyBytes)), frozen: true };
};

export const unfreezeWallet: RouteHandler<"unfreezeWallet"> = async ({ wallets }, request) => {
  const { body, ledger, callerKey, bodyBytes } = request;
  const write = parseFreezeBody(body, "unfreeze", callerKey);
  return { ...wireReply(await wallets.write(ledger, write, bodyBytes)), frozen: false };
};

export const listWallets: RouteHandler<"listWallets"> = async ({ pages }, { ledger, query }) => {
  const { prefix, assetCode, cursor, limit } = query;
  const place = {
    prefix: prefix ?? "",
    afterKey: cursor === null ? "" : readCursor(cursor),
    limit: limit + 1,
  };
  const rows = await pages.withConnection((connection) =>
    assetCode === null
      ? listPage(connection, ledger.ledgerId, place)
      : listOfAsset(connection, ledger.ledgerId, assetCode, place),
  );
  const wallets = rows.slice(0, limit);
  const last = wallets.at(-1);
  const isMore = rows.length > limit && last !== undefined;
  return {
    wallets: wallets.map(wireWallet),
    nextCursor: isMore ? writeCursor(last.callerKey) : null,
  };
};

export const getWalletBalance: RouteHandler<"getWalletBalance"> = async (services, request) => {
  const { ledger, callerKey } = request;
  const figures = await services.walletReader.getFigures(ledger.ledgerId, callerKey);
  return {
    balance: (figures?.balance ?? 0n).toString(),
    available: (figures?.available ?? 0n).toString(),
  };
};

export const listWalletWrites: RouteHandler<"listWalletWrites"> = async (services, request) => {
  const { ledger, callerKey, query } = request;
  const rows = await listWalletHistory(services.interactive, ledger.ledgerId, callerKey, {
    afterSeq: query.after ?? 0,
    limit: query.limit + 1,
  });
  return {
    writes: rows.slice(0, query.limit).map(wireLogEntry),
    hasMore: rows.length > query.limit,
  };
};

export const listPostedWrites: RouteHandler<"listPostedWrites"> = async (services, request) => {
  const { ledger, entryId, query } = request;
  const { journalId } = await requireEntry(services.interactive, ledger, entryId);
  const offset = query.offset ?? 0;
  const page = { offset, limit: query.limit };
  const connection = limitSearch(services, request);
  const { writes, total } = await listPosted(connection, ledger.ledgerId, journalId, page);
  return {
    writes: writes.map((row) => ({ callerKey: row.callerKey, ...wireLogEntry(row) })),
    total,
    hasMore: offset + writes.length < total,
  };
};

export const writeWallets: RouteHandler<"writeWallets"> = async ({ wallets }, request) => {
  const { ledger, bodyBytes } = request;
  const writes = parseBulkBody(request.body);
  const bytes = Math.ceil(bodyBytes / writes.length);
  const results = await Promise.all(
    writes.map((write) =>
      replyToItem(request, async () =>
        wireReply(await wallets.write(ledger, parseBulkMovement(write), bytes)),
      ),
    ),
  );
  return { results };
};

function wireWallet(row: ListedWallet): Wallet {
  return {
    callerKey: row.callerKey,
    assetCode: row.assetCode,
    balance: row.balance.toString(),
    available: row.available.toString(),
    held: (row.balance - row.available).toString(),
    seq: row.lastSeq,
    createdAt: row.createdAt,
    updatedAt: row.lastAt,
    ...(row.frozenAt === null ? {} : { frozenAt: row.frozenAt }),
  };
}

/** A place in a list of wallets: after this callerKey. */
function writeCursor(callerKey: string): string {
  return Buffer.from(callerKey).toString("base64url");
}

function readCursor(cursor: string): string {
  const callerKey = Buffer.from(cursor, "base64url").toString();
  if (writeCursor(callerKey) === cursor && callerKeyFault(callerKey) === null) return callerKey;
  const detail = "must be the nextCursor of a page of wallets";
  throw validationRefusal([{ parameter: "cursor", detail }]);
}

function wireReply({ status, balance, available }: WalletReply): WalletResult {
  return { status, balance: balance.toString(), available: available.toString() };
}
