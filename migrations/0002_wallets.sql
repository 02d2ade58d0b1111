-- Up Migration

-- Wallets: their balances, the log of every accepted change, holds, and what waits to be posted.

-- How wallets of an asset meet the ledger. A rule is never changed: a new version follows it, and each
-- write keeps the version that it was accepted under.
CREATE TABLE asset_rules (
  ledger_id uuid NOT NULL,
  asset_code text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  wallets_account text COLLATE "C" NOT NULL,
  clearing_account text COLLATE "C" NOT NULL,
  -- Functional smallest units per one smallest unit of the asset; null while a currency waits for a rate.
  rate numeric,
  exponent smallint NOT NULL,
  overdraft_limit numeric NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT asset_rules_pkey PRIMARY KEY (ledger_id, asset_code, version),
  CONSTRAINT asset_rules_rate_check CHECK (rate > 0),
  CONSTRAINT asset_rules_exponent_check CHECK (exponent BETWEEN 0 AND 18),
  CONSTRAINT asset_rules_overdraft_limit_check CHECK (overdraft_limit >= 0)
);

CREATE TABLE wallets (
  ledger_id uuid NOT NULL,
  caller_key text COLLATE "C" NOT NULL,
  wallet_id uuid NOT NULL,
  asset_code text COLLATE "C" NOT NULL,
  balance numeric NOT NULL,
  -- Holds that the log has not resolved, expired ones among them until the next write logs it.
  held numeric NOT NULL,
  last_seq bigint NOT NULL,
  last_at timestamptz NOT NULL,
  CONSTRAINT wallets_pkey PRIMARY KEY (ledger_id, caller_key),
  CONSTRAINT wallets_wallet_id_key UNIQUE (ledger_id, wallet_id)
) WITH (fillfactor = 60);

CREATE TABLE wallet_writes (
  ledger_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  -- 1, 2, 3 … in its wallet, without gaps.
  seq bigint NOT NULL,
  type text NOT NULL,
  amount numeric NOT NULL,
  balance numeric NOT NULL,
  held numeric NOT NULL,
  external_id text COLLATE "C",
  hold_id uuid,
  metadata text,
  at timestamptz NOT NULL,
  -- The batch side that posts it; null for what moves no balance.
  batch_id uuid,
  CONSTRAINT wallet_writes_pkey PRIMARY KEY (ledger_id, wallet_id, seq),
  CONSTRAINT wallet_writes_type_check
    CHECK (type IN ('credit', 'debit', 'reserve', 'commit', 'release', 'expire')),
  CONSTRAINT wallet_writes_amount_check CHECK (amount > 0)
);
-- The wallet's id as bytes, so that a search by externalId is never taken to the primary key, which begins
-- with the same columns and looks as good to a planner without statistics.
CREATE UNIQUE INDEX wallet_writes_external_id_key
  ON wallet_writes (ledger_id, uuid_send(wallet_id), external_id);

CREATE TABLE wallet_holds (
  ledger_id uuid NOT NULL,
  hold_id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  amount numeric NOT NULL,
  expires_at timestamptz,
  status text NOT NULL,
  CONSTRAINT wallet_holds_pkey PRIMARY KEY (ledger_id, hold_id),
  CONSTRAINT wallet_holds_status_check
    CHECK (status IN ('active', 'committed', 'released', 'expired'))
);
CREATE INDEX wallet_holds_active_idx ON wallet_holds (ledger_id, wallet_id)
  WHERE status = 'active';

-- One row for each side (credits, debits) of an asset that a committed batch of wallet writes touched.
-- Posting sums these rows and marks each with the entry that holds it; the mark is all that can change.
CREATE TABLE wallet_batches (
  ledger_id uuid NOT NULL,
  batch_id uuid NOT NULL,
  asset_code text COLLATE "C" NOT NULL,
  rule_version integer NOT NULL,
  side text NOT NULL,
  amount numeric NOT NULL,
  write_count integer NOT NULL,
  accepted_from timestamptz NOT NULL,
  accepted_to timestamptz NOT NULL,
  -- Which writes these are: for each wallet, its first and last seq in the batch.
  wallet_ids uuid[] NOT NULL,
  first_seqs bigint[] NOT NULL,
  last_seqs bigint[] NOT NULL,
  journal_id uuid,
  CONSTRAINT wallet_batches_pkey PRIMARY KEY (ledger_id, batch_id),
  CONSTRAINT wallet_batches_side_check CHECK (side IN ('credit', 'debit'))
);
CREATE INDEX wallet_batches_pending_idx
  ON wallet_batches (ledger_id, asset_code, rule_version, side) WHERE journal_id IS NULL;
CREATE INDEX wallet_batches_journal_idx
  ON wallet_batches (ledger_id, journal_id) WHERE journal_id IS NOT NULL;

-- What has been posted of each side under each rule, so that rounding never drifts.
CREATE TABLE wallet_posting_totals (
  ledger_id uuid NOT NULL,
  asset_code text COLLATE "C" NOT NULL,
  rule_version integer NOT NULL,
  side text NOT NULL,
  amount numeric NOT NULL,
  functional_amount numeric NOT NULL,
  CONSTRAINT wallet_posting_totals_pkey PRIMARY KEY (ledger_id, asset_code, rule_version, side)
);

-- Which entries are postings of wallets: known by this, not by a label that a client could send.
CREATE TABLE wallet_postings (
  ledger_id uuid NOT NULL,
  journal_id uuid NOT NULL,
  asset_code text COLLATE "C" NOT NULL,
  rule_version integer NOT NULL,
  CONSTRAINT wallet_postings_pkey PRIMARY KEY (ledger_id, journal_id)
);

-- As refuse_change, but lets an unposted batch be marked with its entry, once, and nothing else.
CREATE FUNCTION refuse_change_but_posting() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  unmarked wallet_batches;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.journal_id IS NULL THEN
    unmarked := NEW;
    unmarked.journal_id := NULL;
    IF unmarked IS NOT DISTINCT FROM OLD THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION '% of % is refused: it is append-only', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER wallet_writes_append_only BEFORE UPDATE OR DELETE ON wallet_writes
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER wallet_writes_no_truncate BEFORE TRUNCATE ON wallet_writes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER wallet_batches_append_only BEFORE UPDATE OR DELETE ON wallet_batches
  FOR EACH ROW EXECUTE FUNCTION refuse_change_but_posting();
CREATE TRIGGER wallet_batches_no_truncate BEFORE TRUNCATE ON wallet_batches
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER wallet_postings_append_only BEFORE UPDATE OR DELETE ON wallet_postings
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER wallet_postings_no_truncate BEFORE TRUNCATE ON wallet_postings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER asset_rules_append_only BEFORE UPDATE OR DELETE ON asset_rules
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER asset_rules_no_truncate BEFORE TRUNCATE ON asset_rules
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
