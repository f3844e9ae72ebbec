-- Decisions about permissions that count for later calls. space_id is NULL for calls
-- that no space shows, entity_id for a key that acts as no entity. requesters and args
-- are JSON.
CREATE TABLE remembered_decisions (
  session_id TEXT   NOT NULL,
  id         TEXT   NOT NULL,
  agent_id   TEXT   NOT NULL,
  tool_name  TEXT   NOT NULL,
  space_id   TEXT,
  requesters TEXT   NOT NULL,
  decision   TEXT   NOT NULL,
  scope      TEXT   NOT NULL,
  args_hash  TEXT   NOT NULL,
  args       TEXT,
  entity_id  TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (session_id, id)
);
CREATE INDEX remembered_of ON remembered_decisions (session_id, agent_id, tool_name);
CREATE INDEX remembered_until ON remembered_decisions (expires_at);
