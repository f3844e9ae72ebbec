-- additive
-- The run in progress that has taken in the message of this one, which has no work of its own.
ALTER TABLE runs ADD COLUMN part_of TEXT;
