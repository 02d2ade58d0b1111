// An audit recomputes everything that is stored twice, and compares. It writes nothing, and trusts no stored
// result.
import { entryLeaf } from "../core/canonical.ts";
import { haveLedgersOwnActs } from "../store/administration-acts.ts";
import { commonScope, ledgerScope } from "../store/audit/administration.ts";
import {
  type AuditedLedger,
  countRows,
  ledgerTables,
  listAuditedLedgers,
  listChartCodes,
  listReversalFaults,
  listStrayLedgers,
  listStrayLines,
  listUnlikeReversals,
  readAuditedEntries,
} from "../store/audit/journal.ts";
import type { Connection } from "../store/database/connection.ts";
import { UnreadableRow } from "../store/database/errors.ts";
import { areLogsDigested } from "../store/wallet-log-digests.ts";
import { checkActs, checkRecordedTables } from "./administration-checks.ts";
import { AuditLog, type AuditReport } from "./audit-log.ts";
import { checkChain, readCloses } from "./close-checks.ts";
import { CloseRecomputations } from "./close-recomputations.ts";
import {
  balanceCheck,
  leafCheck,
  lineCheck,
  sequenceCheck,
  type EntryCheck,
} from "./entry-checks.ts";
import { checkLogs } from "./log-checks.ts";
import { SumAudit } from "./sum-audit.ts";
import { checkBatches, checkPostings, checkReconciliation, checkWallets } from "./wallet-checks.ts";

/** How far an audit has come. */
export interface AuditProgress {
  readonly ledgerId: string;
  /** Of the ledger, read so far. */
  readonly entries: number;
}

/**
 * Audits all ledgers, or one; null where there is no such ledger. `connection` must be a snapshot: figures
 * that are compared have to be of one moment. `beside`, a second connection to that snapshot, is for what the database
 * computes by itself, while entries are read and hashed here. Memory is for two pages of entries and two of lines, the lines
 * of one span of registers, and a row for each balance, each account of each close, and each account of each span between
 * their bounds. A row that can't be read is thrown, with its ledger, never skipped.
 */
export async function auditLedgers(
  connection: Connection,
  ledgerId: string | null,
  onProgress: (progress: AuditProgress) => void = () => undefined,
  beside = connection,
): Promise<AuditReport | null> {
  const ledgers = await listAuditedLedgers(connection, ledgerId);
  if (ledgerId !== null && ledgers.length === 0) return null;
  const log = new AuditLog();
  const areLedgersApart = await haveLedgersOwnActs(connection);
  if (ledgerId === null) {
    const ownActs = areLedgersApart ? ["ledger_acts"] : [];
    await checkStrayRows(connection, [...ledgerTables, ...ownActs], log);
  }
  const scope = commonScope(ledgerId, areLedgersApart);
  await checkActs(connection, null, log.of("administration", null));
  await checkRecordedTables(connection, scope, log.of("administration", ledgerId));
  const areDigested = await areLogsDigested(connection);
  for (const ledger of ledgers) {
    checkLedger(ledger, log);
    if (areLedgersApart) await checkLedgerActs(connection, ledger.ledgerId, log);
    // On Citus each connection has snapshots of its own on other nodes.
    const other = areLedgersApart ? connection : beside;
    try {
      await auditLedger(connection, other, ledger, areDigested, log, onProgress);
    } catch (error) {
      throw error instanceof UnreadableRow
        ? new UnreadableRow(error.cause, ledger.ledgerId)
        : error;
    }
  }
  return log.report();
}

/** What belongs to a ledger. */
async function auditLedger(
  connection: Connection,
  other: Connection,
  ledger: AuditedLedger,
  areDigested: boolean,
  log: AuditLog,
  onProgress: (progress: AuditProgress) => void,
): Promise<void> {
  const { ledgerId } = ledger;
  const sums = await SumAudit.begin(connection, ledgerId);
  const [strayLines] = await Promise.all([
    listStrayLines(other, ledgerId),
    auditRows(connection, ledger, { areDigested, sums }, log, onProgress),
    auditBeside(other, ledgerId, sums, log),
  ]);
  // Behind what was found line by line, whichever came first.
  log.of("lines", ledgerId).findAll(strayLines);
  await sums.finish(log.of("day-sums", ledgerId));
  await checkReconciliation(connection, ledgerId, log);
}

async function checkStrayRows(
  connection: Connection,
  tables: readonly string[],
  log: AuditLog,
): Promise<void> {
  const strays = tables.map(async (table) => {
    for (const id of await listStrayLedgers(connection, table)) {
      log.of("ledgers", id).find(`table ${table}`, "has rows of a ledger that is not there");
    }
  });
  await Promise.all(strays);
}

async function checkLedgerActs(
  connection: Connection,
  ledgerId: string,
  log: AuditLog,
): Promise<void> {
  const check = log.of("administration", ledgerId);
  await checkActs(connection, ledgerId, check);
  await checkRecordedTables(connection, ledgerScope(ledgerId), check);
}

function checkLedger({ ledgerId, status, lastSequence }: AuditedLedger, log: AuditLog): void {
  const check = log.of("ledgers", ledgerId);
  check.looked(1);
  if (status === null) check.find("ledger", "has no state");
  if (lastSequence === null) check.find("ledger", "has no journal head");
}

/** What is compared here, row by row. */
async function auditRows(
  connection: Connection,
  ledger: AuditedLedger,
  { areDigested, sums }: { readonly areDigested: boolean; readonly sums: SumAudit },
  log: AuditLog,
  onProgress: (progress: AuditProgress) => void,
): Promise<void> {
  await auditJournal(connection, ledger, sums, log, onProgress);
  await checkWallets(connection, ledger.ledgerId, areDigested, log);
}

/** What the database compares. */
async function auditBeside(
  connection: Connection,
  ledgerId: string,
  sums: SumAudit,
  log: AuditLog,
): Promise<void> {
  await sums.compareBeside(connection);
  const reversals = log.of("reversals", ledgerId);
  reversals.looked(await countRows(connection, "journal_reversals", ledgerId));
  reversals.findAll(await listReversalFaults(connection, ledgerId));
  reversals.findAll(await listUnlikeReversals(connection, ledgerId));
  await checkBatches(connection, ledgerId, log.of("wallet-batches", ledgerId));
  await checkPostings(connection, ledgerId, log.of("wallet-postings", ledgerId));
}

/** The journal and its closes, in one pass over the entries. */
async function auditJournal(
  connection: Connection,
  ledger: AuditedLedger,
  sums: SumAudit,
  log: AuditLog,
  onProgress: (progress: AuditProgress) => void,
): Promise<void> {
  const { ledgerId } = ledger;
  const chart = new Set(await listChartCodes(connection, ledgerId));
  const closes = await readCloses(connection, ledgerId);
  const checks: EntryCheck[] = [
    sequenceCheck(ledger, closes, log.of("sequences", ledgerId)),
    lineCheck(ledger, chart, log.of("lines", ledgerId)),
    leafCheck(log.of("leaves", ledgerId)),
    balanceCheck(connection, ledger, log.of("balances", ledgerId)),
    new CloseRecomputations(connection, closes, log),
    ...sums.entryChecks,
  ];
  let entries = 0;
  for await (const some of readAuditedEntries(connection, ledgerId)) {
    for (const audited of some) {
      const contentLeaf = entryLeaf(audited.entry);
      for (const check of checks) check.add(audited, contentLeaf);
    }
    entries += some.length;
    onProgress({ ledgerId, entries });
  }
  for (const check of checks) await check.finish?.();
  await checkChain(connection, ledger, closes, log.of("close-chain", ledgerId));
  await checkLogs(connection, ledger, closes, log.of("logs", ledgerId));
}
