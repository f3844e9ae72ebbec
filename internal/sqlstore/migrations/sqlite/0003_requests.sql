-- What models were sent: each text once in its session, under its SHA-256 in
-- base64.
CREATE TABLE model_texts (
  session_id TEXT NOT NULL,
  hash       TEXT NOT NULL,
  body       TEXT NOT NULL,
  PRIMARY KEY (session_id, hash)
);

-- What was sent for a step: system and tools are hashes of texts, messages is a
-- folded list of such, in JSON.
CREATE TABLE run_requests (
  session_id TEXT   NOT NULL,
  run_id     TEXT   NOT NULL,
  place      BIGINT NOT NULL,
  model      TEXT   NOT NULL,
  system     TEXT   NOT NULL,
  tools      TEXT   NOT NULL,
  messages   TEXT   NOT NULL,
  PRIMARY KEY (session_id, run_id, place)
);

CREATE INDEX runs_created ON runs (session_id, created_at, number);
