package sqlstore

import (
	"strings"
)

// statements are the texts of one dialect.
type statements struct {
	begin, hasSchema, idType string
	lockSchema, lockExpiry   string

	create, touch, touchHead    string
	load, probe                 string
	save, saveHead              string
	addMessage, dropMessages    string
	messages                    string
	steps, putStep, dropSteps   string
	list, listAfter             string
	remove, expire              string
	removeMessages, removeSteps string
	version, setVersion         string
}

var dialects = map[Dialect]*statements{
	SQLite: prepare("?", statements{
		// The lock is taken at once: a transaction that reads first could not get it later.
		begin:      "BEGIN IMMEDIATE",
		hasSchema:  "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'shoal_schema'",
		lockSchema: "SELECT 0",
		lockExpiry: "SELECT 0",
		idType:     "TEXT",
	}),
	PostgreSQL: prepare("$", statements{
		begin:      "BEGIN ISOLATION LEVEL READ COMMITTED",
		hasSchema:  "SELECT count(*) FROM pg_class WHERE oid = to_regclass('shoal_schema')",
		idType:     `TEXT COLLATE "C"`,
		lockSchema: "SELECT 0 FROM pg_advisory_xact_lock(5983461027364518)",
		lockExpiry: "SELECT 0 FROM pg_advisory_xact_lock(5983461027364519)",
	}),
}

// columns are those of a conversation, in the order in which scan reads them.
const columns = "revision, messages, steps, last_done, last_activity, turn, attempt, waiting"

// prepare adds the statements that both dialects have, with their marks of parameters.
// Each statement has its parameters in the order of their numbers.
func prepare(mark string, s statements) *statements {
	text := func(t string) string { return strings.ReplaceAll(t, "@", mark) }

	s.version = "SELECT version FROM shoal_schema"
	s.setVersion = text("UPDATE shoal_schema SET version = @1")

	// These take the lock on the conversation before anything is read.
	s.create = text(`INSERT INTO shoal_conversations (id, revision, token, head) VALUES (@1, 1, @2, '{}')
		ON CONFLICT (id) DO UPDATE SET revision = shoal_conversations.revision + 1, token = excluded.token
		RETURNING ` + columns + `, head`)
	s.touch = text(`UPDATE shoal_conversations SET revision = revision + 1, token = @1 WHERE id = @2 RETURNING ` + columns + `, ''`)
	s.touchHead = text(`UPDATE shoal_conversations SET revision = revision + 1, token = @1 WHERE id = @2 RETURNING ` + columns + `, head`)
	s.probe = text(`INSERT INTO shoal_conversations (id, revision, token, head) VALUES (@1, 0, '', '{}')
		ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING revision, token`)

	s.load = text(`SELECT 0 AS kind, 0 AS position, head AS body, ` + columns + ` FROM shoal_conversations WHERE id = @1
		UNION ALL SELECT 1, position, body, 0, 0, 0, 0, 0, '', 0, 0 FROM shoal_messages WHERE conversation = @1
		UNION ALL SELECT 2, position, body, 0, 0, 0, 0, 0, '', 0, 0 FROM shoal_steps WHERE conversation = @1
		ORDER BY kind, position`)
	s.save = text(`UPDATE shoal_conversations SET messages = @1, steps = @2, last_done = @3, last_activity = @4,
		turn = @5, attempt = @6, waiting = @7 WHERE id = @8`)
	s.saveHead = text(`UPDATE shoal_conversations SET head = @1, display_name = @2, parent = @3, created_at = @4 WHERE id = @5`)

	s.messages = text("SELECT position, body FROM shoal_messages WHERE conversation = @1 ORDER BY position")
	s.addMessage = text(`INSERT INTO shoal_messages (conversation, position, body) VALUES (@1, @2, @3)
		ON CONFLICT (conversation, position) DO UPDATE SET body = excluded.body`)
	s.dropMessages = text("DELETE FROM shoal_messages WHERE conversation = @1 AND position >= @2")
	s.steps = text("SELECT position, body FROM shoal_steps WHERE conversation = @1 ORDER BY position")
	s.putStep = text(`INSERT INTO shoal_steps (conversation, position, body) VALUES (@1, @2, @3)
		ON CONFLICT (conversation, position) DO UPDATE SET body = excluded.body`)
	s.dropSteps = text("DELETE FROM shoal_steps WHERE conversation = @1 AND position >= @2")

	listed := "SELECT id, display_name, parent, created_at, last_activity, messages, turn, waiting FROM shoal_conversations"
	s.list = text(listed + " ORDER BY last_activity DESC, id LIMIT @1")
	s.listAfter = text(listed + ` WHERE last_activity < @1 OR last_activity = @1 AND id > @2
		ORDER BY last_activity DESC, id LIMIT @3`)
	s.remove = text("DELETE FROM shoal_conversations WHERE id = @1 RETURNING token")
	// The time is compared twice, because a conversation may become active while the
	// statement waits for its lock.
	s.expire = text(`DELETE FROM shoal_conversations WHERE last_activity < @1 AND id IN
		(SELECT id FROM shoal_conversations WHERE last_activity < @1 ORDER BY last_activity, id LIMIT @2) RETURNING id`)
	s.removeMessages = text("DELETE FROM shoal_messages WHERE conversation = @1")
	s.removeSteps = text("DELETE FROM shoal_steps WHERE conversation = @1")
	return &s
}

// migrations[i] takes the tables from version i to version i+1, one statement after
// another. TEXT_ID is the type of ids, which are ordered by their bytes.
var migrations = [][]string{
	{
		`CREATE TABLE shoal_conversations (
			id TEXT_ID PRIMARY KEY,
			revision BIGINT NOT NULL,
			token TEXT NOT NULL,
			head TEXT NOT NULL,
			display_name TEXT NOT NULL DEFAULT '',
			parent TEXT NOT NULL DEFAULT '',
			created_at BIGINT NOT NULL DEFAULT 0,
			last_activity BIGINT NOT NULL DEFAULT 0,
			messages BIGINT NOT NULL DEFAULT 0,
			steps BIGINT NOT NULL DEFAULT 0,
			last_done BIGINT NOT NULL DEFAULT 0,
			turn TEXT NOT NULL DEFAULT '',
			attempt BIGINT NOT NULL DEFAULT 0,
			waiting BIGINT NOT NULL DEFAULT 0
		)`,
		`CREATE INDEX shoal_conversations_activity ON shoal_conversations (last_activity DESC, id)`,
		`CREATE TABLE shoal_messages (
			conversation TEXT_ID NOT NULL,
			position BIGINT NOT NULL,
			body TEXT NOT NULL,
			PRIMARY KEY (conversation, position)
		)`,
		`CREATE TABLE shoal_steps (
			conversation TEXT_ID NOT NULL,
			position BIGINT NOT NULL,
			body TEXT NOT NULL,
			PRIMARY KEY (conversation, position)
		)`,
	},
}
