-- additive
-- Runs that programs outside of the server execute: remote marks them and the versions of
-- their agents. A server that does not know the column would claim such a run and fail it.
ALTER TABLE hosted_agents ADD COLUMN remote BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE runs ADD COLUMN remote BOOLEAN NOT NULL DEFAULT FALSE;

-- What programs have reported about their runs in progress, a batch of lines in each row: n
-- is the number of its last line in its generation. The rows go with the end of the run.
CREATE TABLE run_work (
  session_id TEXT COLLATE "C" NOT NULL,
  run_id     TEXT COLLATE "C" NOT NULL,
  place      BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  n          BIGINT NOT NULL,
  data       TEXT   NOT NULL,
  PRIMARY KEY (session_id, run_id, place)
);
