-- Up Migration

-- What servers commit to, again and again, to know whether a write would succeed now. Few rows, each of which is
-- updated in place: it does not grow.
CREATE TABLE commit_probes (
  slot smallint NOT NULL,
  probed_at timestamptz NOT NULL,
  CONSTRAINT commit_probes_pkey PRIMARY KEY (slot)
) WITH (fillfactor = 50);

COMMENT ON TABLE commit_probes IS
  'What each server process commits to, once a second, so that /readyz is true. Nothing of the books is here.';
COMMENT ON COLUMN commit_probes.slot IS
  '0 to 63, drawn by each process, so that processes do not wait for each other.';
COMMENT ON COLUMN commit_probes.probed_at IS 'When a process last committed to the row.';
