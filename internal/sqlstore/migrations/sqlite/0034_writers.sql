-- Unused: SQLite has one writer. The two databases have the same tables.
ALTER TABLE sessions ADD COLUMN writer TEXT NOT NULL DEFAULT '';
ALTER TABLE store ADD COLUMN changes BIGINT NOT NULL DEFAULT 0;
