-- Up Migration

-- When backups were taken, so that `ledgerctl doctor` can tell. A backup notes itself when its file is whole: it
-- is not in its own file.
CREATE TABLE backups (
  taken_at timestamptz NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT backups_pkey PRIMARY KEY (taken_at)
);

COMMENT ON TABLE backups IS
  'A backup that `ledgerctl backup` took. Nothing rests on it: it is what `ledgerctl doctor` tells.';
COMMENT ON COLUMN backups.taken_at IS 'Everything that was committed before is in the backup.';
COMMENT ON COLUMN backups.bytes IS 'The length of the file.';
