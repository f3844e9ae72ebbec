-- Who added a member, if somebody else did, and whether the member has muted the space.
ALTER TABLE members ADD COLUMN added_by TEXT;
ALTER TABLE members ADD COLUMN muted BOOLEAN NOT NULL DEFAULT FALSE;
