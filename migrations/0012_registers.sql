-- Up Migration

-- The lines of each account in the order of its register, so that a page of it is found at any depth. Derived from entries
-- and lines, in the background and beside the sums by day; emptied together with them, or by themselves with
-- registered_sequence set to 0, these tables are filled again.

-- A column of its own: servers of older versions go on adding to the sums, and know nothing of registers.
ALTER TABLE summed_journals ADD COLUMN registered_sequence bigint NOT NULL DEFAULT 0;

-- Entries are registered in spans of the journal, as they are summed; but these spans may be others.
CREATE TABLE register_spans (
  ledger_id uuid NOT NULL,
  ends_at_sequence bigint NOT NULL,
  CONSTRAINT register_spans_pkey PRIMARY KEY (ledger_id, ends_at_sequence)
);

CREATE TABLE register_days (
  ledger_id uuid NOT NULL,
  gl_account_code text COLLATE "C" NOT NULL,
  -- Of transaction dates, in UTC.
  day date NOT NULL,
  currency text COLLATE "C" NOT NULL,
  ends_at_sequence bigint NOT NULL,
  line_count integer NOT NULL,
  entry_count integer NOT NULL,
  -- In the order of the register, and as long as each other.
  transaction_dates timestamptz[] NOT NULL,
  sequences bigint[] NOT NULL,
  line_numbers smallint[] NOT NULL,
  CONSTRAINT register_days_pkey PRIMARY KEY (ledger_id, gl_account_code, day, currency, ends_at_sequence)
);

COMMENT ON COLUMN summed_journals.registered_sequence IS
  'Later entries are in no register yet (register_spans, register_days).';
COMMENT ON TABLE register_spans IS
  'The spans of the journal that are in registers; a span begins with the entry after the span before. Derived from entries and lines.';
COMMENT ON COLUMN register_spans.ends_at_sequence IS 'The last sequence of the span.';
COMMENT ON TABLE register_days IS
  'The lines of an account on one day, in one transaction currency and in one span of the journal, in the order of its register: by transaction date, sequence and line. Derived from entries and lines.';
COMMENT ON COLUMN register_days.day IS 'Of transaction dates, in UTC.';
COMMENT ON COLUMN register_days.ends_at_sequence IS 'The last sequence of the span.';
COMMENT ON COLUMN register_days.entry_count IS 'Entries that the lines are of.';
COMMENT ON COLUMN register_days.transaction_dates IS 'Of each line''s entry.';
COMMENT ON COLUMN register_days.sequences IS 'Of each line''s entry.';
COMMENT ON COLUMN register_days.line_numbers IS 'Of each line, as in journal_lines.';
COMMENT ON COLUMN account_days.is_closing IS
  'Of entries of the type CLOSING and of their reversals, which are apart from the rest.';
