-- Which connection has changed a session last, and how many transactions have changed anything
-- else: what a connection remembers of a session is right as long as both are the same.
ALTER TABLE sessions ADD COLUMN writer TEXT NOT NULL DEFAULT '';
ALTER TABLE store ADD COLUMN changes BIGINT NOT NULL DEFAULT 0;
