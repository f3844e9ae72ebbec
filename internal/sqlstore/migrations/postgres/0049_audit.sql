-- additive
-- The audit log: one chain for each session, and one, whose session is empty, for the server.
CREATE TABLE audit (
  session_id  TEXT COLLATE "C" NOT NULL,
  seq         BIGINT NOT NULL,
  at          BIGINT NOT NULL,
  act         TEXT   NOT NULL,
  decision    TEXT   NOT NULL,
  role        TEXT   NOT NULL,
  key_id      TEXT   NOT NULL,
  sign_in     TEXT   NOT NULL,
  entity_id   TEXT   NOT NULL,
  acting_as   TEXT   NOT NULL,
  target_kind TEXT   NOT NULL,
  target_id   TEXT   NOT NULL,
  details     TEXT   NOT NULL,
  address     TEXT   NOT NULL,
  request_id  TEXT   NOT NULL,
  count       BIGINT NOT NULL,
  prev_hash   TEXT   NOT NULL,
  hash        TEXT   NOT NULL,
  PRIMARY KEY (session_id, seq)
);
-- The last record of each chain, which shows that records were removed after it.
CREATE TABLE audit_heads (
  session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  seq        BIGINT NOT NULL,
  hash       TEXT   NOT NULL
);
