-- The message of the same space that a message replies to.
ALTER TABLE messages ADD COLUMN reply_to TEXT;
