-- additive
-- The traceparent (W3C Trace Context) of the request that started a run; NULL for none.
ALTER TABLE runs ADD COLUMN trace_parent TEXT COLLATE "C";
