-- Hosted agents: hosted_version is the configuration in force, NULL for an
-- entity that runs elsewhere. A member repeats whether it is hosted, so that a
-- post finds those of its space at once, and finds at once that there are none.
ALTER TABLE entities ADD COLUMN hosted_version BIGINT;
CREATE INDEX entities_hosted ON entities (session_id, id) WHERE hosted_version IS NOT NULL;
ALTER TABLE members ADD COLUMN hosted BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX members_hosted ON members (session_id, space_id, place) WHERE hosted;

CREATE TABLE hosted_agents (
  session_id     TEXT   NOT NULL,
  agent_id       TEXT   NOT NULL,
  version        BIGINT NOT NULL,
  hash           TEXT   NOT NULL,
  config         TEXT   NOT NULL,
  created_at     BIGINT NOT NULL,
  on_new_message TEXT   NOT NULL,
  settle_ms      BIGINT NOT NULL,
  max_steps      BIGINT NOT NULL,
  PRIMARY KEY (session_id, agent_id, version)
);

-- Composite messages: state is their composer's.
ALTER TABLE messages ADD COLUMN state TEXT;
CREATE INDEX messages_run ON messages (session_id, run_id, doc) WHERE run_id IS NOT NULL;
CREATE INDEX messages_composite ON messages (session_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX messages_streaming ON messages (session_id, space_id, seq) WHERE status = 'streaming';

-- Messages (doc) whose words must be indexed, or indexed again, although the
-- index has passed them: they were closed late.
CREATE TABLE late (
  doc INTEGER PRIMARY KEY
);

-- Where a message stands in a chain of agents.
CREATE TABLE message_causes (
  session_id TEXT    NOT NULL,
  message_id TEXT    NOT NULL,
  root       TEXT    NOT NULL,
  depth      BIGINT  NOT NULL,
  linked     BOOLEAN NOT NULL,
  PRIMARY KEY (session_id, message_id)
);

-- An event without a space is told by its run alone.
ALTER TABLE events ADD COLUMN run_id TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN private BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX events_run ON events (session_id, run_id, place) WHERE run_id <> '';

-- number orders the runs of the whole database as they were stored. trigger,
-- usage and error are JSON. event_floor is the place up to which events of the
-- run were trimmed.
CREATE TABLE runs (
  number       INTEGER PRIMARY KEY,
  session_id   TEXT    NOT NULL,
  id           TEXT    NOT NULL,
  agent_id     TEXT    NOT NULL,
  status       TEXT    NOT NULL,
  trigger_data TEXT    NOT NULL,
  cause_root   TEXT    NOT NULL,
  depth        BIGINT  NOT NULL,
  linked       BOOLEAN NOT NULL,
  steps        BIGINT  NOT NULL,
  max_steps    BIGINT  NOT NULL,
  usage        TEXT    NOT NULL,
  error        TEXT,
  created_at   BIGINT  NOT NULL,
  started_at   BIGINT,
  ended_at     BIGINT,
  version      BIGINT  NOT NULL,
  space_id     TEXT    NOT NULL,
  requester    TEXT    NOT NULL,
  awake        BOOLEAN NOT NULL,
  not_before   BIGINT  NOT NULL,
  cancel       BOOLEAN NOT NULL,
  owner        TEXT    NOT NULL,
  lease_until  BIGINT,
  generation   BIGINT  NOT NULL,
  conversation TEXT    NOT NULL,
  began        BIGINT  NOT NULL,
  ended        BIGINT  NOT NULL,
  turn         TEXT,
  revision     BIGINT  NOT NULL,
  event_floor  BIGINT  NOT NULL DEFAULT 0,
  UNIQUE (session_id, id)
);
CREATE INDEX runs_session ON runs (session_id, number);
CREATE INDEX runs_agent ON runs (session_id, agent_id, number);
CREATE INDEX runs_live ON runs (session_id, number) WHERE ended_at IS NULL;
CREATE INDEX runs_live_agent ON runs (session_id, agent_id, number) WHERE ended_at IS NULL;
CREATE INDEX runs_awake ON runs (number) WHERE awake;
CREATE INDEX runs_held ON runs (number) WHERE lease_until IS NOT NULL;
CREATE INDEX runs_blocks ON runs (session_id, conversation, began) WHERE ended > 0;

-- The spaces that a run began in or wrote to.
CREATE TABLE run_spaces (
  session_id TEXT   NOT NULL,
  space_id   TEXT   NOT NULL,
  number     BIGINT NOT NULL,
  PRIMARY KEY (session_id, space_id, number)
) WITHOUT ROWID;
CREATE INDEX run_spaces_run ON run_spaces (number, space_id);

-- step is JSON, data the executor's.
CREATE TABLE run_steps (
  session_id TEXT    NOT NULL,
  run_id     TEXT    NOT NULL,
  place      BIGINT  NOT NULL,
  done       BOOLEAN NOT NULL,
  started_at BIGINT  NOT NULL,
  ended_at   BIGINT,
  step       TEXT    NOT NULL,
  data       TEXT,
  PRIMARY KEY (session_id, run_id, place)
);

CREATE TABLE conversations (
  session_id TEXT   NOT NULL,
  id         TEXT   NOT NULL,
  agent_id   TEXT   NOT NULL,
  clock      BIGINT NOT NULL,
  data       TEXT,
  PRIMARY KEY (session_id, id)
);

-- What runs wait for, in the order of number. reply_space is set for a wait for
-- a reply. options, policy, reply and answer are JSON; votes are ids with spaces
-- between.
CREATE TABLE pending_actions (
  number        INTEGER PRIMARY KEY,
  session_id    TEXT    NOT NULL,
  id            TEXT    NOT NULL,
  kind          TEXT    NOT NULL,
  run_id        TEXT    NOT NULL,
  agent_id      TEXT    NOT NULL,
  space_id      TEXT,
  message_id    TEXT,
  part_id       TEXT,
  tool_call_id  TEXT    NOT NULL,
  tool_name     TEXT    NOT NULL,
  args          TEXT,
  question      TEXT,
  options       TEXT,
  result_schema TEXT,
  status        TEXT    NOT NULL,
  expires_at    BIGINT,
  created_at    BIGINT  NOT NULL,
  answered_by   TEXT,
  answered_at   BIGINT,
  request       TEXT    NOT NULL,
  hash          TEXT    NOT NULL,
  requester     TEXT    NOT NULL,
  target        TEXT    NOT NULL,
  policy        TEXT    NOT NULL,
  votes         TEXT,
  reply         TEXT,
  reply_space   TEXT,
  due           BIGINT,
  answer        TEXT,
  answer_hash   TEXT    NOT NULL,
  taken         BOOLEAN NOT NULL,
  UNIQUE (session_id, id)
);
CREATE INDEX pending_run ON pending_actions (session_id, run_id, id);
CREATE INDEX pending_space ON pending_actions (session_id, space_id, id);
CREATE INDEX pending_open ON pending_actions (session_id, id) WHERE status = 'open';
CREATE INDEX pending_open_space ON pending_actions (session_id, space_id, id) WHERE status = 'open';
CREATE INDEX pending_reply ON pending_actions (session_id, reply_space, number) WHERE status = 'open' AND reply_space IS NOT NULL;
CREATE INDEX pending_due ON pending_actions (due) WHERE status = 'open' AND due IS NOT NULL;

CREATE TABLE plans (
  session_id   TEXT   NOT NULL,
  id           TEXT   NOT NULL,
  agent_id     TEXT   NOT NULL,
  name         TEXT   NOT NULL,
  description  TEXT   NOT NULL,
  instruction  TEXT   NOT NULL,
  cron         TEXT,
  time_zone    TEXT   NOT NULL,
  scheduled_at BIGINT,
  status       TEXT   NOT NULL,
  next_run_at  BIGINT,
  last_run_at  BIGINT,
  last_run_id  TEXT,
  created_at   BIGINT NOT NULL,
  PRIMARY KEY (session_id, id)
);
CREATE INDEX plans_agent ON plans (session_id, agent_id, id);
CREATE INDEX plans_due ON plans (next_run_at) WHERE status = 'pending' AND next_run_at IS NOT NULL;

-- place orders the notes of an agent as they were made.
CREATE TABLE goals (
  session_id   TEXT    NOT NULL,
  agent_id     TEXT    NOT NULL,
  id           TEXT    NOT NULL,
  place        BIGINT  NOT NULL,
  description  TEXT    NOT NULL,
  priority     BIGINT  NOT NULL,
  is_long_term BOOLEAN NOT NULL,
  is_completed BOOLEAN NOT NULL,
  created_at   BIGINT  NOT NULL,
  updated_at   BIGINT  NOT NULL,
  PRIMARY KEY (session_id, agent_id, id)
);
CREATE UNIQUE INDEX goals_place ON goals (session_id, agent_id, place);

CREATE TABLE memories (
  session_id TEXT   NOT NULL,
  agent_id   TEXT   NOT NULL,
  id         TEXT   NOT NULL,
  place      BIGINT NOT NULL,
  topic      TEXT   NOT NULL,
  content    TEXT   NOT NULL,
  metadata   TEXT   NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (session_id, agent_id, id)
);
CREATE UNIQUE INDEX memories_place ON memories (session_id, agent_id, place);

-- day is the date in UTC.
CREATE TABLE usage (
  session_id   TEXT   NOT NULL,
  run_id       TEXT   NOT NULL,
  step         BIGINT NOT NULL,
  agent_id     TEXT   NOT NULL,
  model        TEXT   NOT NULL,
  at           BIGINT NOT NULL,
  day          TEXT   NOT NULL,
  input        BIGINT NOT NULL,
  cached_input BIGINT NOT NULL,
  output       BIGINT NOT NULL,
  reasoning    BIGINT NOT NULL,
  cost         REAL   NOT NULL,
  PRIMARY KEY (session_id, run_id, step)
);
CREATE INDEX usage_at ON usage (session_id, at);
CREATE INDEX usage_agent ON usage (session_id, agent_id, at);

-- by_entity is empty for no entity.
CREATE TABLE files (
  session_id TEXT   NOT NULL,
  id         TEXT   NOT NULL,
  name       TEXT   NOT NULL,
  media_type TEXT   NOT NULL,
  size       BIGINT NOT NULL,
  url        TEXT   NOT NULL,
  by_entity  TEXT   NOT NULL,
  at         BIGINT NOT NULL,
  data       BLOB   NOT NULL,
  PRIMARY KEY (session_id, id)
);

-- The spaces that show a file.
CREATE TABLE file_spaces (
  session_id TEXT NOT NULL,
  file_id    TEXT NOT NULL,
  space_id   TEXT NOT NULL,
  PRIMARY KEY (session_id, file_id, space_id)
) WITHOUT ROWID;
