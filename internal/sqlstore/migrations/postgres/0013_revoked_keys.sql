-- The hashes of keys that were revoked: a file that still has one must not bring it
-- back to life.
CREATE TABLE revoked_keys (
    hash       TEXT NOT NULL PRIMARY KEY,
    session_id TEXT
);
CREATE INDEX revoked_keys_of_session ON revoked_keys (session_id);
