// Books of a million lines and a million wallet writes, in the shape of real ones: one large ledger among many, whose
// entries stand between theirs; accounts and wallets of which a few have most; dates that are in order by the month only.
import { createHash } from "node:crypto";
import type { Client } from "pg";

/** The id of what has a name, here and in the database. */
export function idOf(name: string): string {
  const hex = createHash("md5").update(name).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Entries of all ledgers, in the order in which they were written: of five, four are of the large ledger. */
const placeCount = 500_000;
const smallLedgerCount = 400;
const tinyLedgerCount = 30_000;
const accountCount = 1_000;
const walletCount = 50_000;
export const lineCount = 2 * placeCount;

/** What tests read of the large ledger. */
export const largeLedger = {
  ledgerId: idOf("ledger"),
  entryCount: (placeCount / 5) * 4,
  /** Has a line in each twentieth entry; accounts up to 19 do. */
  busyAccount: "7",
  /** Has few lines, all over the journal. */
  rareAccount: String(accountCount - 1),
  /** Has a fifth of all writes. */
  busyWallet: { callerKey: "busy", walletId: idOf("wallet busy"), lastSeq: (placeCount / 5) * 2 },
  /** Wallets whose callerKeys are numbers; each has twelve writes. */
  walletCount,
};

/** Entries by their places, all of the large ledger: their externalIds, which their ids are made of. */
export const entryNames = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `entry ${index * 5_000 + 3}`);

/** At each place an entry is posted, and a wallet of its ledger is credited and debited: its so-and-so-many-eth turn. */
const makePlaces = `
  CREATE TEMPORARY TABLE places AS
  SELECT *, md5('wallet ' || caller_key || CASE WHEN is_large THEN '' ELSE ' ' || ledger_id END)::uuid AS wallet_id
    FROM (
      SELECT i, '2024-01-01Z'::timestamptz + i * interval '2 minutes' AS at, i % 5 <> 0 AS is_large,
             CASE i % 5 WHEN 0 THEN md5('ledger ' || i / 5 % ${smallLedgerCount})::uuid ELSE '${idOf("ledger")}' END AS ledger_id,
             CASE i % 5 WHEN 0 THEN (i / 5 - 1) / ${smallLedgerCount} + 1 ELSE i - i / 5 END AS sequence,
             CASE i % 5 WHEN 0 THEN (i / 5 / ${smallLedgerCount} % 25)::text
                        WHEN 1 THEN 'busy'
                        ELSE ((i / 5 * 3 + i % 5 - 2) % ${walletCount})::text END AS caller_key,
             CASE i % 5 WHEN 0 THEN i / 5 / ${smallLedgerCount} / 25
                        WHEN 1 THEN i / 5
                        ELSE (i / 5 * 3 + i % 5 - 2) / ${walletCount} END AS turn
        FROM generate_series($1::integer, $2::integer) AS i
    ) AS numbered`;

/** What is written at places. */
const fillings = [
  `INSERT INTO organizations VALUES (md5('organization')::uuid, 'x', now()) ON CONFLICT DO NOTHING`,
  `INSERT INTO ledgers (ledger_id, organization_id, name, functional_currency, created_at)
   SELECT DISTINCT ledger_id, md5('organization')::uuid, 'x', 'USD', now() FROM places
   ON CONFLICT DO NOTHING`,
  `INSERT INTO ledger_states SELECT ledger_id, 'active', now() FROM ledgers ON CONFLICT DO NOTHING`,
  `INSERT INTO deliveries
     (ledger_id, delivery_id, url, events, status, master_key_fingerprint, created_at)
   VALUES ('${largeLedger.ledgerId}', '${idOf("delivery")}', 'https://example.com/', '{entry}', 'active', '00', now())
   ON CONFLICT DO NOTHING`,
  `INSERT INTO journal_heads SELECT ledger_id, max(sequence), max(at) FROM places GROUP BY ledger_id
   ON CONFLICT (ledger_id) DO UPDATE SET last_sequence = EXCLUDED.last_sequence`,
  `INSERT INTO asset_rules (ledger_id, asset_code, version, wallets_account, clearing_account, rate,
                            exponent, overdraft_limit, created_at)
   SELECT ledger_id, asset_code, version, 'wallets', 'clearing', CASE asset_code WHEN 'XAU' THEN NULL ELSE 1 END, 0, 0, now()
     FROM ledgers, unnest('{USD,EUR,XAU}'::text[]) AS asset_code, generate_series(1, 5) AS version
   ON CONFLICT DO NOTHING`,
  `INSERT INTO accounts (ledger_id, gl_account_code, name, created_at)
   SELECT ledger_id, code, 'x', now() FROM ledgers, generate_series(0, ${accountCount} - 1) AS code
    WHERE code < 50 OR ledger_id = md5('ledger')::uuid
   ON CONFLICT DO NOTHING`,
  `INSERT INTO account_balances (ledger_id, gl_account_code, currency, balance, entry_count)
   SELECT ledger_id, gl_account_code, currency, 0, 0 FROM accounts, unnest('{"",USD,EUR}'::text[]) AS currency
   ON CONFLICT DO NOTHING`,
  `INSERT INTO journal_entries (ledger_id, sequence, journal_id, external_id, transaction_date,
                                entry_type, metadata, persisted_at, leaf)
   SELECT ledger_id, sequence, md5('entry ' || i)::uuid, 'entry ' || i,
          at - i::bigint * 7919 % 40 * interval '1 day', 'STANDARD', '{}', at, sha256(int4send(i))
     FROM places`,
  `INSERT INTO journal_lines (ledger_id, sequence, line_number, gl_account_code, transaction_amount,
                              transaction_currency, functional_amount, functional_currency)
   SELECT ledger_id, sequence, line,
          CASE line WHEN 0 THEN i::bigint * 31 % 20
                    ELSE floor(${accountCount} * power((i::bigint * 7919 % 10007) / 10007.0::float8, 4)) END,
          1 - 2 * line, 'USD', 1 - 2 * line, 'USD'
     FROM places, generate_series(0, 1) AS line`,
  `INSERT INTO journal_reversals (ledger_id, journal_id, reversal_journal_id)
   SELECT ledger_id, md5('entry ' || i)::uuid, md5('entry ' || i + 1)::uuid FROM places WHERE i % 100 = 3`,
  `INSERT INTO wallet_writes (ledger_id, wallet_id, seq, type, amount, balance, held, external_id, at, batch_id)
   SELECT ledger_id, wallet_id, 2 * turn + side + 1, CASE side WHEN 0 THEN 'credit' ELSE 'debit' END, 1, 1 - side, 0,
          'write ' || i || ' ' || side, at, md5('pending ' || i / 250 || ' ' || side)::uuid
     FROM places, generate_series(0, 1) AS side`,
  `INSERT INTO ordered_wallet_writes (ledger_id, number, wallet_id, seq)
   SELECT ledger_id, 2 * sequence - 1 + side, wallet_id, 2 * turn + side + 1
     FROM places, generate_series(0, 1) AS side WHERE is_large`,
  `INSERT INTO wallet_order_heads SELECT ledger_id, 2 * max(sequence) FROM places WHERE is_large GROUP BY ledger_id
   ON CONFLICT (ledger_id) DO UPDATE SET last_number = EXCLUDED.last_number`,
  `INSERT INTO wallets (ledger_id, caller_key, wallet_id, asset_code, balance, held, last_seq, last_at, log_hash, chained_after)
   SELECT ledger_id, caller_key, wallet_id, 'USD', 0, 1, 12, at, sha256(''), 12 FROM places WHERE turn = 0`,
  `INSERT INTO wallet_holds (ledger_id, hold_id, wallet_id, amount, expires_at, status)
   SELECT ledger_id, md5('hold ' || i)::uuid, wallet_id, 1, at + interval '1 day',
          CASE i % 2000 WHEN 1 THEN 'active' ELSE 'committed' END
     FROM places WHERE i % 5 = 1`,
  // Of what a batch has of the large ledger, the busy wallet's writes.
  `INSERT INTO wallet_batches (ledger_id, batch_id, asset_code, rule_version, side, amount, write_count,
                               accepted_from, accepted_to, wallet_ids, first_seqs, last_seqs, journal_id)
   SELECT ledger_id, md5('pending ' || i / 250 || ' ' || side)::uuid, 'USD', 1,
          CASE side WHEN 0 THEN 'credit' ELSE 'debit' END, 50, 50, at, at + interval '8 hours',
          ARRAY[wallet_id], ARRAY[2 * turn + side + 1], ARRAY[2 * turn + side + 99],
          CASE WHEN i < ${placeCount - 10_000} THEN md5('entry ' || i + 2)::uuid END
     FROM places, generate_series(0, 1) AS side WHERE i % 250 = 1`,
  // Of an asset that has no rate.
  `INSERT INTO wallet_batches (ledger_id, batch_id, asset_code, rule_version, side, amount, write_count,
                               accepted_from, accepted_to, wallet_ids, first_seqs, last_seqs)
   SELECT ledger_id, md5('unrated ' || i)::uuid, 'XAU', 1, 'credit', 1, 1, at, at, ARRAY[wallet_id], '{1}', '{1}'
     FROM places WHERE i % 50 = 1`,
  `INSERT INTO wallet_postings (ledger_id, journal_id, asset_code, rule_version)
   SELECT DISTINCT ledger_id, journal_id, 'USD', 1 FROM wallet_batches WHERE journal_id IS NOT NULL
   ON CONFLICT DO NOTHING`,
  `INSERT INTO wallet_posting_totals SELECT ledger_id, asset_code, version, 'credit', 1, 1 FROM asset_rules
   ON CONFLICT DO NOTHING`,
  "DROP TABLE places",
];

/** A close of each month, with its trial balance and its subtrees, and ledgers that have one wallet and one account. */
const lastFillings = [
  // So many that most ledgers have next to nothing: a plan for all ledgers is not to take that for any.
  `INSERT INTO wallets (ledger_id, caller_key, wallet_id, asset_code, balance, held, last_seq, last_at, log_hash, chained_after)
   SELECT md5('tiny ledger ' || i)::uuid, '1', md5('tiny wallet ' || i)::uuid, 'USD', 0, 0, 1, now(), sha256(''), 0
     FROM generate_series(1, ${tinyLedgerCount}) AS i`,
  `INSERT INTO accounts (ledger_id, gl_account_code, name, created_at)
   SELECT md5('tiny ledger ' || i)::uuid, '1', 'x', now() FROM generate_series(1, ${tinyLedgerCount}) AS i`,
  `INSERT INTO period_closes
     (ledger_id, number, close_id, period_id, starts_at, ends_at, closed_at, last_sequence, entry_count, merkle_root,
      merkle_algorithm, balances_root, close_hash)
   SELECT ledger_id, month, md5(ledger_id || ' close ' || month)::uuid, to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM'),
          starts_at, starts_at + interval '1 month', starts_at + interval '2 months',
          last_sequence * month / 24, 1, '', '', '', ''
     FROM journal_heads, generate_series(1, 20) AS month,
          LATERAL (SELECT '2023-12-01Z'::timestamptz + month * interval '1 month' AS starts_at) AS starting`,
  `INSERT INTO period_close_balances
   SELECT closes.ledger_id, number, gl_account_code, 0, 0, 0, 0, 1
     FROM period_closes AS closes JOIN accounts ON accounts.ledger_id = closes.ledger_id
    WHERE gl_account_code < '3'`,
  `INSERT INTO period_close_subtrees
   SELECT ledger_id, number, part, last_sequence * part / 20 + 1, sha256('')
     FROM period_closes, generate_series(0, 19) AS part`,
  `INSERT INTO log_states (ledger_id, log, generation, system_identifier, timeline)
   SELECT ledger_id, log, 1, '1', '00000001' FROM journal_heads, unnest(ARRAY['journal', 'closes']) AS log`,
  `INSERT INTO log_heads (ledger_id, log, size, subtrees, signed_size, signed_at, checkpoint_count, cosignature_count)
   SELECT ledger_id, log, last_sequence, '', last_sequence, now(), 1, 0
     FROM journal_heads, unnest(ARRAY['journal', 'closes']) AS log`,
  `INSERT INTO log_subtrees (ledger_id, log, generation, level, index, root)
   SELECT ledger_id, 'journal', 1, level, index, sha256('')
     FROM journal_heads, generate_series(8, 20) AS level,
          generate_series(0, last_sequence / (1::bigint << level) - 1) AS index`,
  `INSERT INTO log_checkpoints
     (ledger_id, log, generation, size, number, root_hash, origin, verifier_key, signatures, issued_at, system_identifier, timeline)
   SELECT ledger_id, 'journal', 1, size, size / 100, sha256(''), '', '', '', now(), '1', '00000001'
     FROM journal_heads, generate_series(100, last_sequence, 100) AS size`,
  `INSERT INTO log_cosignatures (ledger_id, log, generation, size, verifier_key, signature, cosigned_at)
   SELECT ledger_id, log, generation, size, 'witness', '', now() FROM log_checkpoints WHERE size % 1000 = 0`,
];

/** Tables whose indexes are made once, when they are full: a third of the time. */
const largeTables = ["journal_entries", "journal_lines", "wallet_writes"];

/** How far the books are written at each step; from one to the next, statistics grow old. */
export const steps = [1, placeCount / 50, placeCount];

/** Writes the places after one, up to another. */
export async function fill(client: Client, after: number, upTo: number): Promise<void> {
  const isAll = upTo === placeCount;
  // Past the triggers, which refuse what is not written by the service.
  await client.query(
    "SET session_replication_role = replica; SET maintenance_work_mem = '128MB'; SET work_mem = '64MB'",
  );
  const tables = largeTables.map((table) => `'${table}'::regclass`).join();
  if (isAll)
    await client.query(`UPDATE pg_index SET indisready = false WHERE indrelid IN (${tables})`);
  await client.query(makePlaces, [after + 1, upTo]);
  for (const filling of fillings) await client.query(filling);
  if (isAll) {
    for (const table of largeTables) await client.query(`REINDEX TABLE ${table}`);
    for (const filling of lastFillings) await client.query(filling);
  }
  await client.query("RESET session_replication_role; RESET maintenance_work_mem; RESET work_mem");
}

/** As of tables that were never analyzed. */
export const forgetStatistics = `
  DELETE FROM pg_statistic WHERE starelid IN (
    SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace);
  UPDATE pg_class SET reltuples = -1, relpages = 0
   WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`;
