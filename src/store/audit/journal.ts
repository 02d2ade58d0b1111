// What an audit reads of books and closes. Rows are taken as loosely as they can be: what a rule of ours
// forbids may be in a database that somebody has changed, and has to be read to be named.
import * as z from "zod";
import type { Entry, Line } from "../../core/journal.ts";
import { countRow, ledgerIdRow, timestampColumn } from "../columns.ts";
import { isClosing } from "../day-sums.ts";
import type { Connection } from "../database/connection.ts";
import { contentColumns } from "../entry-contents.ts";
import { PageCursor, readPages, withinBytes } from "../pages.ts";
import { columns, listByColumns, valueAt, type ColumnsOf } from "../rows-by-columns.ts";
import { sql } from "../database/statement.ts";
import { parseTimestamptz } from "../database/value-parsers.ts";

const ledgerRow = z.object({
  ledgerId: z.string(),
  functionalCurrency: z.string(),
  status: z.string().nullable(),
  lastSequence: z.number().nullable(),
  lastPersistedAt: timestampColumn.nullable(),
  /** Whether the time of the head is finer than a millisecond, which no reader would see. */
  isFinerThanShown: z.boolean(),
});

/** A ledger as it is audited; what is missing of it is null. */
export type AuditedLedger = Readonly<z.output<typeof ledgerRow>>;

/** All ledgers, or the one with an id. */
export function listAuditedLedgers(
  connection: Connection,
  ledgerId: string | null,
): Promise<readonly AuditedLedger[]> {
  return connection.any(sql.type(ledgerRow)`
    SELECT ledgers.ledger_id AS "ledgerId", functional_currency AS "functionalCurrency", status,
           last_sequence AS "lastSequence", last_persisted_at AS "lastPersistedAt",
           coalesce(last_persisted_at <> date_trunc('milliseconds', last_persisted_at), false)
             AS "isFinerThanShown"
      FROM ledgers
      LEFT JOIN ledger_states AS states ON states.ledger_id = ledgers.ledger_id
      LEFT JOIN journal_heads AS heads ON heads.ledger_id = ledgers.ledger_id
     WHERE ${ledgerId}::uuid IS NULL OR ledgers.ledger_id = ${ledgerId}
     ORDER BY ledgers.ledger_id`);
}

/** Every table with rows of ledgers. */
export const ledgerTables = [
  ...["ledger_states", "journal_heads", "accounts", "journal_entries", "journal_lines"],
  ...["summed_journals", "account_days", "journal_days", "account_spans", "day_spans"],
  ...["journal_months", "register_spans", "register_days"],
  ...["journal_reversals", "account_balances", "asset_rules", "wallets", "wallet_writes"],
  ...["wallet_log_digests", "wallet_holds", "wallet_batches", "wallet_posting_totals"],
  ...["wallet_postings"],
  ...["period_closes", "period_close_balances", "period_close_subtrees"],
  ...["log_states", "log_heads", "log_subtrees", "log_checkpoints", "log_cosignatures"],
  ...["deliveries", "wallet_order_heads", "ordered_wallet_writes"],
];

/** Ledgers that a table has rows of and that are not there. */
export async function listStrayLedgers(
  connection: Connection,
  table: string,
): Promise<readonly string[]> {
  const rows = await connection.any(sql.type(ledgerIdRow)`
    SELECT DISTINCT ledger_id AS "ledgerId" FROM ${sql.identifier([table])} AS rows
     WHERE NOT EXISTS (SELECT 1 FROM ledgers WHERE ledgers.ledger_id = rows.ledger_id)`);
  return rows.map(({ ledgerId }) => ledgerId);
}

const codeRow = z.object({ code: z.string() });

/** The codes of a ledger's chart. */
export async function listChartCodes(
  connection: Connection,
  ledgerId: string,
): Promise<readonly string[]> {
  const rows = await connection.any(sql.type(codeRow)`
    SELECT gl_account_code AS code FROM accounts WHERE ledger_id = ${ledgerId}`);
  return rows.map(({ code }) => code);
}

const auditedRow = z.object({
  ...contentColumns,
  /** As it is printed: it is parsed where the entry is made. */
  transactionDate: columns.text,
  entryType: columns.text as unknown as z.ZodType<Entry["entryType"][]>,
  // Objects, unless they were tampered with; they are only hashed.
  metadata: z.custom<Entry["metadata"][]>((values) => Array.isArray(values)),
  leaf: columns.text,
  isFinerThanShown: columns.boolean,
  isClosing: columns.booleanOrNull,
});

/** An entry with what is stored beside its content. */
export interface AuditedEntry {
  readonly entry: Entry;
  /** As they are stored, in the order of the entry's lines. */
  readonly lineNumbers: readonly number[];
  /** In hex. */
  readonly leaf: string;
  /** Whether a time of it is finer than a millisecond, which no reader would see. */
  readonly isFinerThanShown: boolean;
  /** Whether it closes accounts, or takes back what did; null for what takes back an entry that is not there. */
  readonly isClosing: boolean | null;
  /** As the database prints it. */
  readonly storedTransactionDate: string;
}

/** One whose lines are yet to be added, which are also those of `entry`. */
interface UnlinedEntry extends AuditedEntry {
  readonly lines: Line[];
  readonly lineNumbers: number[];
}

const entriesPerPage = 1_000;
const linesPerPage = 3_000;

/** Entries of a ledger without their lines, by sequence, those with sequences that can't be among them. */
function readEntryPages(connection: Connection, ledgerId: string) {
  return readPages(entriesPerPage, (last: UnlinedEntry | undefined, limit) =>
    listByColumns(
      connection,
      auditedRow,
      sql.fragment`
      SELECT journal_id AS "journalId", sequence, external_id AS "externalId",
             origin_system AS "originSystem", origin_account AS "originAccount",
             event_type AS "eventType", description, transaction_date::text AS "transactionDate",
             entry_type AS "entryType", metadata, persisted_at::text AS "persistedAt",
             reverses_journal_id AS "reversesJournalId", encode(leaf, 'hex') AS leaf,
             (transaction_date <> date_trunc('milliseconds', transaction_date)
               OR persisted_at <> date_trunc('milliseconds', persisted_at)) AS "isFinerThanShown",
             ${isClosing(ledgerId)} AS "isClosing"
        FROM (${withinBytes(
          sql.fragment`
            SELECT * FROM journal_entries
             WHERE ledger_id = ${ledgerId}
               AND sequence > ${last?.entry.sequence ?? Number.MIN_SAFE_INTEGER}
             ORDER BY sequence LIMIT ${limit}`,
          // As it is printed: jsonb writes out the digits of 1e300.
          sql.fragment`octet_length(metadata::text)`,
          sql.fragment`sequence`,
        )}) AS entries
       ORDER BY sequence`,
      (found, at) => unlinedEntryAt(ledgerId, found, at),
    ),
  );
}

function unlinedEntryAt(
  ledgerId: string,
  found: ColumnsOf<typeof auditedRow>,
  at: number,
): UnlinedEntry {
  const lines: Line[] = [];
  const storedTransactionDate = valueAt(found.transactionDate, at);
  return {
    entry: {
      ledgerId,
      journalId: valueAt(found.journalId, at),
      sequence: valueAt(found.sequence, at),
      externalId: valueAt(found.externalId, at),
      originSystem: valueAt(found.originSystem, at),
      originAccount: valueAt(found.originAccount, at),
      eventType: valueAt(found.eventType, at),
      description: valueAt(found.description, at),
      transactionDate: parseTimestamptz(storedTransactionDate),
      entryType: valueAt(found.entryType, at),
      postingStatus: "POSTED",
      metadata: valueAt(found.metadata, at),
      persistedAt: valueAt(found.persistedAt, at),
      reversesJournalId: valueAt(found.reversesJournalId, at),
      lines,
    },
    lines,
    lineNumbers: [],
    leaf: valueAt(found.leaf, at),
    isFinerThanShown: valueAt(found.isFinerThanShown, at),
    isClosing: valueAt(found.isClosing, at),
    storedTransactionDate,
  };
}

const auditedLineRow = z.object({
  sequence: columns.integer,
  lineNumber: columns.integer,
  glAccountCode: columns.text,
  description: columns.textOrNull,
  transactionAmount: columns.amount,
  transactionCurrency: columns.text,
  functionalAmount: columns.amount,
  functionalCurrency: columns.text,
  spotRate: columns.numberOrNull,
});

/** A line as it is stored. */
type AuditedLine = Line & { readonly sequence: number; readonly lineNumber: number };

/** All lines of a ledger that an entry can have, by sequence and number. */
function readLinePages(connection: Connection, ledgerId: string) {
  return readPages(linesPerPage, (last: AuditedLine | undefined, limit) =>
    listByColumns(
      connection,
      auditedLineRow,
      sql.fragment`
      SELECT sequence, line_number AS "lineNumber", gl_account_code AS "glAccountCode", description,
             transaction_amount::text AS "transactionAmount",
             transaction_currency AS "transactionCurrency",
             functional_amount::text AS "functionalAmount", functional_currency AS "functionalCurrency",
             spot_rate AS "spotRate"
        FROM journal_lines
       WHERE ledger_id = ${ledgerId}
         AND (sequence, line_number) > (${last?.sequence ?? Number.MIN_SAFE_INTEGER}::bigint,
                                        ${last?.lineNumber ?? -32_768}::smallint)
         AND sequence <= ${Number.MAX_SAFE_INTEGER}
       ORDER BY sequence, line_number LIMIT ${limit}`,
      auditedLineAt,
    ),
  );
}

function auditedLineAt(found: ColumnsOf<typeof auditedLineRow>, at: number): AuditedLine {
  return {
    sequence: valueAt(found.sequence, at),
    lineNumber: valueAt(found.lineNumber, at),
    glAccountCode: valueAt(found.glAccountCode, at),
    description: valueAt(found.description, at),
    transactionAmount: valueAt(found.transactionAmount, at),
    transactionCurrency: valueAt(found.transactionCurrency, at),
    functionalAmount: valueAt(found.functionalAmount, at),
    functionalCurrency: valueAt(found.functionalCurrency, at),
    spotRate: valueAt(found.spotRate, at),
  };
}

/**
 * All entries of a ledger by sequence, a few at a time. Entries and lines are read as two ordered ranges and merged: a
 * subquery for the lines of each entry costs the database three times as much.
 */
export async function* readAuditedEntries(
  connection: Connection,
  ledgerId: string,
): AsyncGenerator<readonly AuditedEntry[], void> {
  const lines = new PageCursor(readLinePages(connection, ledgerId));
  let hasLines = await lines.readPage();
  for await (const page of readEntryPages(connection, ledgerId)) {
    let merged: AuditedEntry[] = [];
    for (const unlined of page) {
      const { sequence } = unlined.entry;
      while (hasLines) {
        const next = lines.current;
        if (next === undefined) {
          // A page of entries may have many pages of lines, which are not gathered.
          yield merged;
          merged = [];
          hasLines = await lines.readPage();
          continue;
        }
        if (next.sequence > sequence) break;
        if (next.sequence === sequence) {
          unlined.lines.push(next);
          unlined.lineNumbers.push(next.lineNumber);
        }
        lines.advance();
      }
      merged.push(unlined);
    }
    yield merged;
  }
}

export const foundRow = z.object({ where: z.string(), what: z.string(), total: z.number() });

/** Something found by the database itself; `total` is how many there are, of which 20 are given. */
export type FoundRow = Readonly<z.output<typeof foundRow>>;

/** Sequences that have lines and no entry. */
export function listStrayLines(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    SELECT 'sequence ' || sequence AS where,
           'has ' || count(*) || ' lines and no entry' AS what, count(*) OVER () AS total
      FROM journal_lines AS lines
     WHERE ledger_id = ${ledgerId} AND NOT EXISTS (
             SELECT 1 FROM journal_entries AS entries
              WHERE entries.ledger_id = lines.ledger_id AND entries.sequence = lines.sequence)
     GROUP BY sequence ORDER BY sequence LIMIT 20`);
}

/** Reversals that do not point both ways, and entries that say they are reversals and are none. */
export function listReversalFaults(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    SELECT *, count(*) OVER () AS total FROM (
      SELECT 'entry ' || links.journal_id AS where,
             CASE WHEN original.journal_id IS NULL THEN 'is said to be reversed and is not there'
                  WHEN reversal.journal_id IS NULL
                  THEN 'is said to be reversed by ' || links.reversal_journal_id
                       || ', which is not there'
                  ELSE 'is said to be reversed by ' || links.reversal_journal_id
                       || ', which reverses ' || coalesce(reversal.reverses_journal_id::text, 'nothing')
             END AS what
        FROM journal_reversals AS links
        LEFT JOIN journal_entries AS original
          ON original.ledger_id = links.ledger_id AND original.journal_id = links.journal_id
        LEFT JOIN journal_entries AS reversal
          ON reversal.ledger_id = links.ledger_id
         AND reversal.journal_id = links.reversal_journal_id
       WHERE links.ledger_id = ${ledgerId}
         AND (original.journal_id IS NULL
              OR reversal.reverses_journal_id IS DISTINCT FROM links.journal_id)
      UNION ALL
      SELECT 'entry ' || reversal.journal_id,
             CASE WHEN reversal.reverses_journal_id IS NULL THEN 'is a REVERSAL of nothing'
                  WHEN reversal.entry_type <> 'REVERSAL'
                  THEN 'reverses ' || reversal.reverses_journal_id || ' and is ' || entry_type
                  ELSE 'reverses ' || reversal.reverses_journal_id || ', which is not marked with it'
             END
        FROM journal_entries AS reversal
        LEFT JOIN journal_reversals AS links
          ON links.ledger_id = reversal.ledger_id AND links.journal_id = reversal.reverses_journal_id
         AND links.reversal_journal_id = reversal.journal_id
       WHERE reversal.ledger_id = ${ledgerId}
         AND (reversal.entry_type = 'REVERSAL' OR reversal.reverses_journal_id IS NOT NULL)
         AND (reversal.entry_type <> 'REVERSAL' OR reversal.reverses_journal_id IS NULL
              OR links.journal_id IS NULL)
    ) AS faults ORDER BY 1, 2 LIMIT 20`);
}

/** Reversals whose lines are not those of what they reverse, in order, with every amount negated. */
export function listUnlikeReversals(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  const line = (name: string, sign: string) => sql.fragment`
    ROW (${sql.identifier([name, "gl_account_code"])}, ${sql.identifier([name, "description"])},
         ${sql.literalValue(sign)}::numeric * ${sql.identifier([name, "transaction_amount"])},
         ${sql.identifier([name, "transaction_currency"])},
         ${sql.literalValue(sign)}::numeric * ${sql.identifier([name, "functional_amount"])},
         ${sql.identifier([name, "functional_currency"])}, ${sql.identifier([name, "spot_rate"])})`;
  const linesOf = (entry: string) => sql.fragment`
    (SELECT * FROM journal_lines
      WHERE ledger_id = ${ledgerId} AND sequence = ${sql.identifier([entry, "sequence"])})`;
  return connection.any(sql.type(foundRow)`
    SELECT 'entry ' || reversal.journal_id AS where,
           'reverses ' || original.journal_id || ' and is not its negation: line '
             || unlike.line_number || ' differs' AS what,
           count(*) OVER () AS total
      FROM journal_entries AS reversal
      JOIN journal_entries AS original
        ON original.ledger_id = reversal.ledger_id
       AND original.journal_id = reversal.reverses_journal_id
     CROSS JOIN LATERAL (
             SELECT min(coalesce(theirs.line_number, own.line_number)) AS line_number
               FROM ${linesOf("original")} AS theirs
               FULL JOIN ${linesOf("reversal")} AS own ON own.line_number = theirs.line_number
              WHERE ${line("theirs", "1")} IS DISTINCT FROM ${line("own", "-1")}
           ) AS unlike
     WHERE reversal.ledger_id = ${ledgerId} AND unlike.line_number IS NOT NULL
     ORDER BY reversal.sequence LIMIT 20`);
}

/** How many rows of a ledger a table has. */
export async function countRows(
  connection: Connection,
  table: "journal_reversals" | "wallet_batches" | "wallet_postings",
  ledgerId: string,
): Promise<number> {
  const { count } = await connection.one(sql.type(countRow)`
    SELECT count(*) FROM ${sql.identifier([table])} WHERE ledger_id = ${ledgerId}`);
  return count;
}

const balanceRow = z.object({
  glAccountCode: z.string(),
  currency: z.string(),
  balance: z.bigint(),
  entryCount: z.number(),
});

/** The running balances of accounts; a currency of '' is the account's whole in functional currency. */
export function listAccountBalances(
  connection: Connection,
  ledgerId: string,
): Promise<readonly z.output<typeof balanceRow>[]> {
  return connection.any(sql.type(balanceRow)`
    SELECT gl_account_code AS "glAccountCode", currency, balance, entry_count AS "entryCount"
      FROM account_balances WHERE ledger_id = ${ledgerId} ORDER BY gl_account_code, currency`);
}

/** Numbers of closes that have a trial balance or subtrees and no record. */
export function listStrayCloseParts(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    SELECT 'close ' || number AS where, 'has ' || what || ' and no record' AS what,
           count(*) OVER () AS total
      FROM (SELECT DISTINCT number, 'a trial balance' AS what FROM period_close_balances
             WHERE ledger_id = ${ledgerId}
            UNION
            SELECT DISTINCT number, 'subtrees' FROM period_close_subtrees
             WHERE ledger_id = ${ledgerId}) AS parts
     WHERE NOT EXISTS (SELECT 1 FROM period_closes AS closes
                        WHERE closes.ledger_id = ${ledgerId} AND closes.number = parts.number)
     ORDER BY number, 2 LIMIT 20`);
}

/** Closes whose times are finer than a millisecond, which no reader would see. */
export function listFineCloses(
  connection: Connection,
  ledgerId: string,
): Promise<readonly FoundRow[]> {
  return connection.any(sql.type(foundRow)`
    SELECT 'close ' || number AS where, 'has a time finer than a millisecond' AS what,
           count(*) OVER () AS total
      FROM period_closes
     WHERE ledger_id = ${ledgerId}
       AND (starts_at <> date_trunc('milliseconds', starts_at)
            OR ends_at <> date_trunc('milliseconds', ends_at)
            OR closed_at <> date_trunc('milliseconds', closed_at))
     ORDER BY number LIMIT 20`);
}
