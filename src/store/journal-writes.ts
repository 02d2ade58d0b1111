// Statements that every journal batch takes its locks with, and those that record it, in the order in which
// a transaction sends them; what is read between them is in journal-lookups.ts.
// Those that record build their values before they send anything: what throws there must do so before
// a COMMIT is on its way. Arrays travel as one parameter a column.
import type { BalanceChange, Entry, Line } from "../core/journal.ts";
import type { LedgerStatus } from "../core/ledger.ts";
import type { Timestamp } from "../core/time.ts";
import { canonicalJson, entryLeaf } from "../core/canonical.ts";
import { namingTakenKey, StateChangeAsked } from "./database-errors.ts";
import type { StatementSender } from "./write-connections.ts";

/**
 * Lock 1 of 2 of the journal: the ledger's state, shared with all who write, against who changes it.
 * Throws StateChangeAsked while somebody waits to change it: whoever wants to write steps aside.
 */
export async function lockLedgerStateShared(
  sender: StatementSender,
  ledgerId: string,
): Promise<LedgerStatus | null> {
  const rows = await sender.send<{ status: LedgerStatus; isAsked: boolean }>(
    {
      name: "lock_ledger_state_shared",
      text: `SELECT status, EXISTS (
                      SELECT 1 FROM ledger_state_requests
                       WHERE ledger_id = $1 AND waits_until > clock_timestamp()) AS "isAsked"
               FROM ledger_states WHERE ledger_id = $1 FOR SHARE`,
    },
    [ledgerId],
  );
  if (rows[0]?.isAsked === true) throw new StateChangeAsked();
  return rows[0]?.status ?? null;
}

/** The state as it stands, without its lock. */
export async function readLedgerState(
  sender: StatementSender,
  ledgerId: string,
): Promise<LedgerStatus | null> {
  const rows = await sender.send<{ status: LedgerStatus }>(
    {
      name: "read_ledger_state",
      text: `SELECT status FROM ledger_states WHERE ledger_id = $1`,
    },
    [ledgerId],
  );
  return rows[0]?.status ?? null;
}

export interface JournalHead {
  readonly lastSequence: number;
  readonly lastPersistedAt: Timestamp | null;
}

/** Lock 2 of 2: the head of the journal, which puts all journal writes of a ledger in order. */
export async function lockJournalHead(
  sender: StatementSender,
  ledgerId: string,
): Promise<JournalHead | null> {
  const rows = await sender.send<JournalHead>(
    {
      name: "lock_journal_head",
      text: `SELECT last_sequence AS "lastSequence", last_persisted_at AS "lastPersistedAt"
               FROM journal_heads WHERE ledger_id = $1 FOR UPDATE`,
    },
    [ledgerId],
  );
  return rows[0] ?? null;
}

/** The head as it stands, without its lock. */
export async function readJournalHead(
  sender: StatementSender,
  ledgerId: string,
): Promise<JournalHead | null> {
  const rows = await sender.send<JournalHead>(
    {
      name: "read_journal_head",
      text: `SELECT last_sequence AS "lastSequence", last_persisted_at AS "lastPersistedAt"
               FROM journal_heads WHERE ledger_id = $1`,
    },
    [ledgerId],
  );
  return rows[0] ?? null;
}

/** The database's clock, to the millisecond. Sent behind the locks, it is read after they are held. */
export async function readClock(sender: StatementSender): Promise<Timestamp> {
  const rows = await sender.send<{ now: Timestamp }>(
    { name: "read_clock", text: "SELECT date_trunc('milliseconds', clock_timestamp()) AS now" },
    [],
  );
  const row = rows[0];
  if (row === undefined) throw new Error("the clock gave no row");
  return row.now;
}

/** Records entries, without their lines. Throws KeyTaken when an externalId is in use. */
export function insertEntries(
  sender: StatementSender,
  ledgerId: string,
  entries: readonly Entry[],
): Promise<unknown> {
  return namingTakenKey(
    "journal_entries_external_id_key",
    sender.send(
      {
        name: "insert_entries",
        text: `INSERT INTO journal_entries
                 (ledger_id, sequence, journal_id, external_id, origin_system, origin_account,
                  event_type, description, transaction_date, entry_type, metadata, persisted_at,
                  reverses_journal_id, leaf)
               SELECT $1::uuid, sequence, journal_id, external_id, origin_system, origin_account,
                      event_type, description, transaction_date, entry_type, metadata, persisted_at,
                      reverses_journal_id, decode(leaf, 'hex')
                 FROM unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::text[],
                             $7::text[], $8::text[], $9::timestamptz[], $10::text[], $11::jsonb[],
                             $12::timestamptz[], $13::uuid[], $14::text[])
                   AS new (sequence, journal_id, external_id, origin_system, origin_account,
                           event_type, description, transaction_date, entry_type, metadata,
                           persisted_at, reverses_journal_id, leaf)`,
      },
      [
        ledgerId,
        entries.map((entry) => entry.sequence),
        entries.map((entry) => entry.journalId),
        entries.map((entry) => entry.externalId),
        entries.map((entry) => entry.originSystem),
        entries.map((entry) => entry.originAccount),
        entries.map((entry) => entry.eventType),
        entries.map((entry) => entry.description),
        entries.map((entry) => entry.transactionDate),
        entries.map((entry) => entry.entryType),
        entries.map((entry) => canonicalJson(entry.metadata)),
        entries.map((entry) => entry.persistedAt),
        entries.map((entry) => entry.reversesJournalId),
        entries.map((entry) => entryLeaf(entry).toString("hex")),
      ],
    ),
  );
}

/** Records the lines of entries, numbered from 0 in stored order. */
export function insertLines(
  sender: StatementSender,
  ledgerId: string,
  entries: readonly Entry[],
): Promise<unknown> {
  const lines: Line[] = [];
  const sequences: number[] = [];
  const lineNumbers: number[] = [];
  for (const entry of entries) {
    entry.lines.forEach((line, lineNumber) => {
      lines.push(line);
      sequences.push(entry.sequence);
      lineNumbers.push(lineNumber);
    });
  }
  return sender.send(
    {
      name: "insert_lines",
      text: `INSERT INTO journal_lines
               (ledger_id, sequence, line_number, gl_account_code, description, transaction_amount,
                transaction_currency, functional_amount, functional_currency, spot_rate)
             SELECT $1::uuid, new.*
               FROM unnest($2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::numeric[],
                           $7::text[], $8::numeric[], $9::text[], $10::double precision[]) AS new`,
    },
    [
      ledgerId,
      sequences,
      lineNumbers,
      lines.map((line) => line.glAccountCode),
      lines.map((line) => line.description),
      lines.map((line) => line.transactionAmount.toString()),
      lines.map((line) => line.transactionCurrency),
      lines.map((line) => line.functionalAmount.toString()),
      lines.map((line) => line.functionalCurrency),
      lines.map((line) => line.spotRate),
    ],
  );
}

/** Adds to balances; the changes come sorted, so that two writers lock rows in one order. */
export function addToBalances(
  sender: StatementSender,
  ledgerId: string,
  changes: readonly BalanceChange[],
): Promise<unknown> {
  return sender.send(
    {
      name: "add_to_balances",
      text: `INSERT INTO account_balances AS held
               (ledger_id, gl_account_code, currency, balance, entry_count)
             SELECT $1::uuid, new.*
               FROM unnest($2::text[], $3::text[], $4::numeric[], $5::bigint[]) AS new
             ON CONFLICT (ledger_id, gl_account_code, currency) DO UPDATE
                SET balance = held.balance + EXCLUDED.balance,
                    entry_count = held.entry_count + EXCLUDED.entry_count`,
    },
    [
      ledgerId,
      changes.map((change) => change.glAccountCode),
      changes.map((change) => change.currency ?? ""),
      changes.map((change) => change.amount.toString()),
      changes.map((change) => change.entryCount),
    ],
  );
}

/** Moves the head to the last entry of a batch. */
export function advanceJournalHead(
  sender: StatementSender,
  ledgerId: string,
  last: Pick<Entry, "sequence" | "persistedAt">,
): Promise<unknown> {
  return sender.send(
    {
      name: "advance_journal_head",
      text: `UPDATE journal_heads SET last_sequence = $2, last_persisted_at = $3
              WHERE ledger_id = $1`,
    },
    [ledgerId, last.sequence, last.persistedAt],
  );
}

/** Records which entries have been reversed, and by which. */
export function insertReversals(
  sender: StatementSender,
  ledgerId: string,
  reversals: readonly { readonly journalId: string; readonly reversalJournalId: string }[],
): Promise<unknown> {
  return sender.send(
    {
      name: "insert_reversals",
      text: `INSERT INTO journal_reversals (ledger_id, journal_id, reversal_journal_id)
             SELECT $1::uuid, new.* FROM unnest($2::uuid[], $3::uuid[]) AS new`,
    },
    [
      ledgerId,
      reversals.map((reversal) => reversal.journalId),
      reversals.map((reversal) => reversal.reversalJournalId),
    ],
  );
}
