// Writing and reading wallets.
import { Refusal, validationRefusal } from "../../core/errors.ts";
import type { WalletReply, WalletWrite } from "../../core/wallet.ts";
import type { Parsed } from "../../contract/entry-body.ts";
import {
  parseBulkBody,
  parseCommitBody,
  parseMovementBody,
  parseReleaseBody,
  parseReserveBody,
} from "../../contract/wallet-body.ts";
import type { BulkResult, WalletResult, WalletLogEntry } from "../../contract/types.ts";
import {
  listPostedWrites as listPosted,
  listWalletHistory,
  type PostedLogEntry,
} from "../../store/wallet-writes.ts";
import { asRefusal, plainMessage } from "../problems.ts";
import { requireEntry } from "./named-records.ts";
import {
  searchMsMax,
  type Services,
  type RouteHandler,
  type RouteRequest,
} from "./route-handler.ts";

export const creditWallet: RouteHandler<"creditWallet"> = async (services, request) =>
  wireReply(
    await write(services, request, parseMovementBody(request.body, "credit", request.callerKey)),
  );

export const debitWallet: RouteHandler<"debitWallet"> = async (services, request) =>
  wireReply(
    await write(services, request, parseMovementBody(request.body, "debit", request.callerKey)),
  );

export const reserveFunds: RouteHandler<"reserveFunds"> = async (services, request) => {
  const reply = await write(services, request, parseReserveBody(request.body, request.callerKey));
  const { status, ...figures } = wireReply(reply);
  return { status, holdId: reply.holdId, ...figures };
};

export const commitHold: RouteHandler<"commitHold"> = async (services, request) => {
  const { body, callerKey, holdId } = request;
  return wireReply(await write(services, request, parseCommitBody(body, callerKey, holdId)));
};

export const releaseHold: RouteHandler<"releaseHold"> = async (services, request) => {
  const { body, callerKey, holdId } = request;
  return wireReply(await write(services, request, parseReleaseBody(body, callerKey, holdId)));
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
    writes: rows.slice(0, query.limit).map(wireWrite),
    hasMore: rows.length > query.limit,
  };
};

export const listPostedWrites: RouteHandler<"listPostedWrites"> = async (services, request) => {
  const { ledger, entryId, query } = request;
  const { journalId } = await requireEntry(services.interactive, ledger, entryId);
  const offset = query.offset ?? 0;
  const page = { offset, limit: query.limit };
  const until = { signal: request.gone(), timeoutMs: searchMsMax };
  const longRunning = services.longRunning.within(until);
  const { writes, total } = await listPosted(longRunning, ledger.ledgerId, journalId, page);
  return {
    writes: writes.map((row) => ({ callerKey: row.callerKey, ...wireWrite(row) })),
    total,
    hasMore: offset + writes.length < total,
  };
};

/** A plain GET of the stream's path; upgrades never come here. */
export const streamWallet: RouteHandler<"streamWallet"> = () => {
  throw new Refusal("upgradeRequired", "this path is a WebSocket; send Upgrade: websocket");
};

export const writeWallets: RouteHandler<"writeWallets"> = async (services, request) => {
  const parsed = parseBulkBody(request.body);
  if (parsed.faults) throw validationRefusal(parsed.faults);
  const { ledger } = request;
  const bytes = Math.ceil(request.bodyBytes / parsed.value.length);
  const results = await Promise.all(
    parsed.value.map(async (one): Promise<BulkResult["results"][number]> => {
      try {
        if (one.faults) throw validationRefusal(one.faults);
        return wireReply(await services.wallets.write(ledger, one.value, bytes));
      } catch (error) {
        const refusal = asRefusal(error);
        request.noteRefusal(refusal);
        return { status: refusal.status, error: plainMessage(refusal) };
      }
    }),
  );
  return { results };
};

async function write(
  services: Services,
  request: Pick<RouteRequest<"creditWallet">, "ledger" | "bodyBytes">,
  parsed: Parsed<WalletWrite>,
): Promise<WalletReply> {
  if (parsed.faults) throw validationRefusal(parsed.faults);
  return services.wallets.write(request.ledger, parsed.value, request.bodyBytes);
}

function wireReply({ status, balance, available }: WalletReply): WalletResult {
  return { status, balance: balance.toString(), available: available.toString() };
}

function wireWrite(row: PostedLogEntry): WalletLogEntry {
  return {
    seq: row.seq,
    type: row.type,
    amount: row.amount.toString(),
    balance: row.balance.toString(),
    held: row.held.toString(),
    externalId: row.externalId,
    holdId: row.holdId,
    metadata: row.metadata,
    at: row.at,
    journalId: row.journalId,
  };
}
