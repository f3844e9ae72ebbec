-- The last sign of life of a run, as JSON, and when a stalled one gave it.
ALTER TABLE runs ADD COLUMN activity TEXT;
ALTER TABLE runs ADD COLUMN stalled_since BIGINT;
-- The last failure of an agent, as JSON, until a run of it succeeds.
ALTER TABLE entities ADD COLUMN last_failure TEXT;
