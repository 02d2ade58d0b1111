-- Up Migration

-- A record of each act of administration: what an operator (or a server, on the first use of an asset) makes or
-- changes in the tables that say what there is and who may do what. Triggers write it, so that older programs
-- and changes by hand are in it too. Batches of wallet writes lock wallets before anything else that is locked
-- here: locked first, no batch and this migration wait for each other.
LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE;

CREATE TABLE administration_acts (
  number bigint NOT NULL,
  at timestamptz NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  ledger_id uuid,
  record jsonb NOT NULL,
  operator text,
  database_role text NOT NULL,
  program text NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT administration_acts_pkey PRIMARY KEY (number),
  CONSTRAINT administration_acts_kind_check CHECK (kind IN ('made', 'changed', 'removed', 'adopted')),
  CONSTRAINT administration_acts_hash_check CHECK (octet_length(hash) = 32)
);

CREATE TRIGGER administration_acts_append_only BEFORE UPDATE OR DELETE ON administration_acts
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER administration_acts_no_truncate BEFORE TRUNCATE ON administration_acts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Each field with the number of its bytes, so that no two acts are the same bytes.
CREATE FUNCTION administration_act_hash(previous bytea, act administration_acts) RETURNS bytea
LANGUAGE sql STABLE AS $$
  SELECT sha256(coalesce(previous, ''::bytea) || convert_to(
           string_agg(coalesce(octet_length(field) || ':' || field, '-'), ',' ORDER BY place), 'UTF8'))
    FROM unnest(ARRAY[
           act.number::text,
           to_char(act.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
           act.kind, act.subject, act.ledger_id::text, act.record::text,
           act.operator, act.database_role, act.program
         ]) WITH ORDINALITY AS fields (field, place)
$$;

CREATE FUNCTION append_administration_act(kind text, subject text, record jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  previous administration_acts;
  act administration_acts;
BEGIN
  -- One after the other, until the transaction ends: the chain has no forks.
  LOCK TABLE administration_acts IN SHARE ROW EXCLUSIVE MODE;
  SELECT * INTO previous FROM administration_acts ORDER BY number DESC LIMIT 1;
  act.number := coalesce(previous.number, 0) + 1;
  act.at := greatest(date_trunc('milliseconds', clock_timestamp()), previous.at);
  act.kind := kind;
  act.subject := subject;
  act.ledger_id := record ->> 'ledger_id';
  act.record := record;
  act.operator := nullif(current_setting('ledgerctl.operator', true), '');
  act.database_role := session_user;
  act.program := current_setting('application_name');
  act.hash := administration_act_hash(previous.hash, act);
  INSERT INTO administration_acts SELECT act.*;
END
$$;
REVOKE EXECUTE ON FUNCTION append_administration_act(text, text, jsonb) FROM PUBLIC;

-- Runs as the owner: whoever serves with another role needs no right to write acts.
CREATE FUNCTION record_administration_act() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  CASE TG_OP
    WHEN 'INSERT' THEN
      PERFORM append_administration_act('made', TG_TABLE_NAME, to_jsonb(NEW));
    WHEN 'UPDATE' THEN
      PERFORM append_administration_act('changed', TG_TABLE_NAME, to_jsonb(NEW));
    ELSE
      PERFORM append_administration_act('removed', TG_TABLE_NAME, to_jsonb(OLD));
  END CASE;
  RETURN NULL;
END
$$;

DO $$
DECLARE
  recorded text;
  adopted jsonb;
BEGIN
  -- Times in records are in UTC, whatever a session says; nobody can put a table of their own in between; and the
  -- last act is found by its number, also in plans that were made while the table was empty.
  EXECUTE format(
    'ALTER FUNCTION record_administration_act() SET TimeZone = ''UTC'' SET enable_seqscan = off
       SET search_path = %I, pg_temp',
    current_schema());
  FOREACH recorded IN ARRAY ARRAY['organizations', 'api_keys', 'ledgers', 'ledger_states', 'accounts',
                                  'asset_rules', 'period_closes']
  LOOP
    -- At COMMIT, when the transaction waits for nobody else any more.
    EXECUTE format(
      'CREATE CONSTRAINT TRIGGER %I AFTER INSERT OR DELETE ON %I DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION record_administration_act()',
      recorded || '_recorded', recorded);
    EXECUTE format(
      'CREATE CONSTRAINT TRIGGER %I AFTER UPDATE ON %I DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
         EXECUTE FUNCTION record_administration_act()',
      recorded || '_changes_recorded', recorded);
  END LOOP;
  -- What was there before there was a record.
  SET LOCAL TimeZone = 'UTC';
  SET LOCAL enable_seqscan = off;
  FOREACH recorded IN ARRAY ARRAY['organizations', 'api_keys', 'ledgers', 'ledger_states', 'accounts',
                                  'asset_rules', 'period_closes']
  LOOP
    FOR adopted IN EXECUTE format('SELECT to_jsonb(t) FROM %I AS t ORDER BY t', recorded)
    LOOP
      PERFORM append_administration_act('adopted', recorded, adopted);
    END LOOP;
  END LOOP;
END
$$;

COMMENT ON TABLE administration_acts IS
  'An act of administration: one row of another table that was made, changed or removed. Triggers write it. Never changes.';
COMMENT ON COLUMN administration_acts.number IS '1, 2, 3 … without gaps.';
COMMENT ON COLUMN administration_acts.kind IS
  'What was done to the row; adopted: it was there before acts were recorded.';
COMMENT ON COLUMN administration_acts.subject IS 'The table of the row.';
COMMENT ON COLUMN administration_acts.ledger_id IS 'The ledger of the row; null where it belongs to none.';
COMMENT ON COLUMN administration_acts.record IS 'The row after the act; before it, where it was removed.';
COMMENT ON COLUMN administration_acts.operator IS
  'The user of the operating system who ran the program, as the program says; null where it does not say.';
COMMENT ON COLUMN administration_acts.database_role IS 'The role that was logged in.';
COMMENT ON COLUMN administration_acts.program IS 'The application_name of the connection.';
COMMENT ON COLUMN administration_acts.hash IS
  'SHA-256 over the hash of the act before and over the bytes of this one.';
COMMENT ON FUNCTION administration_act_hash(bytea, administration_acts) IS
  'The hash of an act that follows an act with another hash.';
COMMENT ON FUNCTION append_administration_act(text, text, jsonb) IS
  'Appends an act to the record. Not for other roles than the owner.';
COMMENT ON FUNCTION record_administration_act() IS
  'Appends what was done to a row to the record of administration.';
