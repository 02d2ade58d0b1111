-- Up Migration

-- Whether closes of a ledger come in order: none is made behind entries that no close covers, and what lies
-- before the end of closed books is closed. Said when the ledger is made, and never changed.
ALTER TABLE ledgers ADD COLUMN closes_in_order boolean NOT NULL DEFAULT false;
