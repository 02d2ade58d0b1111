-- Up Migration

-- Sums that make the cost of a trial balance, a preview or a filtered list grow with the accounts and days asked for,
-- and not with the entries of the ledger. All of it is derived from entries and lines: servers add to it in the
-- background, and whoever reads it adds the entries since. Emptied together, these tables are filled again.

-- Up to which entry a ledger's sums go. The lock on this row puts those who add to them in order.
CREATE TABLE summed_journals (
  ledger_id uuid NOT NULL,
  last_sequence bigint NOT NULL,
  CONSTRAINT summed_journals_pkey PRIMARY KEY (ledger_id)
);

CREATE TABLE account_days (
  ledger_id uuid NOT NULL,
  gl_account_code text COLLATE "C" NOT NULL,
  -- Of transaction dates, in UTC.
  day date NOT NULL,
  currency text COLLATE "C" NOT NULL,
  is_closing boolean NOT NULL,
  debits numeric NOT NULL,
  credits numeric NOT NULL,
  functional_debits numeric NOT NULL,
  functional_credits numeric NOT NULL,
  entry_count bigint NOT NULL,
  CONSTRAINT account_days_pkey PRIMARY KEY (ledger_id, gl_account_code, day, currency, is_closing)
);

CREATE TABLE journal_days (
  ledger_id uuid NOT NULL,
  -- Of transaction dates, in UTC.
  day date NOT NULL,
  entry_count bigint NOT NULL,
  CONSTRAINT journal_days_pkey PRIMARY KEY (ledger_id, day)
);

-- Entries are summed in spans of the journal, one after the other; a span ends at the same sequence for all accounts and
-- days. So the place of an account's thousandth entry, or of a month's, is found without reading those before it.
CREATE TABLE account_spans (
  ledger_id uuid NOT NULL,
  gl_account_code text COLLATE "C" NOT NULL,
  ends_at_sequence bigint NOT NULL,
  first_sequence bigint NOT NULL,
  entry_count bigint NOT NULL,
  CONSTRAINT account_spans_pkey PRIMARY KEY (ledger_id, gl_account_code, ends_at_sequence)
    INCLUDE (first_sequence, entry_count)
);

CREATE TABLE day_spans (
  ledger_id uuid NOT NULL,
  day date NOT NULL,
  ends_at_sequence bigint NOT NULL,
  first_sequence bigint NOT NULL,
  entry_count bigint NOT NULL,
  CONSTRAINT day_spans_pkey PRIMARY KEY (ledger_id, day, ends_at_sequence)
    INCLUDE (first_sequence, entry_count)
);

COMMENT ON TABLE summed_journals IS
  'Up to which entry the sums of a ledger go (account_days, journal_days, account_spans, day_spans). Changes as they are added to.';
COMMENT ON COLUMN summed_journals.last_sequence IS 'Later entries are in no sum yet.';
COMMENT ON TABLE account_days IS
  'The lines of an account on one day of transaction dates, in UTC, and in one transaction currency. Derived from entries and lines.';
COMMENT ON COLUMN account_days.day IS 'Of transaction dates, in UTC.';
COMMENT ON COLUMN journal_days.day IS 'Of transaction dates, in UTC.';
COMMENT ON COLUMN day_spans.day IS 'Of transaction dates, in UTC.';
COMMENT ON COLUMN account_days.is_closing IS 'Of entries of the type CLOSING, which are apart from the rest.';
COMMENT ON COLUMN account_days.debits IS 'Smallest units of the currency.';
COMMENT ON COLUMN account_days.credits IS 'Smallest units of the currency, at most zero.';
COMMENT ON COLUMN account_days.functional_debits IS 'Smallest units of the functional currency.';
COMMENT ON COLUMN account_days.functional_credits IS 'Smallest units of the functional currency, at most zero.';
COMMENT ON COLUMN account_days.entry_count IS
  'Entries whose first line on the account is in this currency, so that the rows of a day together count each entry once.';
COMMENT ON TABLE journal_days IS
  'The entries with transaction dates of one day, in UTC. Derived from entries.';
COMMENT ON TABLE account_spans IS
  'In which spans of the journal an account has lines, and in how many entries. Derived from lines.';
COMMENT ON COLUMN account_spans.ends_at_sequence IS 'The last sequence of the span; the next span begins with the one after it.';
COMMENT ON COLUMN account_spans.first_sequence IS 'Of the span''s first entry with a line on the account.';
COMMENT ON COLUMN account_spans.entry_count IS 'Entries in the span with lines on the account.';
COMMENT ON TABLE day_spans IS
  'In which spans of the journal there are entries with transaction dates of a day, in UTC, and how many. Derived from entries.';
COMMENT ON COLUMN day_spans.ends_at_sequence IS 'The last sequence of the span; the next span begins with the one after it.';
COMMENT ON COLUMN day_spans.first_sequence IS 'Of the span''s first entry of the day.';
COMMENT ON COLUMN day_spans.entry_count IS 'Entries in the span that are of the day.';
