-- additive
-- The browsers that show notifications to a person while no page is open: where a push service
-- accepts them, the keys that encrypt them, and what the person was notified of.
CREATE TABLE push_subscriptions (
  id           TEXT NOT NULL PRIMARY KEY,
  session_id   TEXT NOT NULL,
  entity_id    TEXT NOT NULL,
  key_id       TEXT   NOT NULL,
  sign_in_of   TEXT,
  device       TEXT   NOT NULL,
  endpoint     TEXT   NOT NULL UNIQUE,
  p256dh       TEXT   NOT NULL,
  auth         TEXT   NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  last_sent_at BIGINT,
  place        BIGINT NOT NULL,
  opened_at    BIGINT NOT NULL
);
CREATE INDEX push_subscriptions_of_entity ON push_subscriptions (session_id, entity_id, created_at, id);
-- The key with which the servers of the database prove themselves to push services, and which of
-- them sends, until when.
CREATE TABLE push_sender (
  id     BIGINT NOT NULL PRIMARY KEY,
  key    TEXT   NOT NULL,
  holder TEXT   NOT NULL,
  until  BIGINT NOT NULL
);
INSERT INTO push_sender (id, key, holder, until) VALUES (1, '', '', 0);
