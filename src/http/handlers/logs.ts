// The logs of a ledger: checkpoints and proofs.
import { emptyRoot } from "../../core/merkle.ts";
import { Refusal, validationRefusal } from "../../core/errors.ts";
import { formatVerifierKey } from "../../core/note.ts";
import type { LogKind } from "../../core/log-origin.ts";
import { quoted } from "../../core/text.ts";
import { isLogKind } from "../../engine/logs/log-reader.ts";
import type { LedgerIdentity } from "../../core/ledger.ts";
import { requireClose, requireEntry } from "./named-records.ts";
import type { RouteHandler } from "./route-handler.ts";

export const getLog: RouteHandler<"getLog"> = async ({ logs }, request) => {
  const shown = await logs.readLog(requireLog(request));
  const { newest, policy } = shown;
  return {
    origin: shown.origin,
    verifierKey: shown.verifierKey,
    size: newest?.size ?? 0,
    rootHash: (newest?.rootHash ?? emptyRoot).toString("hex"),
    issuedAt: newest?.issuedAt ?? null,
    checkpoint: newest?.note ?? null,
    cosigners: newest?.cosigners ?? [],
    halted: shown.halted,
    witnesses: (policy?.witnesses ?? []).map(({ key }) => ({
      name: key.name,
      verifierKey: formatVerifierKey(key),
    })),
    witnessLines: policy?.witnessLines ?? [],
    origins: shown.origins,
  };
};

export const getCheckpoint: RouteHandler<"getCheckpoint"> = async ({ logs }, request) => {
  const { size, cosigned, origin } = request.query;
  const choice = { size, isCosigned: cosigned, origin };
  return (await logs.readCheckpoint(requireLog(request), choice)).note;
};

export const listCheckpoints: RouteHandler<"listCheckpoints"> = async ({ logs }, request) => {
  const { limit, origin } = request.query;
  const offset = request.query.offset ?? 0;
  const log = requireLog(request);
  const { checkpoints, total } = await logs.listCheckpoints(log, { limit, offset, origin });
  return {
    checkpoints: checkpoints.map(({ size, rootHash, issuedAt }) => ({
      size,
      rootHash: rootHash.toString("hex"),
      issuedAt,
    })),
    total,
    hasMore: offset + checkpoints.length < total,
  };
};

export const getConsistency: RouteHandler<"getConsistency"> = async ({ logs }, request) => {
  const { from, to } = request.query;
  const hashes = await logs.readConsistency(requireLog(request), from, to);
  return { from, to, hashes: hashes.map((hash) => hash.toString("base64")) };
};

export const getLogProof: RouteHandler<"getLogProof"> = async ({ interactive, logs }, request) => {
  const { ledger, query } = request;
  const { log } = requireLog(request);
  if (query.entryId !== null) {
    requireKind(log, "journal", "entryId");
    return logs.proveEntry(await requireEntry(interactive, ledger, query.entryId), query.size);
  }
  requireKind(log, "closes", "closeId");
  const close = await requireClose(interactive, ledger, query.closeId ?? "");
  return logs.proveClose(close, query.size);
};

function requireLog({ ledger, log }: { readonly ledger: LedgerIdentity; readonly log: string }) {
  if (isLogKind(log)) return { ledgerId: ledger.ledgerId, log };
  throw new Refusal(
    "unknownPath",
    `a ledger has the logs journal and closes, and none ${quoted(log)}`,
  );
}

/** Entries are in one log, closes in the other. */
function requireKind(log: LogKind, kind: LogKind, parameter: string): void {
  if (log === kind) return;
  throw validationRefusal([{ parameter, detail: `is for the log ${kind}` }]);
}
