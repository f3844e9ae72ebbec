-- additive
-- How long a session keeps messages, runs and model requests, in milliseconds; 0 is no limit of
-- its own.
ALTER TABLE sessions ADD COLUMN keep_messages BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN keep_runs BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN keep_prompts BIGINT NOT NULL DEFAULT 0;
-- What one of the servers does for all from time to time, and until when none begins it again.
CREATE TABLE duties (
  name       TEXT NOT NULL PRIMARY KEY,
  done_until BIGINT NOT NULL
) WITHOUT ROWID;
