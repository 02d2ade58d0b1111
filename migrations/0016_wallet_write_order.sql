-- Up Migration

-- Deliveries of wallet writes. The logs of a ledger's wallets have no order among each other; while a delivery asks for
-- one, each batch numbers its rows as well, under a lock that it holds until it is committed: whoever sees a number sees
-- all before it. Ledgers without such a delivery have no numbers, and their writers do nothing for them.
DO $$
BEGIN
  -- As in migration 0013.
  ALTER TABLE ledger_states ADD COLUMN wallets_ordered_after bigint;
  ALTER TABLE ledger_states ADD CONSTRAINT ledger_states_wallets_ordered_after_check
    CHECK (wallets_ordered_after >= 0);
  ALTER TABLE delivery_progress ADD COLUMN wallet_number bigint NOT NULL DEFAULT 0;
  ALTER TABLE delivery_progress ADD CONSTRAINT delivery_progress_wallet_number_check
    CHECK (wallet_number >= 0);
END
$$;

CREATE TABLE wallet_order_heads (
  ledger_id uuid NOT NULL,
  last_number bigint NOT NULL,
  CONSTRAINT wallet_order_heads_pkey PRIMARY KEY (ledger_id),
  CONSTRAINT wallet_order_heads_last_number_check CHECK (last_number >= 0)
);

CREATE TABLE ordered_wallet_writes (
  ledger_id uuid NOT NULL,
  number bigint NOT NULL,
  wallet_id uuid NOT NULL,
  seq bigint NOT NULL,
  CONSTRAINT ordered_wallet_writes_pkey PRIMARY KEY (ledger_id, number)
);
CREATE TRIGGER ordered_wallet_writes_append_only BEFORE UPDATE OR DELETE ON ordered_wallet_writes
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ordered_wallet_writes_no_truncate BEFORE TRUNCATE ON ordered_wallet_writes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

COMMENT ON COLUMN ledger_states.wallets_ordered_after IS
  'Behind this number, wallet_order_heads and ordered_wallet_writes have every wallet write; null where no delivery asks for them and writes are not numbered.';
COMMENT ON TABLE wallet_order_heads IS
  'The last number in the order of a ledger''s wallet writes. Who numbers writes holds its lock until they are committed.';
COMMENT ON COLUMN wallet_order_heads.last_number IS 'Of the last write that was numbered; 0: none yet.';
COMMENT ON TABLE ordered_wallet_writes IS
  'Rows of wallets'' logs in the order in which they were committed, those of all wallets of a ledger, from when a delivery asked for them. Never changes.';
COMMENT ON COLUMN ordered_wallet_writes.number IS '1, 2, 3 … in its ledger, without gaps.';
COMMENT ON COLUMN ordered_wallet_writes.seq IS 'Of the row in the log of the wallet.';
COMMENT ON COLUMN delivery_progress.wallet_number IS
  'Of the last wallet write that was accepted, in ordered_wallet_writes; means nothing where wallet writes are not delivered.';
