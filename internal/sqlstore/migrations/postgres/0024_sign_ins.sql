-- Which keys are sign-ins of browsers: of the key that was pasted, or of none, which is '',
-- where a link signed in.
ALTER TABLE keys ADD COLUMN sign_in_of TEXT;
CREATE INDEX keys_sign_ins ON keys (sign_in_of) WHERE sign_in_of IS NOT NULL;
