-- Who added a member, if somebody else did, and whether the member has muted the space.
ALTER TABLE members ADD COLUMN added_by TEXT;
ALTER TABLE members ADD COLUMN muted BOOLEAN NOT NULL DEFAULT FALSE;
-- Who may change the spaces of a session: their members, or owners and admins alone.
ALTER TABLE sessions ADD COLUMN space_rights TEXT NOT NULL DEFAULT 'members';
