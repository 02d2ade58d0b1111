-- Up Migration

-- The two logs of each ledger, as transparency logs: their trees, the checkpoints that were signed, and the cosignatures of
-- witnesses. Trees are derived from entries and closes. Checkpoints are kept for good: what was shown once is never changed.

-- Where a log stands: signed by whom, in which database, or halted. Changes when a log begins, is halted, resumed or
-- begun anew; each change is an act of administration.
CREATE TABLE log_states (
  ledger_id uuid NOT NULL,
  log text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  system_identifier text COLLATE "C" NOT NULL,
  timeline text COLLATE "C" NOT NULL,
  halted_at timestamptz,
  halt_reason text,
  CONSTRAINT log_states_pkey PRIMARY KEY (ledger_id, log),
  CONSTRAINT log_states_log_check CHECK (log IN ('journal', 'closes')),
  CONSTRAINT log_states_generation_check CHECK (generation >= 1)
);

-- The tree of a log so far. The lock on this row puts those who extend it and sign it in order.
CREATE TABLE log_heads (
  ledger_id uuid NOT NULL,
  log text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  subtrees bytea NOT NULL,
  signed_size bigint NOT NULL,
  signed_at timestamptz,
  checkpoint_count bigint NOT NULL,
  cosignature_count bigint NOT NULL,
  CONSTRAINT log_heads_pkey PRIMARY KEY (ledger_id, log),
  CONSTRAINT log_heads_log_check CHECK (log IN ('journal', 'closes'))
);

CREATE TABLE log_subtrees (
  ledger_id uuid NOT NULL,
  log text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  level smallint NOT NULL,
  index bigint NOT NULL,
  root bytea NOT NULL,
  CONSTRAINT log_subtrees_pkey PRIMARY KEY (ledger_id, log, generation, level, index),
  CONSTRAINT log_subtrees_log_check CHECK (log IN ('journal', 'closes')),
  CONSTRAINT log_subtrees_root_check CHECK (octet_length(root) = 32)
);

CREATE TABLE log_checkpoints (
  ledger_id uuid NOT NULL,
  log text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  size bigint NOT NULL,
  number bigint NOT NULL,
  root_hash bytea NOT NULL,
  origin text COLLATE "C" NOT NULL,
  verifier_key text COLLATE "C" NOT NULL,
  signatures text NOT NULL,
  issued_at timestamptz NOT NULL,
  system_identifier text COLLATE "C" NOT NULL,
  timeline text COLLATE "C" NOT NULL,
  CONSTRAINT log_checkpoints_pkey PRIMARY KEY (ledger_id, log, generation, size),
  CONSTRAINT log_checkpoints_log_check CHECK (log IN ('journal', 'closes')),
  CONSTRAINT log_checkpoints_number_key UNIQUE (ledger_id, log, generation, number),
  CONSTRAINT log_checkpoints_size_check CHECK (size >= 1),
  CONSTRAINT log_checkpoints_root_hash_check CHECK (octet_length(root_hash) = 32)
);

CREATE TABLE log_cosignatures (
  ledger_id uuid NOT NULL,
  log text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  size bigint NOT NULL,
  verifier_key text COLLATE "C" NOT NULL,
  signature bytea NOT NULL,
  cosigned_at timestamptz NOT NULL,
  CONSTRAINT log_cosignatures_pkey PRIMARY KEY (ledger_id, log, generation, size, verifier_key),
  CONSTRAINT log_cosignatures_log_check CHECK (log IN ('journal', 'closes'))
);

DO $$
DECLARE
  kept text;
  recorder text := CASE WHEN to_regclass('ledger_acts') IS NULL
                        THEN 'record_administration_act' ELSE 'record_ledger_act' END;
BEGIN
  FOREACH kept IN ARRAY ARRAY['log_subtrees', 'log_checkpoints', 'log_cosignatures'] LOOP
    EXECUTE format(
      'CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()',
      kept || '_append_only', kept);
    EXECUTE format(
      'CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()',
      kept || '_no_truncate', kept);
  END LOOP;
  -- As migration 0007 has them; where the database is spread over nodes, each ledger has a record of its own.
  EXECUTE format(
    'CREATE CONSTRAINT TRIGGER log_states_recorded AFTER INSERT OR DELETE ON log_states
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION %I()', recorder);
  EXECUTE format(
    'CREATE CONSTRAINT TRIGGER log_states_changes_recorded AFTER UPDATE ON log_states
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
       EXECUTE FUNCTION %I()', recorder);
END
$$;

COMMENT ON TABLE log_states IS
  'Where each of a ledger''s two logs stands. Changes when a log begins, is halted, resumed or begun anew; each change is recorded.';
COMMENT ON COLUMN log_states.generation IS '1, and one more each time that the log was begun anew.';
COMMENT ON COLUMN log_states.system_identifier IS
  'Of the database in which the log may be signed; empty before its first checkpoint.';
COMMENT ON COLUMN log_states.timeline IS 'Of the write-ahead log of that database, in hex.';
COMMENT ON COLUMN log_states.halted_at IS 'Since when nothing is signed; null where it is.';
COMMENT ON COLUMN log_states.halt_reason IS 'Why nothing is signed.';
COMMENT ON TABLE log_heads IS
  'The tree of a log so far: an RFC 6962 tree over the leaves of entries by sequence, or of closes by number. Derived; changes as it grows.';
COMMENT ON COLUMN log_heads.size IS 'Leaves in the tree. It is built anew for each generation.';
COMMENT ON COLUMN log_heads.subtrees IS
  'The roots of the perfect subtrees that the leaves fall into, largest first, 32 bytes each.';
COMMENT ON COLUMN log_heads.signed_size IS 'Of the newest checkpoint; 0 before the first of the generation.';
COMMENT ON COLUMN log_heads.signed_at IS 'When the newest checkpoint was issued.';
COMMENT ON COLUMN log_heads.checkpoint_count IS 'How many checkpoints the generation has.';
COMMENT ON COLUMN log_heads.cosignature_count IS 'How many cosignatures there are of all generations.';
COMMENT ON TABLE log_subtrees IS
  'The root of a perfect subtree of 256 leaves or more, from which proofs are made. Derived. Never changes.';
COMMENT ON COLUMN log_subtrees.level IS 'The subtree has 2^level leaves.';
COMMENT ON COLUMN log_subtrees.index IS 'Its first leaf is index · 2^level, counted from 0.';
COMMENT ON TABLE log_checkpoints IS 'A signed checkpoint of a log. Never changes.';
COMMENT ON COLUMN log_checkpoints.size IS 'Leaves of the tree that was signed.';
COMMENT ON COLUMN log_checkpoints.number IS '1, 2, 3 … in the generation.';
COMMENT ON COLUMN log_checkpoints.verifier_key IS 'Of the key that the log had; keys that were rotated out sign beside it.';
COMMENT ON COLUMN log_checkpoints.signatures IS 'The lines of the log''s own signatures, as in the note.';
COMMENT ON COLUMN log_checkpoints.system_identifier IS 'Of the database that it was signed in.';
COMMENT ON COLUMN log_checkpoints.timeline IS 'Of the write-ahead log of that database, in hex.';
COMMENT ON TABLE log_cosignatures IS 'The cosignature of a witness over a checkpoint. Never changes.';
COMMENT ON COLUMN log_cosignatures.verifier_key IS 'Of the witness.';
COMMENT ON COLUMN log_cosignatures.signature IS 'The time and the Ed25519 signature (C2SP tlog-cosignature).';
COMMENT ON COLUMN log_cosignatures.cosigned_at IS 'When the witness says that it cosigned.';
