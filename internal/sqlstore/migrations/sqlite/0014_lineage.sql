-- Each start of a server is a boot with a name of its own: a cursor says in which one
-- it was given, and a database that is an older copy does not know it.
CREATE TABLE lineage (
  number BIGINT NOT NULL PRIMARY KEY,
  boot   TEXT   NOT NULL UNIQUE
);

-- The place of the first event of a session that was written in a boot, if one was.
CREATE TABLE lineage_places (
  session_id  TEXT   NOT NULL,
  number      BIGINT NOT NULL,
  first_place BIGINT NOT NULL,
  PRIMARY KEY (session_id, number)
);
