-- Up Migration

-- The log of each wallet is chained: log_hash covers whose the wallet is and all that its log says. A chain begins
-- with the next write of a wallet. Rows that were there before get a digest in a table of its own, later, by a
-- running server.
ALTER TABLE wallets
  ADD COLUMN log_hash bytea,
  ADD COLUMN chained_after bigint,
  ADD CONSTRAINT wallets_log_hash_check CHECK (octet_length(log_hash) = 32),
  ADD CONSTRAINT wallets_chained_after_check CHECK ((log_hash IS NULL) = (chained_after IS NULL));

-- A program that knows no chains must not write to a wallet: the rows would be in no chain and have no digest.
-- It takes this error for a database that is out of resources for a while, logs it and answers 503.
CREATE FUNCTION refuse_unchained_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a write to a wallet is refused: the program does not chain logs, it is older than the schema'
    USING ERRCODE = 'configuration_limit_exceeded',
          HINT = 'Replace the program by the version that migrated the database, or a newer one.';
END
$$;
-- Programs that chain say so in a setting of their sessions: asked once a statement, not once a row.
CREATE TRIGGER wallets_chained BEFORE INSERT OR UPDATE ON wallets
  FOR EACH STATEMENT WHEN (current_setting('ledgerctl.chains_logs', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION refuse_unchained_write();

CREATE TABLE wallet_log_digests (
  ledger_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  digest bytea NOT NULL,
  CONSTRAINT wallet_log_digests_pkey PRIMARY KEY (ledger_id, wallet_id),
  CONSTRAINT wallet_log_digests_digest_check CHECK (octet_length(digest) = 32)
);
CREATE TRIGGER wallet_log_digests_append_only BEFORE UPDATE OR DELETE ON wallet_log_digests
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER wallet_log_digests_no_truncate BEFORE TRUNCATE ON wallet_log_digests
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Until it has a row, wallets of ledgers that were adopted may be without a chain and a digest.
CREATE TABLE wallet_digest_completions (
  completed_at timestamptz NOT NULL,
  CONSTRAINT wallet_digest_completions_pkey PRIMARY KEY (completed_at)
);
CREATE TRIGGER wallet_digest_completions_append_only
  BEFORE UPDATE OR DELETE ON wallet_digest_completions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER wallet_digest_completions_no_truncate BEFORE TRUNCATE ON wallet_digest_completions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE CONSTRAINT TRIGGER wallet_digest_completions_recorded
  AFTER INSERT OR DELETE ON wallet_digest_completions DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION record_administration_act();

COMMENT ON COLUMN wallets.log_hash IS
  'SHA-256 chained over the wallet''s owner and asset and each row of its log after chained_after; null until the first write since chains began.';
COMMENT ON COLUMN wallets.chained_after IS
  'seq of the last row of the log that is older than the chain; 0: the chain has all rows.';
COMMENT ON TABLE wallet_log_digests IS
  'The same hash over the rows of a wallet''s log that are older than its chain. Never changes.';
COMMENT ON TABLE wallet_digest_completions IS
  'When all rows that are older than chains had their digests; no row where there never were any. Never changes.';
COMMENT ON FUNCTION refuse_unchained_write() IS
  'Refuses what a program that knows no chains writes to a wallet, as if the database were out of resources.';
