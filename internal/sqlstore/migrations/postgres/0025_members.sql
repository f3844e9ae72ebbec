-- Who added a member, if somebody else did, and whether the member has muted the space.
ALTER TABLE members ADD COLUMN added_by TEXT;
ALTER TABLE members ADD COLUMN muted BOOLEAN NOT NULL DEFAULT FALSE;
-- Who may change the spaces of a session: their members, or owners and admins alone.
ALTER TABLE sessions ADD COLUMN space_rights TEXT NOT NULL DEFAULT 'members';
-- Spaces that were deleted: their ids stay taken. place is that of the event that says so;
-- erased says that nothing of the space is left.
CREATE TABLE deleted_spaces (
  session_id TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  place      BIGINT  NOT NULL,
  erased     BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (session_id, id)
);
