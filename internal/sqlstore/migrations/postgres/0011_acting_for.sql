-- For whom a run acts, and who is behind a message and a plan: JSON lists of ids, NULL
-- where that was not recorded yet.
ALTER TABLE runs ADD COLUMN acting_for TEXT;
ALTER TABLE message_causes ADD COLUMN acting_for TEXT;
ALTER TABLE plans ADD COLUMN acting_for TEXT;
-- The space of the run that kept the memory.
ALTER TABLE memories ADD COLUMN space_id TEXT COLLATE "C";
-- Those for whom a run wrote the message into a space other than its trigger's.
ALTER TABLE messages ADD COLUMN on_behalf_of TEXT;
