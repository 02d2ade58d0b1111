// What an operator with every right on the database does to a journal, so that the database agrees with itself again: the
// entry, its leaf, its balances and the log's stored tree.
import { canonicalJson } from "../../src/core/canonical.ts";
import { CompactRange, hashLeaf, type Hash } from "../../src/core/merkle.ts";
import { sql } from "../../src/store/database/statement.ts";
import type { BinaryServer } from "./binary-server.ts";
import { forge } from "./tampering.ts";

type Rewritten = Pick<BinaryServer, "client" | "books">;

/** The same entry over twice the amount, as if it had never been another. */
export async function rewriteEntry(
  { client, books }: Rewritten,
  ledgerId: string,
  journalId: string,
): Promise<void> {
  const { reversedByJournalId, ...found } = await client.getEntry(ledgerId, journalId);
  const double = (amount: string) => String(2n * BigInt(amount));
  const lines = found.lines.map((line) => ({
    ...line,
    functionalAmount: double(line.functionalAmount),
    transactionAmount: double(line.transactionAmount),
  }));
  const leaf = hashLeaf(canonicalJson({ ...found, lines }));
  const of = `ledger_id = '${ledgerId}'`;
  const entryOf = `${of} AND sequence = ${found.sequence}`;
  await forge(
    books,
    `UPDATE account_balances SET balance = balance + (
       SELECT coalesce(sum(functional_amount), 0) FROM journal_lines l
        WHERE ${entryOf} AND l.gl_account_code = account_balances.gl_account_code) WHERE ${of}`,
    `UPDATE journal_lines SET functional_amount = 2 * functional_amount,
       transaction_amount = 2 * transaction_amount WHERE ${entryOf}`,
    `UPDATE journal_entries SET leaf = ${bytea(leaf)} WHERE ${entryOf}`,
  );
  await forge(books, ...(await treeStatements(books, ledgerId)));
}

/** A journal that ends earlier, as if nothing had come after. */
export async function shortenJournal(
  { books }: Rewritten,
  ledgerId: string,
  size: number,
): Promise<void> {
  const of = `ledger_id = '${ledgerId}'`;
  await forge(
    books,
    `UPDATE account_balances SET (entry_count, balance) = (
       SELECT entry_count - count(DISTINCT sequence), balance - coalesce(sum(functional_amount), 0)
         FROM journal_lines l WHERE ${of} AND sequence > ${size}
          AND l.gl_account_code = account_balances.gl_account_code) WHERE ${of}`,
    `DELETE FROM journal_lines WHERE ${of} AND sequence > ${size}`,
    `DELETE FROM journal_entries WHERE ${of} AND sequence > ${size}`,
    `UPDATE journal_heads SET last_sequence = ${size} WHERE ${of}`,
    `DELETE FROM log_checkpoints WHERE ${of} AND size > ${size}`,
    `UPDATE log_heads SET size = ${size}, signed_size = ${size} WHERE ${of} AND log = 'journal'`,
  );
  await forge(books, ...(await treeStatements(books, ledgerId)));
}

/** The log's tree made anew from the leaves of entries. */
async function treeStatements(books: Rewritten["books"], ledgerId: string): Promise<string[]> {
  const rows = await books.pool.any(
    sql.unsafe`SELECT leaf FROM journal_entries WHERE ledger_id = ${ledgerId} ORDER BY sequence`,
  );
  const of = `ledger_id = '${ledgerId}' AND log = 'journal'`;
  const statements: string[] = [];
  const tree = new CompactRange(0, [], ({ level, index }, root) => {
    if (level < 8) return;
    statements.push(
      `UPDATE log_subtrees SET root = ${bytea(root)} WHERE ${of} AND level = ${level} AND index = ${index}`,
    );
  });
  for (const { leaf } of rows as readonly { leaf: Buffer }[]) tree.append(leaf);
  const subtrees = bytea(Buffer.concat(tree.subtrees));
  return [...statements, `UPDATE log_heads SET subtrees = ${subtrees} WHERE ${of}`];
}

function bytea(bytes: Hash): string {
  return `'\\x${bytes.toString("hex")}'`;
}
