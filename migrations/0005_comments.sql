-- Up Migration

-- What a row and a column of each table hold, for whoever reads the schema. docs/schema.md is generated
-- from these comments. Comments change no data and block no writes.

COMMENT ON TABLE organizations IS
  'An organization: the owner of ledgers and API keys. Never changes.';

COMMENT ON TABLE api_keys IS
  'An API key: its organization, scopes and dates. The secret is not in the database. Only revoked_at changes, once.';
COMMENT ON COLUMN api_keys.master_key_fingerprint IS
  'Which master key the secret is derived from.';
COMMENT ON COLUMN api_keys.expires_at IS 'Null: the key does not expire.';
COMMENT ON COLUMN api_keys.revoked_at IS 'Null: the key has not been revoked.';

COMMENT ON TABLE ledgers IS
  'What never changes about a ledger: owner, name, functional currency, metadata, order of closes.';
COMMENT ON COLUMN ledgers.closes_in_order IS
  'Whether a close also closes everything before its period, which must be empty or closed.';

COMMENT ON TABLE ledger_states IS
  'The state of a ledger. Writers lock the row FOR SHARE; a change of state locks it FOR UPDATE.';

COMMENT ON TABLE ledger_state_requests IS
  'A pending change of a ledger''s state. Writers pause until it is made: else their shared locks could keep it waiting for ever.';
COMMENT ON COLUMN ledger_state_requests.waits_until IS
  'Until when writers pause.';

COMMENT ON TABLE journal_heads IS
  'The end of a ledger''s journal. The lock on this row puts journal writes in order. Changes with every batch.';
COMMENT ON COLUMN journal_heads.last_sequence IS
  'Sequence of the last entry; 0 before the first.';
COMMENT ON COLUMN journal_heads.last_persisted_at IS
  'persisted_at of the last entry; no later entry has an earlier one.';

COMMENT ON TABLE accounts IS
  'An account of a ledger''s chart. Changed by admin commands, never deleted.';
COMMENT ON COLUMN accounts.active IS 'An inactive account takes no new lines.';

COMMENT ON TABLE journal_entries IS
  'An entry, without its lines. Never changes.';
COMMENT ON COLUMN journal_entries.sequence IS '1, 2, 3 … in its ledger, without gaps.';
COMMENT ON COLUMN journal_entries.external_id IS 'The caller''s idempotency key.';
COMMENT ON COLUMN journal_entries.transaction_date IS 'The date that periods go by.';
COMMENT ON COLUMN journal_entries.persisted_at IS
  'The database''s clock under the lock of the journal head.';
COMMENT ON COLUMN journal_entries.reverses_journal_id IS
  'The entry that this one reverses; null for any other entry.';
COMMENT ON COLUMN journal_entries.leaf IS
  'RFC 6962 leaf hash of the entry''s canonical JSON (RFC 8785): SHA-256 over a zero byte and the document.';

COMMENT ON TABLE journal_lines IS
  'A line of an entry. Never changes. It has no foreign keys: a check for each line would lock the account''s row.';
COMMENT ON COLUMN journal_lines.line_number IS '0, 1, 2 … in its entry.';
COMMENT ON COLUMN journal_lines.transaction_amount IS
  'Smallest units of transaction_currency; debits above zero, credits below.';
COMMENT ON COLUMN journal_lines.functional_amount IS
  'Smallest units of functional_currency; debits above zero, credits below. The lines of an entry sum to zero.';
COMMENT ON COLUMN journal_lines.spot_rate IS 'The caller''s rate, as information.';

COMMENT ON TABLE journal_reversals IS
  'Which entry reverses which: the one fact about an entry that comes after it. Never changes.';
COMMENT ON COLUMN journal_reversals.journal_id IS 'The entry that was reversed.';
COMMENT ON COLUMN journal_reversals.reversal_journal_id IS 'The entry that reverses it.';

COMMENT ON TABLE account_balances IS
  'The balance of an account in one currency. Changes in the transaction that records the entries.';
COMMENT ON COLUMN account_balances.currency IS
  'A transaction currency; or an empty text for the account''s sum in the functional currency.';
COMMENT ON COLUMN account_balances.balance IS 'The sum of the lines'' amounts, in smallest units.';
COMMENT ON COLUMN account_balances.entry_count IS 'How many entries have lines in this sum.';

COMMENT ON TABLE asset_rules IS
  'How wallets of an asset are posted to the ledger. Never changes: a new version follows.';
COMMENT ON COLUMN asset_rules.version IS '1, 2, 3 … for its asset.';
COMMENT ON COLUMN asset_rules.rate IS
  'Functional smallest units for one smallest unit of the asset; null while no rate is set.';
COMMENT ON COLUMN asset_rules.exponent IS 'How many decimals the asset''s major unit has.';
COMMENT ON COLUMN asset_rules.overdraft_limit IS
  'How far below zero a wallet''s available balance may go, in smallest units.';

COMMENT ON TABLE wallets IS
  'A wallet, with its current figures. Changes with every write to it.';
COMMENT ON COLUMN wallets.caller_key IS 'The name that the caller gave the wallet.';
COMMENT ON COLUMN wallets.held IS
  'The sum of active holds. An expired hold is in it until the next write of the wallet logs its expiry.';
COMMENT ON COLUMN wallets.last_seq IS 'seq of the last row in the wallet''s log; 0 before the first.';
COMMENT ON COLUMN wallets.last_at IS 'Time of the last write; no later write has an earlier one.';

COMMENT ON TABLE wallet_writes IS
  'A row of a wallet''s log: one accepted change, with the wallet''s figures after it. Never changes.';
COMMENT ON COLUMN wallet_writes.seq IS '1, 2, 3 … in its wallet, without gaps.';
COMMENT ON COLUMN wallet_writes.balance IS 'The wallet''s balance after the change.';
COMMENT ON COLUMN wallet_writes.held IS 'The wallet''s held amount after the change.';
COMMENT ON COLUMN wallet_writes.external_id IS 'The caller''s idempotency key.';
COMMENT ON COLUMN wallet_writes.metadata IS 'Any text of the caller; never read.';
COMMENT ON COLUMN wallet_writes.batch_id IS
  'The pending posting (row of wallet_batches) that contains the amount; null for a change that moves no money.';

COMMENT ON TABLE wallet_holds IS
  'A reservation of part of a wallet''s balance. Its status changes once, when it ends.';
COMMENT ON COLUMN wallet_holds.expires_at IS 'Null: it does not expire.';

COMMENT ON TABLE wallet_batches IS
  'A pending posting: what one committed batch of wallet writes credited, or debited, in one asset on one UTC day. Only journal_id changes, once.';
COMMENT ON COLUMN wallet_batches.batch_id IS 'Id of the pending posting. A batch with several of them has several ids.';
COMMENT ON COLUMN wallet_batches.rule_version IS 'The version of the asset''s rule at the time of the batch.';
COMMENT ON COLUMN wallet_batches.wallet_ids IS
  'The wallets with writes in it, in the order of first_seqs and last_seqs.';
COMMENT ON COLUMN wallet_batches.first_seqs IS 'For each wallet, the first seq that it contains.';
COMMENT ON COLUMN wallet_batches.last_seqs IS 'For each wallet, the last seq that it contains.';
COMMENT ON COLUMN wallet_batches.journal_id IS 'The entry that posts it; null until it is posted.';

COMMENT ON TABLE wallet_posting_totals IS
  'What has been posted so far of one side under one rule. Postings round on these totals, so that rounding does not drift.';
COMMENT ON COLUMN wallet_posting_totals.amount IS 'In smallest units of the asset.';
COMMENT ON COLUMN wallet_posting_totals.functional_amount IS
  'The same, converted: smallest units of the functional currency.';

COMMENT ON TABLE wallet_postings IS
  'Marks an entry as a posting of wallets. Never changes. A label in the entry would not do: a client could send it.';

COMMENT ON TABLE period_closes IS
  'A close of a period, chained to the close before it by its hash. Never changes.';
COMMENT ON COLUMN period_closes.number IS '1, 2, 3 … in its ledger, without gaps.';
COMMENT ON COLUMN period_closes.starts_at IS 'Included; null: from the first entry of the ledger.';
COMMENT ON COLUMN period_closes.ends_at IS 'Not included.';
COMMENT ON COLUMN period_closes.last_sequence IS
  'Last sequence of the journal at the time of the close; the close covers no later entry.';
COMMENT ON COLUMN period_closes.entry_count IS 'How many entries the close covers.';
COMMENT ON COLUMN period_closes.merkle_root IS 'RFC 6962 root over the entries'' leaves, in lower-case hex.';
COMMENT ON COLUMN period_closes.balances_root IS 'Hash over the trial balance, in lower-case hex.';
COMMENT ON COLUMN period_closes.previous_close_hash IS 'close_hash of the close before; null in the first.';
COMMENT ON COLUMN period_closes.close_hash IS 'Hash over the record, in lower-case hex.';

COMMENT ON TABLE period_close_balances IS
  'A row of a close''s trial balance, in functional currency. Never changes.';
COMMENT ON COLUMN period_close_balances.opening IS 'The balance before the period.';
COMMENT ON COLUMN period_close_balances.closing IS 'The balance at the end of the period.';

COMMENT ON TABLE period_close_subtrees IS
  'The root over 1,024 leaves of a close''s Merkle tree, or over the rest at its end. Audit paths are made from these; verification does not rely on them. Never changes.';
COMMENT ON COLUMN period_close_subtrees.part IS '0, 1, 2 … from the first leaf on.';
COMMENT ON COLUMN period_close_subtrees.first_sequence IS 'Sequence of the part''s first entry.';

COMMENT ON TABLE schema_migrations IS
  'A migration that has been applied. Managed by ledgerctl migrate.';

COMMENT ON FUNCTION refuse_change() IS
  'Refuses UPDATE, DELETE and TRUNCATE, for every role.';
COMMENT ON FUNCTION refuse_change_but_posting() IS
  'Refuses every change but one: journal_id of a pending posting is set, once.';
