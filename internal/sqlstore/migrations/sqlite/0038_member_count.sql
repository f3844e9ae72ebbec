-- The number of members of each space, so that a space with many need not be counted.
ALTER TABLE spaces ADD COLUMN member_count BIGINT NOT NULL DEFAULT 0;
UPDATE spaces SET member_count = (SELECT COUNT(*) FROM members AS m WHERE m.session_id = spaces.session_id AND m.space_id = spaces.id);
