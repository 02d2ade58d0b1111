// What is in the simulated database when a history has come to its end.
import type { Cluster } from "../database/cluster.ts";
import type { Table } from "../database/table.ts";
import { isVisible, SimulatedTransaction } from "../database/transactions.ts";

export type FinalBooks = ReturnType<typeof finalBooks>;

/** The rows that whoever looks now sees. */
export function finalBooks({ tables, snapshot }: Cluster) {
  const reader = new SimulatedTransaction();
  const rows = <Row extends object>(table: Table<Row>): Row[] => {
    const found: Row[] = [];
    for (const version of table.allVersions()) {
      if (isVisible(version, reader, snapshot)) found.push(version.row);
    }
    return found;
  };
  return {
    states: rows(tables.ledgerStates),
    heads: rows(tables.journalHeads),
    entries: rows(tables.journalEntries).sort((one, other) => one.sequence - other.sequence),
    lines: rows(tables.journalLines),
    reversals: rows(tables.journalReversals),
    balances: rows(tables.accountBalances),
    rules: rows(tables.assetRules),
    wallets: rows(tables.wallets),
    writes: rows(tables.walletWrites).sort((one, other) => one.seq - other.seq),
    holds: rows(tables.walletHolds),
    batches: rows(tables.walletBatches),
    totals: rows(tables.postingTotals),
    postings: rows(tables.walletPostings),
    closes: rows(tables.periodCloses).sort((one, other) => one.number - other.number),
    closeBalances: rows(tables.closeBalances),
  };
}

/** Rows by a key of theirs. */
export function groupBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
