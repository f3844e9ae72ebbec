-- additive
-- What became of the mentions of agents. A mention was resumed when it was acknowledged.
-- sender_id is set in the entries of mentions of agents that run outside of the server;
-- answered_by is the message with which the agent answered, or empty.
ALTER TABLE inbox_entries ADD COLUMN sender_id TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox_entries ADD COLUMN delivered_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE inbox_entries ADD COLUMN via TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox_entries ADD COLUMN answered_by TEXT NOT NULL DEFAULT '';
CREATE INDEX inbox_entries_unanswered ON inbox_entries (session_id, space_id, entity_id, sender_id, seq) WHERE sender_id <> '' AND answered_by = '';
