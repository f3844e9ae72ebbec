-- Who created a space, and how much each entity has stored: both have a bound.
ALTER TABLE spaces ADD COLUMN created_by TEXT;
CREATE INDEX spaces_created ON spaces (session_id, created_by) WHERE created_by IS NOT NULL;
CREATE INDEX files_stored ON files (session_id, by_entity, size);
