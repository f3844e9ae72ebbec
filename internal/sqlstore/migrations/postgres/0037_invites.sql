-- Invitations that were not accepted yet, by the hash of the code in their link.
CREATE TABLE invites (
    hash         TEXT   NOT NULL PRIMARY KEY,
    id           TEXT   NOT NULL UNIQUE,
    session_id   TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    session_role TEXT   NOT NULL,
    spaces       TEXT   NOT NULL,
    created_by   TEXT,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX invites_of_session ON invites (session_id, id);
