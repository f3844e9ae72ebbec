-- additive
-- Until when a client is used as its metadata document has described it; NULL for one that has registered.
ALTER TABLE oauth_clients ADD COLUMN fresh_until BIGINT;
