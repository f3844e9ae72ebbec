-- What an entity may do in its session, and who answers for an agent. The person who
-- runs the server owns the session that every server has.
ALTER TABLE entities ADD COLUMN session_role TEXT NOT NULL DEFAULT 'member';
ALTER TABLE entities ADD COLUMN owner_id TEXT;
UPDATE entities SET session_role = 'owner' WHERE session_id = 'default' AND id = 'operator' AND kind = 'human';
CREATE INDEX keys_of_session ON keys (session_id, id);
