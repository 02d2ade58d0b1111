-- Up Migration

-- What a key is for, in its maker's words. Older programs make keys without one.
DO $$
BEGIN
  -- As in migration 0013.
  ALTER TABLE api_keys ADD COLUMN name text COLLATE "C";
END
$$;

COMMENT ON COLUMN api_keys.name IS 'Null: the key was made without one. Several keys may have the same.';
