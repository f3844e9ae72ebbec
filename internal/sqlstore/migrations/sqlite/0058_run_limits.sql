-- additive
-- The limit at which a completed run had to answer, and its OpenTelemetry trace.
ALTER TABLE runs ADD COLUMN limit_reached TEXT;
ALTER TABLE runs ADD COLUMN trace_id TEXT;
