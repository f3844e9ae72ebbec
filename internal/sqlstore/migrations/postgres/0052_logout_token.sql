-- additive
-- What the identity provider of a person needs when the sign-in ends.
ALTER TABLE keys ADD COLUMN logout_token TEXT COLLATE "C";
