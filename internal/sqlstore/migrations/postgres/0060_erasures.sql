-- additive
-- Entities of which something remains to be erased, with the name that they had.
CREATE TABLE erasures (
  session_id TEXT COLLATE "C" NOT NULL,
  entity_id  TEXT COLLATE "C" NOT NULL,
  name       TEXT   NOT NULL,
  at         BIGINT NOT NULL,
  PRIMARY KEY (session_id, entity_id)
);
