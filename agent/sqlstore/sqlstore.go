// Package sqlstore keeps conversations in a SQL database, for services: several
// processes can share one.
//
//	db, err := sql.Open("pgx", url) // the program imports a driver of its choice
//	…
//	store, err := sqlstore.Open(ctx, db, sqlstore.PostgreSQL)
//	…
//	c := agent.OpenConversation(store, "cnv_support_42")
//
// A write is one transaction. It writes what it adds and a row of the conversation, so its
// cost does not grow with the history; only Replace reads the history, and writes what it
// changes. Load is one statement.
//
// The tables shoal_schema, shoal_conversations, shoal_messages and shoal_steps belong to the
// store. Their columns may change with a version of this package; programs read
// conversations through Store.
//
// A write is as durable as the database makes a commit: synchronous = FULL for SQLite and
// synchronous_commit = on for PostgreSQL, the defaults, are what [agent.Store] promises. A
// SQLite database needs a busy_timeout, because its connections wait for one another, and
// should be in WAL mode:
//
//	sql.Open("sqlite", "file:chats.db?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)")
//
// If the connection breaks during a commit, the store asks the database whether the write
// has happened, for up to 10 seconds. If it gets no answer, it refuses that conversation
// until Open is called again, so that no caller continues from a state that is unknown.
package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/shoal-dev/shoal/agent"
)

// Dialect is a kind of database.
type Dialect int

const (
	// SQLite is version 3.35 or newer.
	SQLite Dialect = iota + 1
	// PostgreSQL is version 12 or newer, in a database whose encoding is UTF8.
	PostgreSQL
)

// Store is an [agent.Store] in a database. It also is an [agent.Lister], an
// [agent.Deleter] and an [agent.Expirer]. Ids of conversations have at most 1,000 bytes of
// UTF-8 without a zero byte; others are refused with ErrInvalidArgument.
type Store struct {
	db *sql.DB
	sq *statements

	mu      sync.Mutex
	unknown map[string]error // by conversation: writes whose outcome is not known
}

var (
	_ agent.Store   = (*Store)(nil)
	_ agent.Lister  = (*Store)(nil)
	_ agent.Deleter = (*Store)(nil)
	_ agent.Expirer = (*Store)(nil)
)

// Open returns the store in a database. It creates its tables if they are missing, and
// migrates those of an earlier version; several processes may do so at once. It does not
// change the tables otherwise, and the rights to do so are needed only then. It fails with
// ErrConflict if a newer version of this package has migrated the tables, and with
// ErrInvalidArgument if the dialect is unknown, or if a SQLite database has no
// busy_timeout. The caller keeps db and closes it after the last use of the store.
func Open(ctx context.Context, db *sql.DB, dialect Dialect) (*Store, error) {
	if dialect != SQLite && dialect != PostgreSQL {
		return nil, agent.Invalid("dialect", fmt.Sprintf("is %d; it must be SQLite or PostgreSQL", dialect))
	}
	s := &Store{db: db, sq: dialects[dialect], unknown: map[string]error{}}
	if dialect == SQLite {
		wait, err := busyTimeout(ctx, db)
		if err != nil {
			return nil, failed("the database does not answer", err)
		}
		if wait <= 0 {
			return nil, agent.Invalid("busy_timeout", "is 0, so that writes fail while another is under way; set it in the name of the database, for example to 10000")
		}
	}
	if err := s.migrate(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// busyTimeout reads the setting of a SQLite database over its first connection. Drivers change
// a new database to WAL mode when they connect. SQLite refuses that at once, whatever the
// setting, while another process does the same, so a refusal is tried again for a while.
func busyTimeout(ctx context.Context, db *sql.DB) (wait int, err error) {
	const patience, pause = 10 * time.Second, 5 * time.Millisecond
	for until := time.Now().Add(patience); ; {
		err = db.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&wait)
		if err == nil || !strings.Contains(err.Error(), "database is locked") || time.Now().After(until) {
			return wait, err
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// failed is the error of a database that has failed.
func failed(what string, err error) error { return fmt.Errorf("sqlstore: %s: %w", what, err) }

const maxID = 1000

// usable returns why no operation on the conversation is possible.
func (s *Store) usable(ctx context.Context, conversation string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case conversation == "":
		return agent.Invalid("conversation", "is missing")
	case len(conversation) > maxID:
		return agent.Invalid("conversation", fmt.Sprintf("has %d bytes; at most %d are possible", len(conversation), maxID))
	case !utf8.ValidString(conversation) || strings.ContainsRune(conversation, 0):
		return agent.Invalid("conversation", "must be UTF-8 without a zero byte")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unknown[conversation]
}
