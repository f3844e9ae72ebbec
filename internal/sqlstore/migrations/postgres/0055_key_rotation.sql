-- additive
-- How long after a use a key ends at the earliest, and the key that it was rotated to.
ALTER TABLE keys ADD COLUMN renew_ms BIGINT;
ALTER TABLE keys ADD COLUMN replaced_by TEXT COLLATE "C";
