-- The servers that run on this database, and the secret that they share.
CREATE TABLE nodes (
  id         TEXT COLLATE "C"   NOT NULL PRIMARY KEY,
  name       TEXT   NOT NULL,
  version    TEXT   NOT NULL,
  bus        TEXT   NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL
);
ALTER TABLE store ADD COLUMN cluster_key TEXT NOT NULL DEFAULT '';
-- The lowest version that a program must know to use this database, see migrate.go.
ALTER TABLE store ADD COLUMN oldest_program BIGINT NOT NULL DEFAULT 29;
