-- Up Migration

-- Sums by month for statements over years, made of the sums by day: in the background, once in a while, and only of months
-- that have got entries since. A month whose number of entries is still the same is used, any other is read by its days. So
-- what adds sums by day, servers of older versions too, knows nothing of it.

-- Months are looked at again where this is not last_sequence.
ALTER TABLE summed_journals ADD COLUMN month_sequence bigint NOT NULL DEFAULT 0;

CREATE TABLE journal_months (
  ledger_id uuid NOT NULL,
  -- The first day of the month, of transaction dates in UTC.
  month date NOT NULL,
  entry_count bigint NOT NULL,
  -- An element for each account, and one more where it has lines of closing entries; as long as each other.
  gl_account_codes text[] COLLATE "C" NOT NULL,
  are_closing boolean[] NOT NULL,
  functional_amounts numeric[] NOT NULL,
  CONSTRAINT journal_months_pkey PRIMARY KEY (ledger_id, month)
);

COMMENT ON COLUMN summed_journals.month_sequence IS
  'Up to which entry the sums by month go (journal_months). They are made of the sums by day once in a while.';
COMMENT ON TABLE journal_months IS
  'What the accounts of a ledger moved in a month of transaction dates, in UTC, up to month_sequence of summed_journals. Derived from the sums by day.';
COMMENT ON COLUMN journal_months.month IS 'Its first day.';
COMMENT ON COLUMN journal_months.entry_count IS
  'Entries of the month. Where journal_days have more by now, the row is not used.';
COMMENT ON COLUMN journal_months.gl_account_codes IS 'In the order of their UTF-8 bytes; an account with lines of closing entries is there twice.';
COMMENT ON COLUMN journal_months.are_closing IS
  'For each of gl_account_codes: of entries of the type CLOSING and of their reversals, which are apart from the rest.';
COMMENT ON COLUMN journal_months.functional_amounts IS
  'For each of gl_account_codes: debits less credits, in smallest units of the functional currency.';
