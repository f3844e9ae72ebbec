-- additive
-- The last report of each machine about each agent that it runs.
CREATE TABLE runner_agents (
  session_id  TEXT NOT NULL,
  runner      TEXT NOT NULL,
  agent_id    TEXT NOT NULL,
  key_id      TEXT,
  enrolled_at BIGINT NOT NULL,
  seen_at     BIGINT NOT NULL,
  report      TEXT   NOT NULL,
  PRIMARY KEY (session_id, runner, agent_id)
);
CREATE INDEX runner_agents_of_agent ON runner_agents (session_id, agent_id, seen_at);
