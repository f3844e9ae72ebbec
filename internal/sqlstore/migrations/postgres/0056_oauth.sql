-- additive
-- Programs that have registered as OAuth clients, and the grants that people have given them. A grant
-- belongs to the key that is its access token.
CREATE TABLE oauth_clients (
    id            TEXT COLLATE "C"   NOT NULL PRIMARY KEY,
    name          TEXT   NOT NULL,
    redirect_uris TEXT   NOT NULL,
    created_at    BIGINT NOT NULL
);
CREATE TABLE oauth_grants (
    key_id       TEXT COLLATE "C"   NOT NULL PRIMARY KEY,
    session_id   TEXT COLLATE "C"   NOT NULL,
    client_id    TEXT COLLATE "C"   NOT NULL,
    redirect_uri TEXT   NOT NULL,
    challenge    TEXT   NOT NULL,
    resource     TEXT   NOT NULL,
    code_hash    TEXT COLLATE "C"   NOT NULL UNIQUE,
    family_hash  TEXT COLLATE "C"   UNIQUE,
    refresh_hash TEXT COLLATE "C",
    ends_at      BIGINT NOT NULL,
    latest_end   BIGINT
);
CREATE INDEX oauth_grants_of_client ON oauth_grants (client_id);
CREATE INDEX oauth_grants_by_end ON oauth_grants (ends_at);
CREATE INDEX oauth_clients_by_age ON oauth_clients (created_at, id);
