-- What a front end sent with the message that started a run: its tools and its context, in
-- JSON. It can be large, and is read once for each execution of the run.
CREATE TABLE run_clients (
  session_id TEXT COLLATE "C" NOT NULL,
  run_id     TEXT COLLATE "C" NOT NULL,
  data       TEXT             NOT NULL,
  PRIMARY KEY (session_id, run_id)
);
