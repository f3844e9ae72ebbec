-- additive
-- What became of mentions: when an entry was first delivered and how (empty for a wait), and the
-- message with which an agent answered it. A mention was resumed when it was acknowledged.
ALTER TABLE inbox_entries ADD COLUMN delivered_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE inbox_entries ADD COLUMN via TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox_entries ADD COLUMN answered_by TEXT COLLATE "C" NOT NULL DEFAULT '';
