-- additive
-- What came of the last test whether a mention wakes an agent, as JSON.
ALTER TABLE entities ADD COLUMN wake_proof TEXT;
