-- What limits the rights of a key, and the key that an invitation ends with. Older programs would not
-- apply the limits.
ALTER TABLE keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '';
ALTER TABLE invites ADD COLUMN made_with TEXT;
