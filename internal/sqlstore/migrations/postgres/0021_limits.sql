-- What the model calls that one message sets off may use; 0 is no limit. Sessions of
-- before have none.
ALTER TABLE sessions ADD COLUMN max_request_cost DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN max_request_tokens BIGINT NOT NULL DEFAULT 0;
-- What the runs of one root have used or reserved.
CREATE TABLE request_spending (
  session_id TEXT COLLATE "C" NOT NULL,
  root       TEXT COLLATE "C" NOT NULL,
  cost       DOUBLE PRECISION NOT NULL,
  tokens     BIGINT NOT NULL,
  PRIMARY KEY (session_id, root)
);
