-- Up Migration

-- Where a ledger's events are delivered to (webhooks), and how far each delivery has come. What there is is an act of
-- administration; how far it has come changes with each request, and is none.
CREATE TABLE deliveries (
  ledger_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  url text COLLATE "C" NOT NULL,
  events text[] COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  pause_reason text COLLATE "C",
  master_key_fingerprint text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT deliveries_pkey PRIMARY KEY (ledger_id, delivery_id),
  CONSTRAINT deliveries_status_check CHECK (status IN ('active', 'paused')),
  CONSTRAINT deliveries_pause_reason_check CHECK (pause_reason IN ('asked', 'failing', 'restored'))
);

CREATE TABLE delivery_progress (
  ledger_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  sequence bigint NOT NULL,
  close_number bigint NOT NULL,
  attempts integer NOT NULL,
  failing_since timestamptz,
  failure text,
  due_at timestamptz NOT NULL,
  leased_by uuid,
  leased_until timestamptz,
  CONSTRAINT delivery_progress_pkey PRIMARY KEY (ledger_id, delivery_id),
  CONSTRAINT delivery_progress_delivery_fkey FOREIGN KEY (ledger_id, delivery_id)
    REFERENCES deliveries (ledger_id, delivery_id) ON DELETE CASCADE,
  CONSTRAINT delivery_progress_sequence_check CHECK (sequence >= 0),
  CONSTRAINT delivery_progress_close_number_check CHECK (close_number >= 0)
);

DO $$
DECLARE
  -- As migration 0007 has them; where the database is spread over nodes, each ledger has a record of its own.
  recorder text := CASE WHEN to_regclass('ledger_acts') IS NULL
                        THEN 'record_administration_act' ELSE 'record_ledger_act' END;
BEGIN
  EXECUTE format(
    'CREATE CONSTRAINT TRIGGER deliveries_recorded AFTER INSERT OR DELETE ON deliveries
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION %I()', recorder);
  EXECUTE format(
    'CREATE CONSTRAINT TRIGGER deliveries_changes_recorded AFTER UPDATE ON deliveries
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)
       EXECUTE FUNCTION %I()', recorder);
END
$$;

COMMENT ON TABLE deliveries IS
  'Where a ledger''s events are delivered to. Each row that is made, changed or removed is an act of administration.';
COMMENT ON COLUMN deliveries.url IS 'https. Requests are sent to addresses that it resolves to at that moment.';
COMMENT ON COLUMN deliveries.events IS 'The kinds of events that are delivered.';
COMMENT ON COLUMN deliveries.pause_reason IS
  'Somebody asked for it, it failed for a day, or the database was restored from a backup.';
COMMENT ON COLUMN deliveries.master_key_fingerprint IS
  'Of the master key that the secret is derived from, with the delivery''s id. The secret is not in the database.';
COMMENT ON TABLE delivery_progress IS
  'How far a delivery has come, and which server works on it. Changes with each request.';
COMMENT ON COLUMN delivery_progress.sequence IS 'Of the last entry that was accepted, or needed no delivering.';
COMMENT ON COLUMN delivery_progress.close_number IS 'Of the last close, likewise.';
COMMENT ON COLUMN delivery_progress.attempts IS 'Failed since anything was accepted.';
COMMENT ON COLUMN delivery_progress.failing_since IS 'When the first of them failed.';
COMMENT ON COLUMN delivery_progress.failure IS 'Why the last of them failed.';
COMMENT ON COLUMN delivery_progress.due_at IS 'Before then nothing is tried.';
COMMENT ON COLUMN delivery_progress.leased_by IS 'The server process that works on it.';
COMMENT ON COLUMN delivery_progress.leased_until IS 'From then on another may.';
COMMENT ON COLUMN administration_acts.operator IS
  'Who acted, as the program says: the user of the operating system who ran it, or an API key; null where it does not say.';
