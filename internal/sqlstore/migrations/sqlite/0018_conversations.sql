-- Up to which place a conversation was cleared: runs that began until then are not part of
-- it any more. They stay as runs.
ALTER TABLE conversations ADD COLUMN cleared BIGINT NOT NULL DEFAULT 0;
