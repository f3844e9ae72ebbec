-- additive
-- Where a key was last used from, and for the sign-in of a browser what it runs on.
ALTER TABLE keys ADD COLUMN last_address TEXT COLLATE "C";
ALTER TABLE keys ADD COLUMN device TEXT COLLATE "C";
