-- When a message was deleted: its row stays, without its text. A message is named by its
-- id alone, so all ids have an index, which takes the place of that of the composite ones.
ALTER TABLE messages ADD COLUMN deleted_at BIGINT;
DROP INDEX messages_composite;
CREATE INDEX messages_by_id ON messages (session_id, id);
