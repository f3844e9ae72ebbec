-- The reactions to a message, as JSON; NULL for none.
ALTER TABLE messages ADD COLUMN reactions TEXT;
