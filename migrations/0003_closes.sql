-- Up Migration

-- Closes of periods: permanent, each chained to the one before it by its hash.
CREATE TABLE period_closes (
  ledger_id uuid NOT NULL,
  -- 1, 2, 3 … in its ledger, without gaps.
  number integer NOT NULL,
  close_id uuid NOT NULL,
  period_id text COLLATE "C" NOT NULL,
  reason text,
  -- null: the beginning of the books.
  starts_at timestamptz,
  ends_at timestamptz NOT NULL,
  closed_at timestamptz NOT NULL,
  -- The roots cover nothing beyond this sequence.
  last_sequence bigint NOT NULL,
  entry_count bigint NOT NULL,
  merkle_root text COLLATE "C" NOT NULL,
  merkle_algorithm text COLLATE "C" NOT NULL,
  balances_root text COLLATE "C" NOT NULL,
  previous_close_hash text COLLATE "C",
  close_hash text COLLATE "C" NOT NULL,
  CONSTRAINT period_closes_pkey PRIMARY KEY (ledger_id, number),
  CONSTRAINT period_closes_close_id_key UNIQUE (ledger_id, close_id),
  CONSTRAINT period_closes_period_id_key UNIQUE (ledger_id, period_id),
  CONSTRAINT period_closes_bounds_check CHECK (starts_at IS NULL OR starts_at < ends_at)
);

-- The trial balance of each close, in functional currency.
CREATE TABLE period_close_balances (
  ledger_id uuid NOT NULL,
  number integer NOT NULL,
  gl_account_code text COLLATE "C" NOT NULL,
  opening numeric NOT NULL,
  debits numeric NOT NULL,
  credits numeric NOT NULL,
  closing numeric NOT NULL,
  entry_count bigint NOT NULL,
  CONSTRAINT period_close_balances_pkey PRIMARY KEY (ledger_id, number, gl_account_code)
);

-- Roots over each 1,024 leaves of a close's tree and over the rest, so that an audit path is made from
-- one such part and these. Nothing that is verified rests on them: a wrong one makes a wrong path.
CREATE TABLE period_close_subtrees (
  ledger_id uuid NOT NULL,
  number integer NOT NULL,
  -- 0, 1, 2 … from the first leaf on.
  part integer NOT NULL,
  first_sequence bigint NOT NULL,
  root bytea NOT NULL,
  CONSTRAINT period_close_subtrees_pkey PRIMARY KEY (ledger_id, number, part),
  CONSTRAINT period_close_subtrees_root_check CHECK (octet_length(root) = 32)
);

CREATE TRIGGER period_closes_append_only BEFORE UPDATE OR DELETE ON period_closes
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER period_closes_no_truncate BEFORE TRUNCATE ON period_closes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER period_close_balances_append_only BEFORE UPDATE OR DELETE ON period_close_balances
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER period_close_balances_no_truncate BEFORE TRUNCATE ON period_close_balances
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER period_close_subtrees_append_only BEFORE UPDATE OR DELETE ON period_close_subtrees
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER period_close_subtrees_no_truncate BEFORE TRUNCATE ON period_close_subtrees
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
