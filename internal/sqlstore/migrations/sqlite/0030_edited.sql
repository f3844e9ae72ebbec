-- When a message was edited last, and what it said before each edit: parts as in messages,
-- said_at is since when it said that.
ALTER TABLE messages ADD COLUMN edited_at BIGINT;
CREATE TABLE message_versions (
  session_id       TEXT   NOT NULL,
  message_id       TEXT   NOT NULL,
  version          BIGINT NOT NULL,
  said_at          BIGINT NOT NULL,
  mentions         TEXT,
  dropped_mentions TEXT,
  part_id          TEXT,
  text             TEXT,
  parts            TEXT,
  PRIMARY KEY (session_id, message_id, version)
);
-- The message that an event shows as it is when the event is read.
ALTER TABLE events ADD COLUMN message_id TEXT;
