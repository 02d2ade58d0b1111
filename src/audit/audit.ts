// An audit recomputes everything that is stored twice, and compares. It writes nothing, and trusts no stored
// result.
import { entryLeaf } from "../core/canonical.ts";
import {
  countReversals,
  ledgerTables,
  listAuditedLedgers,
  listChartCodes,
  listReversalFaults,
  listStrayLedgers,
  listStrayLines,
  listUnlikeReversals,
  readAuditedEntries,
  type AuditedLedger,
} from "../store/audit-reads.ts";
import type { ReadConnection } from "../store/read-pool.ts";
import { AuditLog, type AuditReport } from "./audit-log.ts";
import { checkChain, readCloses } from "./close-checks.ts";
import { CloseRecomputations } from "./close-recomputations.ts";
import {
  BalanceCheck,
  LeafCheck,
  LineCheck,
  SequenceCheck,
  type EntryCheck,
} from "./entry-checks.ts";
import { checkBatches, checkPostings, checkReconciliation, checkWallets } from "./wallet-checks.ts";

/** How far an audit has come. */
export interface AuditProgress {
  readonly ledgerId: string;
  /** Of the ledger, read so far. */
  readonly entries: number;
}

/**
 * Audits all ledgers, or one; null where there is no such ledger. `reads` must be a snapshot: figures
 * that are compared have to be of one moment. Memory is for a page of entries, and a row for each
 * balance, each account of each close, and each account of each span between their bounds. A row that
 * can't be read is thrown, never skipped.
 */
export async function auditLedgers(
  reads: ReadConnection,
  ledgerId: string | null,
  onProgress: (progress: AuditProgress) => void = () => undefined,
): Promise<AuditReport | null> {
  const ledgers = await listAuditedLedgers(reads, ledgerId);
  if (ledgerId !== null && ledgers.length === 0) return null;
  const log = new AuditLog();
  if (ledgerId === null) await checkStrayRows(reads, log);
  for (const ledger of ledgers) {
    checkLedger(ledger, log);
    await auditJournal(reads, ledger, log, onProgress);
    await checkWallets(reads, ledger.ledgerId, log.of("wallets", ledger.ledgerId));
    await checkBatches(reads, ledger.ledgerId, log.of("wallet-batches", ledger.ledgerId));
    await checkPostings(reads, ledger.ledgerId, log.of("wallet-postings", ledger.ledgerId));
    await checkReconciliation(reads, ledger.ledgerId, log);
  }
  return log.report();
}

async function checkStrayRows(reads: ReadConnection, log: AuditLog): Promise<void> {
  for (const table of ledgerTables) {
    for (const id of await listStrayLedgers(reads, table)) {
      log.of("ledgers", id).find(`table ${table}`, "has rows of a ledger that is not there");
    }
  }
}

function checkLedger({ ledgerId, status, lastSequence }: AuditedLedger, log: AuditLog): void {
  const check = log.of("ledgers", ledgerId);
  check.looked(1);
  if (status === null) check.find("ledger", "has no state");
  if (lastSequence === null) check.find("ledger", "has no journal head");
}

/** The journal and its closes, in one pass over the entries. */
async function auditJournal(
  reads: ReadConnection,
  ledger: AuditedLedger,
  log: AuditLog,
  onProgress: (progress: AuditProgress) => void,
): Promise<void> {
  const { ledgerId, functionalCurrency } = ledger;
  const chart = new Set(await listChartCodes(reads, ledgerId));
  const closes = await readCloses(reads, ledgerId);
  const checks: EntryCheck[] = [
    new SequenceCheck(ledger, log.of("sequences", ledgerId)),
    new LineCheck(functionalCurrency, chart, log.of("lines", ledgerId)),
    new LeafCheck(log.of("leaves", ledgerId)),
    new BalanceCheck(reads, ledgerId, log.of("balances", ledgerId)),
    new CloseRecomputations(reads, closes, log),
  ];
  let entries = 0;
  for await (const audited of readAuditedEntries(reads, ledgerId)) {
    const hashed = { ...audited, contentLeaf: entryLeaf(audited.entry) };
    for (const check of checks) check.add(hashed);
    entries += 1;
    onProgress({ ledgerId, entries });
  }
  for (const check of checks) await check.finish();
  log.of("lines", ledgerId).findAll(await listStrayLines(reads, ledgerId));
  const reversals = log.of("reversals", ledgerId);
  reversals.looked(await countReversals(reads, ledgerId));
  reversals.findAll(await listReversalFaults(reads, ledgerId));
  reversals.findAll(await listUnlikeReversals(reads, ledgerId));
  await checkChain(reads, ledger, closes, log.of("close-chain", ledgerId));
}
