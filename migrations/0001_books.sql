-- Up Migration

-- Organizations, keys, ledgers and their books. Every table of ledger data has a primary key that
-- begins with ledger_id, so that the schema can be spread over machines by ledger. Codes, currencies
-- and external ids are compared and ordered by their UTF-8 bytes, hence COLLATE "C".

CREATE TABLE organizations (
  organization_id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT organizations_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE api_keys (
  api_key text COLLATE "C" NOT NULL,
  organization_id uuid NOT NULL,
  scopes text[] NOT NULL,
  -- Which master key the secret is derived from; the secret itself is nowhere in the database.
  master_key_fingerprint text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT api_keys_pkey PRIMARY KEY (api_key),
  CONSTRAINT api_keys_organization_fkey
    FOREIGN KEY (organization_id) REFERENCES organizations (organization_id)
);

-- What of a ledger never changes.
CREATE TABLE ledgers (
  ledger_id uuid NOT NULL,
  organization_id uuid NOT NULL,
  name text NOT NULL,
  functional_currency text COLLATE "C" NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  CONSTRAINT ledgers_pkey PRIMARY KEY (ledger_id),
  CONSTRAINT ledgers_organization_fkey
    FOREIGN KEY (organization_id) REFERENCES organizations (organization_id)
);
CREATE INDEX ledgers_organization_idx ON ledgers (organization_id, created_at, ledger_id);

-- A ledger's state has a row of its own, apart from the journal head: writers read it FOR SHARE,
-- suspending and closing take it FOR UPDATE.
CREATE TABLE ledger_states (
  ledger_id uuid NOT NULL,
  status text NOT NULL,
  changed_at timestamptz NOT NULL,
  CONSTRAINT ledger_states_pkey PRIMARY KEY (ledger_id),
  CONSTRAINT ledger_states_ledger_fkey FOREIGN KEY (ledger_id) REFERENCES ledgers (ledger_id),
  CONSTRAINT ledger_states_status_check CHECK (status IN ('active', 'suspended', 'closed'))
);

-- Who wants to change a ledger's state says so here first: writers hold the state shared, one after the
-- other, and PostgreSQL lets each of them pass a waiting exclusive lock.
CREATE TABLE ledger_state_requests (
  ledger_id uuid NOT NULL,
  waits_until timestamptz NOT NULL,
  CONSTRAINT ledger_state_requests_pkey PRIMARY KEY (ledger_id)
);

-- The head of a ledger's journal; locking it is what puts journal writes in order.
CREATE TABLE journal_heads (
  ledger_id uuid NOT NULL,
  last_sequence bigint NOT NULL DEFAULT 0,
  last_persisted_at timestamptz,
  CONSTRAINT journal_heads_pkey PRIMARY KEY (ledger_id),
  CONSTRAINT journal_heads_ledger_fkey FOREIGN KEY (ledger_id) REFERENCES ledgers (ledger_id)
) WITH (fillfactor = 20);

CREATE TABLE accounts (
  ledger_id uuid NOT NULL,
  gl_account_code text COLLATE "C" NOT NULL,
  name text NOT NULL,
  type text,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  CONSTRAINT accounts_pkey PRIMARY KEY (ledger_id, gl_account_code),
  CONSTRAINT accounts_ledger_fkey FOREIGN KEY (ledger_id) REFERENCES ledgers (ledger_id),
  CONSTRAINT accounts_type_check
    CHECK (type IN ('asset', 'liability', 'equity', 'income', 'expense'))
);

CREATE TABLE journal_entries (
  ledger_id uuid NOT NULL,
  sequence bigint NOT NULL,
  journal_id uuid NOT NULL,
  external_id text COLLATE "C",
  origin_system text,
  origin_account text,
  event_type text,
  description text,
  transaction_date timestamptz NOT NULL,
  entry_type text NOT NULL,
  metadata jsonb NOT NULL,
  persisted_at timestamptz NOT NULL,
  reverses_journal_id uuid,
  -- SHA-256 over the entry's canonical document (RFC 6962 leaf), so that a close reads 32 bytes an entry.
  leaf bytea NOT NULL,
  CONSTRAINT journal_entries_pkey PRIMARY KEY (ledger_id, sequence),
  CONSTRAINT journal_entries_journal_id_key UNIQUE (ledger_id, journal_id),
  CONSTRAINT journal_entries_external_id_key UNIQUE (ledger_id, external_id),
  CONSTRAINT journal_entries_leaf_check CHECK (octet_length(leaf) = 32)
);
CREATE INDEX journal_entries_transaction_date_idx
  ON journal_entries (ledger_id, transaction_date, sequence);

-- No foreign keys to entries and accounts: both are written or read under the head's lock in the same
-- transaction and can never be deleted, and a check for each line would lock the account's row.
CREATE TABLE journal_lines (
  ledger_id uuid NOT NULL,
  sequence bigint NOT NULL,
  line_number smallint NOT NULL,
  gl_account_code text COLLATE "C" NOT NULL,
  description text,
  transaction_amount numeric NOT NULL,
  transaction_currency text COLLATE "C" NOT NULL,
  functional_amount numeric NOT NULL,
  functional_currency text COLLATE "C" NOT NULL,
  spot_rate double precision,
  CONSTRAINT journal_lines_pkey PRIMARY KEY (ledger_id, sequence, line_number),
  CONSTRAINT journal_lines_functional_amount_check
    CHECK (functional_amount <> 0 AND scale(functional_amount) = 0),
  CONSTRAINT journal_lines_transaction_amount_check CHECK (scale(transaction_amount) = 0)
);
CREATE INDEX journal_lines_account_idx ON journal_lines (ledger_id, gl_account_code, sequence);

-- The one thing about an entry that can change, from nothing to something, once.
CREATE TABLE journal_reversals (
  ledger_id uuid NOT NULL,
  journal_id uuid NOT NULL,
  reversal_journal_id uuid NOT NULL,
  CONSTRAINT journal_reversals_pkey PRIMARY KEY (ledger_id, journal_id)
);

-- currency: a transaction currency, or '' for the account's whole in functional currency.
CREATE TABLE account_balances (
  ledger_id uuid NOT NULL,
  gl_account_code text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  balance numeric NOT NULL,
  entry_count bigint NOT NULL,
  CONSTRAINT account_balances_pkey PRIMARY KEY (ledger_id, gl_account_code, currency)
) WITH (fillfactor = 50);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: it is append-only', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END
$$;

CREATE TRIGGER journal_entries_append_only BEFORE UPDATE OR DELETE ON journal_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_entries_no_truncate BEFORE TRUNCATE ON journal_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_lines_append_only BEFORE UPDATE OR DELETE ON journal_lines
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_lines_no_truncate BEFORE TRUNCATE ON journal_lines
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_reversals_append_only BEFORE UPDATE OR DELETE ON journal_reversals
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_reversals_no_truncate BEFORE TRUNCATE ON journal_reversals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
