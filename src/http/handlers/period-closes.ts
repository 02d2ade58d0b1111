// Closing periods, reading closes, and what lets an outsider check one: proofs and bundles.
import { canonicalEntry, canonicalJson } from "../../core/canonical.ts";
import type { BalanceRow, CloseRecord } from "../../core/close.ts";
import { Refusal, validationRefusal } from "../../core/errors.ts";
import type { Line } from "../../core/journal.ts";
import { holds } from "../../core/period.ts";
import { closeBody, repeatedCloseBody } from "../../contract/close-body.ts";
import { faultsOf } from "../../contract/schema-faults.ts";
import { previewClose as previewOf } from "../../engine/close-previews.ts";
import { proveEntry } from "../../engine/proofs.ts";
import { listAccounts } from "../../store/accounts.ts";
import { readEntryContents } from "../../store/entry-contents.ts";
import { findLedger } from "../../store/ledgers.ts";
import type { Connection } from "../../store/database/connection.ts";
import {
  countCloses,
  findCloseOfPeriod,
  listCloseBalances,
  listCloses as listPage,
} from "../../store/period-closes.ts";
import { requireClose, requireEntry } from "./named-records.ts";
import { limitSearch, type RouteHandler } from "./route-handler.ts";
import { wireBalanceRow, wireBalances, wireMovedBalance } from "./wire-balances.ts";
import { entryDocument } from "./wire-entry.ts";

export const closePeriod: RouteHandler<"closePeriod"> = async (services, { body, ledger }) => {
  const { ledgerId } = ledger;
  const request = await readCloseRequest(services.interactive, ledgerId, body?.value);
  return services.closes.closePeriod(ledgerId, request);
};

/** A label that is not taken any more may be that of a stored close, which a repeated close answers with. */
async function readCloseRequest(connection: Connection, ledgerId: string, body: unknown) {
  const taken = closeBody.safeParse(body);
  if (taken.success) return taken.data;
  const repeated = repeatedCloseBody.safeParse(body);
  const stored = repeated.success
    ? await findCloseOfPeriod(connection, ledgerId, repeated.data.periodId)
    : null;
  if (!repeated.success || stored === null) throw validationRefusal(faultsOf(taken.error));
  return repeated.data;
}

export const listCloses: RouteHandler<"listCloses"> = async (
  { interactive },
  { ledger, query },
) => {
  const { limit, offset } = query;
  const { ledgerId } = ledger;
  const total = await countCloses(interactive, ledgerId);
  const skip = offset ?? 0;
  // Numbers have no gaps: an offset is a number.
  const closes =
    skip < total ? await listPage(interactive, ledgerId, { afterNumber: skip, limit }) : [];
  return { closes, total, hasMore: skip + closes.length < total };
};

export const previewClose: RouteHandler<"previewClose"> = async (services, request) => {
  const { ledger, query } = request;
  const { ledgerId } = ledger;
  const [preview, record, chart] = await Promise.all([
    previewOf(services.longRunning, ledgerId, { ...query, reason: null }, request.gone()).catch(
      asParameterFaults,
    ),
    findLedger(services.interactive, ledgerId),
    listAccounts(services.interactive, ledgerId, false),
  ]);
  if (record?.status === "closed" && preview.close === null) {
    throw new Refusal("ledgerClosed", "the ledger is permanently closed");
  }
  const { period, postings, earlierOpen, moved, rows, ...rest } = preview;
  return {
    periodId: query.periodId,
    ...wireBalances(ledger, period, rows, chart),
    ...rest,
    pendingPostings: postings.map((posting) => ({
      assetCode: posting.assetCode,
      transactionDate: posting.transactionDate,
      isInPeriod: holds(period, posting.transactionDate),
      amount: debitsOf(posting.lines).toString(),
      writes: Number(posting.metadata["writes"]),
      wallets: posting.walletIds.length,
    })),
    earlierOpen: earlierOpen.map(({ month, entryCount }) => ({ periodId: month, entryCount })),
    moved: moved.map(({ close: { periodId, closeId, number, closedAt }, accounts }) => ({
      ...{ periodId, closeId, number, closedAt },
      accounts: accounts.map(wireMovedBalance),
    })),
  };
};

/** The engine reports faults of bounds by their place in a body; here they are parameters of the query. */
function asParameterFaults(error: unknown): never {
  if (!(error instanceof Refusal) || error.problem !== "validation") throw error;
  throw validationRefusal(
    error.faults.map((fault) =>
      "path" in fault ? { parameter: String(fault.path[0]), detail: fault.detail } : fault,
    ),
  );
}

function debitsOf(lines: readonly Pick<Line, "functionalAmount">[]): bigint {
  return lines.reduce(
    (sum, { functionalAmount }) => (functionalAmount > 0n ? sum + functionalAmount : sum),
    0n,
  );
}

export const getClose: RouteHandler<"getClose"> = async ({ interactive }, { ledger, closeId }) => {
  const close = await requireClose(interactive, ledger, closeId);
  return { ...close, balances: (await listCloseBalances(interactive, close)).map(wireBalanceRow) };
};

export const getProof: RouteHandler<"getProof"> = async (services, request) => {
  const { interactive } = services;
  const close = await requireClose(interactive, request.ledger, request.closeId);
  const entry = await requireEntry(interactive, request.ledger, request.query.entryId);
  const { leafIndex, treeSize, auditPath } = await proveEntry(
    limitSearch(services, request),
    close,
    entry,
  );
  return {
    format: "ledgerctl-proof-v1",
    leafIndex,
    treeSize,
    auditPath: auditPath.map((hash) => hash.toString("hex")),
    entry: entryDocument(entry),
    close,
  };
};

export const getBundle: RouteHandler<"getBundle"> = async (services, request) => {
  const { interactive } = services;
  const close = await requireClose(interactive, request.ledger, request.closeId);
  const balances = await listCloseBalances(interactive, close);
  return bundleLines(limitSearch(services, request), close, balances);
};

/** What is read at a time, about. */
const bytesPerPage = 512 * 1024;
/** Written out at a time: longer texts and buffers are collected with V8's old generation, which takes more time. */
const entriesPerChunk = 64;

/** A bundle, line by line; documents in canonical form. */
async function* bundleLines(
  connection: Connection,
  close: CloseRecord,
  balances: readonly BalanceRow[],
): AsyncGenerator<Buffer> {
  const record = canonicalJson({ ...close });
  yield Buffer.from(`{"kind":"close","format":"ledgerctl-bundle-v1","close":${record}}\n`);
  for (const row of balances) {
    yield Buffer.from(
      `{"kind":"account","account":${canonicalJson({ ...wireBalanceRow(row) })}}\n`,
    );
  }
  let entries = 0;
  const closed = { ...close, afterSequence: 0, upToSequence: close.lastSequence };
  for await (const page of readEntryContents(connection, closed, bytesPerPage)) {
    entries += page.length;
    for (let from = 0; from < page.length; from += entriesPerChunk) {
      const chunk = page.slice(from, from + entriesPerChunk);
      const lines = chunk.map((entry) => `{"kind":"entry","entry":${canonicalEntry(entry)}}\n`);
      yield Buffer.from(lines.join(""));
    }
  }
  // A reader counts: without the trailer, the bundle is known to be broken.
  if (entries < close.entryCount) return;
  yield Buffer.from(`{"kind":"trailer","accounts":${balances.length},"entries":${entries}}\n`);
}
