-- A sum over what a message's row says (sums.go); NULL for messages from before.
ALTER TABLE messages ADD COLUMN sum BIGINT;
