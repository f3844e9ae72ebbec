-- The one row of the database itself: its name, and the last message (doc)
-- whose words the search index holds.
CREATE TABLE store (
  epoch   TEXT   NOT NULL,
  indexed BIGINT NOT NULL
);
INSERT INTO store (epoch, indexed) VALUES (lower(hex(randomblob(8))), 0);

-- A deleted session keeps its row, so that its id stays taken.
CREATE TABLE sessions (
  id         TEXT    NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  status     TEXT    NOT NULL,
  created_at BIGINT  NOT NULL,
  closed_at  BIGINT,
  deleted    BOOLEAN NOT NULL DEFAULT FALSE
) WITHOUT ROWID;

-- A deleted entity keeps its row, so that its id stays taken and its messages
-- keep a name.
CREATE TABLE entities (
  session_id   TEXT   NOT NULL,
  id           TEXT   NOT NULL,
  kind         TEXT   NOT NULL,
  name         TEXT   NOT NULL,
  description  TEXT   NOT NULL,
  external_id  TEXT,
  metadata     TEXT   NOT NULL,
  created_at   BIGINT NOT NULL,
  last_seen_at BIGINT,
  deleted_at   BIGINT,
  PRIMARY KEY (session_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entities_external ON entities (session_id, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE spaces (
  session_id     TEXT    NOT NULL,
  id             TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  status         TEXT    NOT NULL,
  summary        TEXT,
  admin_agent_id TEXT,
  show_reasoning BOOLEAN NOT NULL,
  metadata       TEXT    NOT NULL,
  last_seq       BIGINT  NOT NULL,
  created_at     BIGINT  NOT NULL,
  closed_at      BIGINT,
  PRIMARY KEY (session_id, id)
) WITHOUT ROWID;

-- place orders the members of a space as they joined.
CREATE TABLE members (
  session_id TEXT   NOT NULL,
  space_id   TEXT   NOT NULL,
  entity_id  TEXT   NOT NULL,
  place      BIGINT NOT NULL,
  joined_at  BIGINT NOT NULL,
  PRIMARY KEY (session_id, space_id, entity_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX members_place ON members (session_id, space_id, place);
CREATE INDEX members_entity ON members (session_id, entity_id, space_id);

-- doc numbers the messages of the whole database in the order of their commits.
-- mentions and dropped_mentions are ids with spaces between.
-- A message that is one finished text keeps it in text, with the part's id in
-- part_id; any other keeps its parts as JSON.
CREATE TABLE messages (
  doc              INTEGER PRIMARY KEY,
  session_id       TEXT   NOT NULL,
  space_id         TEXT   NOT NULL,
  seq              BIGINT NOT NULL,
  id               TEXT   NOT NULL,
  entity_id        TEXT   NOT NULL,
  run_id           TEXT,
  status           TEXT   NOT NULL,
  mentions         TEXT,
  dropped_mentions TEXT,
  created_at       BIGINT NOT NULL,
  updated_at       BIGINT NOT NULL,
  part_id          TEXT,
  text             TEXT,
  parts            TEXT,
  post_scope       TEXT,
  post_key         TEXT,
  post_hash        TEXT,
  UNIQUE (session_id, space_id, seq)
);
CREATE UNIQUE INDEX messages_post ON messages (session_id, post_scope, post_key) WHERE post_key IS NOT NULL;

-- The words of the messages; rowid is a message's doc.
CREATE VIRTUAL TABLE search USING fts5 (words, content='', contentless_delete=1, detail=none, tokenize='ascii');

-- The last place that was given in each inbox.
CREATE TABLE inboxes (
  session_id TEXT   NOT NULL,
  entity_id  TEXT   NOT NULL,
  last_place BIGINT NOT NULL,
  PRIMARY KEY (session_id, entity_id)
) WITHOUT ROWID;

-- What is unread: acknowledging deletes.
CREATE TABLE inbox (
  session_id TEXT   NOT NULL,
  entity_id  TEXT   NOT NULL,
  place      BIGINT NOT NULL,
  space_id   TEXT   NOT NULL,
  seq        BIGINT NOT NULL,
  reason     TEXT   NOT NULL,
  delivery   BIGINT NOT NULL,
  PRIMARY KEY (session_id, entity_id, place)
) WITHOUT ROWID;
CREATE INDEX inbox_space ON inbox (session_id, entity_id, space_id, seq, reason);
CREATE INDEX inbox_mentions ON inbox (session_id, entity_id, place) WHERE reason <> 'message';

-- Which keys acknowledge explicitly.
CREATE TABLE explicit_keys (
  key_id     TEXT NOT NULL,
  session_id TEXT NOT NULL,
  entity_id  TEXT NOT NULL,
  PRIMARY KEY (key_id, session_id, entity_id)
) WITHOUT ROWID;

-- space_id and entity_id are empty where there is none.
CREATE TABLE events (
  session_id TEXT   NOT NULL,
  place      BIGINT NOT NULL,
  space_id   TEXT   NOT NULL,
  entity_id  TEXT   NOT NULL,
  type       TEXT   NOT NULL,
  data       TEXT   NOT NULL,
  PRIMARY KEY (session_id, place)
);
CREATE INDEX events_space ON events (session_id, space_id, place);

-- Up to which place events of a space, and of those the ones about an entity,
-- were trimmed.
CREATE TABLE event_floors (
  session_id TEXT   NOT NULL,
  space_id   TEXT   NOT NULL,
  entity_id  TEXT   NOT NULL,
  place      BIGINT NOT NULL,
  PRIMARY KEY (session_id, space_id, entity_id)
) WITHOUT ROWID;

CREATE TABLE keys (
  id           TEXT   NOT NULL PRIMARY KEY,
  hash         TEXT   NOT NULL UNIQUE,
  role         TEXT   NOT NULL,
  session_id   TEXT,
  entity_id    TEXT,
  name         TEXT   NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT,
  last_used_at BIGINT
) WITHOUT ROWID;
CREATE INDEX keys_entity ON keys (session_id, entity_id);

CREATE TABLE answers (
  session_id TEXT   NOT NULL,
  scope      TEXT   NOT NULL,
  route      TEXT   NOT NULL,
  key        TEXT   NOT NULL,
  hash       TEXT   NOT NULL,
  body       BLOB   NOT NULL,
  at         BIGINT NOT NULL,
  PRIMARY KEY (session_id, scope, route, key)
) WITHOUT ROWID;
CREATE INDEX answers_at ON answers (at);
