-- Up Migration

-- Transfers between wallets, limits of assets, frozen wallets. As in migration 0007, wallets are locked before anything else.
LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE;

DO $$
BEGIN
  -- Citus has other nodes run the whole text that an ALTER or CREATE INDEX is part of, and takes each constraint by itself:
  -- in here each is a text of its own.
  ALTER TABLE wallets
    ADD COLUMN frozen_at timestamptz,
    -- Kept only while the asset has a limit for the day; whoever needs it and finds none sums the log.
    ADD COLUMN debited_on date,
    ADD COLUMN debited numeric;
  ALTER TABLE wallets ADD CONSTRAINT wallets_debited_check
    CHECK ((debited IS NULL) = (debited_on IS NULL) AND debited >= 0);
  -- Wallets of an asset by key: a page of an asset that few wallets have costs no more than any other.
  CREATE INDEX wallets_asset_idx ON wallets (ledger_id, asset_code, caller_key);

  -- The rows that are there met narrower conditions: looking at each of them again would keep writers waiting.
  ALTER TABLE wallet_writes
    ADD COLUMN transfer_id uuid,
    ADD COLUMN counterparty text COLLATE "C",
    DROP CONSTRAINT wallet_writes_type_check,
    DROP CONSTRAINT wallet_writes_amount_check;
  ALTER TABLE wallet_writes ADD CONSTRAINT wallet_writes_type_check
    CHECK (type IN ('credit', 'debit', 'reserve', 'commit', 'release', 'expire',
                    'transfer-out', 'transfer-in', 'freeze', 'unfreeze')) NOT VALID;
  ALTER TABLE wallet_writes ADD CONSTRAINT wallet_writes_amount_check
    CHECK (amount > 0 OR (amount = 0 AND type IN ('freeze', 'unfreeze'))) NOT VALID;
  ALTER TABLE wallet_writes ADD CONSTRAINT wallet_writes_transfer_check
    CHECK ((transfer_id IS NULL) = (counterparty IS NULL)
           AND (transfer_id IS NULL) = (type NOT IN ('transfer-out', 'transfer-in'))) NOT VALID;

  ALTER TABLE wallet_holds DROP CONSTRAINT wallet_holds_status_check;
  ALTER TABLE wallet_holds ADD CONSTRAINT wallet_holds_status_check
    CHECK (status IN ('active', 'committed', 'released', 'expired', 'transferred')) NOT VALID;

  ALTER TABLE asset_rules
    ADD COLUMN max_balance numeric,
    ADD COLUMN daily_debit_max numeric;
  ALTER TABLE asset_rules ADD CONSTRAINT asset_rules_max_balance_check CHECK (max_balance >= 0);
  ALTER TABLE asset_rules ADD CONSTRAINT asset_rules_daily_debit_max_check CHECK (daily_debit_max >= 0);
END
$$;

COMMENT ON COLUMN wallets.frozen_at IS 'Since when nothing may be taken out; null where the wallet is not frozen.';
COMMENT ON COLUMN wallets.debited_on IS
  'The UTC day of debited; null where no figure is kept, which the log then gives.';
COMMENT ON COLUMN wallets.debited IS
  'What debits, commits and transfers have taken out on that day, in smallest units of the asset.';
COMMENT ON COLUMN wallet_writes.transfer_id IS 'Of the transfer; the other row with it is in the log of counterparty.';
COMMENT ON COLUMN wallet_writes.counterparty IS 'The callerKey of the other wallet of the transfer.';
COMMENT ON COLUMN asset_rules.max_balance IS
  'What a credit or a transfer may bring the balance of a wallet to at most, in smallest units; null: no limit.';
COMMENT ON COLUMN asset_rules.daily_debit_max IS
  'What may be taken out of a wallet in a UTC day at most, in smallest units; null: no limit.';
