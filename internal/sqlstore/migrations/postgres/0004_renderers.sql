-- Web pages that show the calls of tools. page is NULL in the last version of a
-- renderer that is deleted: its row keeps the number from being given again.
CREATE TABLE renderers (
  session_id TEXT COLLATE "C" NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  version    BIGINT           NOT NULL,
  hash       TEXT             NOT NULL,
  size       BIGINT           NOT NULL,
  created_at BIGINT           NOT NULL,
  page       BYTEA,
  PRIMARY KEY (session_id, name, version)
);
