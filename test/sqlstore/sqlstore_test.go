package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/sqlstore"
	"github.com/shoal-dev/shoal/agent/storetest"
)

func TestConformance(t *testing.T) {
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			storetest.Exercise(t, func(t *testing.T) agent.Store { return open(t).open(t) })
		})
	}
}

// Two processes that hold one conversation: the one that takes the turn over goes on, and
// each later write of the other is refused and changes nothing.
func TestSecondProcessTakesOver(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		first, second := d.open(t), d.open(t)
		must(t, first.Begin(t.Context(), "c", begun(agent.Say("hello"))))
		old, err := first.Load(t.Context(), "c")
		must(t, err)
		takeover := begun()
		takeover.Attempt = 2
		must(t, second.Begin(t.Context(), "c", takeover))
		now := agent.TurnRef{ID: "t", Attempt: 2}
		must(t, second.Commit(t.Context(), "c", now, answer(0)))
		for name, err := range map[string]error{
			"Commit":  first.Commit(t.Context(), "c", ref, answer(0)),
			"End":     first.End(t.Context(), "c", ref, agent.TurnEnd{Outcome: agent.Completed}),
			"Begin":   first.Begin(t.Context(), "c", begun(agent.Say("hello"))),
			"Replace": first.Replace(t.Context(), old),
		} {
			if !errors.Is(err, agent.ErrConflict) {
				t.Errorf("%s of the first process returned %v, want a Conflict", name, err)
			}
		}
		must(t, second.End(t.Context(), "c", now, agent.TurnEnd{Outcome: agent.Completed}))
		r, err := first.Load(t.Context(), "c")
		if err != nil || len(r.Messages) != 2 || r.Revision != 4 {
			t.Errorf("%d messages at revision %d, %v", len(r.Messages), r.Revision, err)
		}
	})
}

// Many writers in several processes: each write of a conversation happens whole, and those
// of others do not fail because of it.
func TestProcessesWriteAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		const processes, each = 3, 15
		stores := make([]*sqlstore.Store, processes)
		for i := range stores {
			stores[i] = d.open(t)
		}
		errs := make(chan error, 2*processes)
		for i, s := range stores {
			go func() { errs <- turns(t.Context(), s, fmt.Sprint("own ", i), each) }()
			go func() { errs <- turns(t.Context(), s, "shared", each) }()
		}
		for range 2 * processes {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		for id, want := range map[string]int{"own 0": 2 * each, "shared": 2 * each * processes} {
			r, err := stores[0].Load(t.Context(), id)
			if err != nil || len(r.Messages) != want || r.Open != nil {
				t.Errorf("%s has %d messages and the open turn %v, want %d messages, %v", id, len(r.Messages), r.Open, want, err)
			}
		}
	})
}

// turns makes n turns, each again as long as another process has one open.
func turns(ctx context.Context, s *sqlstore.Store, id string, n int) error {
	for n > 0 {
		turn := begun(agent.Say("hello"))
		turn.ID = agent.NewConversation().ID()
		err := s.Begin(ctx, id, turn)
		if errors.Is(err, agent.ErrConflict) {
			continue
		}
		if err == nil {
			err = rest(ctx, s, id, turn.ID)
		}
		if err != nil {
			return err
		}
		n--
	}
	return nil
}

// rest makes the writes of a turn with one step after its first one.
func rest(ctx context.Context, s agent.Store, id, turn string) error {
	own := agent.TurnRef{ID: turn, Attempt: 1}
	if err := s.Commit(ctx, id, own, answer(0)); err != nil {
		return err
	}
	return s.End(ctx, id, own, agent.TurnEnd{Outcome: agent.Completed})
}

// Servers that start together migrate once, and none fails.
func TestProcessesMigrateAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		var all sync.WaitGroup
		for range 6 {
			db := d.connect(t)
			all.Go(func() {
				s, err := sqlstore.Open(t.Context(), db, d.dialect)
				if err == nil {
					_, err = s.List(t.Context(), agent.Listed{}, 1)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var rows int
		must(t, d.connect(t).QueryRow("SELECT count(*) FROM shoal_schema").Scan(&rows))
		if rows != 1 {
			t.Errorf("the version is stored %d times", rows)
		}
	})
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		db := d.connect(t)
		s := opened(t, db, d.dialect)
		for _, id := range []string{"", strings.Repeat("x", 1001), "a\x00b", "a\xff"} {
			if err := s.Begin(t.Context(), id, begun()); !errors.Is(err, agent.ErrInvalidArgument) {
				t.Errorf("a conversation %.9q: %v", id, err)
			}
		}
		if err := s.Begin(t.Context(), strings.Repeat("ü", 500), begun()); err != nil {
			t.Errorf("an id of 1,000 bytes: %v", err)
		}
		_, err := db.Exec("UPDATE shoal_schema SET version = 99")
		must(t, err)
		if _, err := sqlstore.Open(t.Context(), db, d.dialect); !errors.Is(err, agent.ErrConflict) || !strings.Contains(err.Error(), "99") {
			t.Errorf("tables of a newer version: %v", err)
		}
		if _, err := sqlstore.Open(t.Context(), db, 0); !errors.Is(err, agent.ErrInvalidArgument) {
			t.Errorf("an unknown dialect: %v", err)
		}
	})
	impatient, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "chats.db"))
	must(t, err)
	defer impatient.Close()
	if _, err := sqlstore.Open(t.Context(), impatient, sqlstore.SQLite); !errors.Is(err, agent.ErrInvalidArgument) {
		t.Errorf("without busy_timeout: %v", err)
	}
}

// A role that may not create tables opens a store that another role has migrated.
func TestOpenNeedsNoRightsOnMigratedTables(t *testing.T) {
	d := databases["PostgreSQL"](t)
	admin := d.connect(t)
	opened(t, admin, d.dialect)
	role := "app" + strings.ToLower(agent.NewConversation().ID()[4:12])
	for _, statement := range []string{
		"CREATE ROLE " + role + " LOGIN",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + role,
	} {
		_, err := admin.Exec(statement)
		must(t, err)
	}
	app := database{d.driver, strings.Replace(d.source, "postgres@", role+"@", 1), d.dialect}
	if _, err := app.connect(t).Exec("CREATE TABLE refused (x int)"); err == nil {
		t.Fatal("the role may create tables")
	}
	must(t, app.open(t).Begin(t.Context(), "c", begun(agent.Say("hello"))))
}

// A write that waits for another one ends with its context, and has not happened.
func TestContextEndsAWaitForALock(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		s := d.open(t)
		must(t, s.Begin(t.Context(), "c", begun(agent.Say("hello"))))
		other, err := d.connect(t).Conn(t.Context())
		must(t, err)
		defer other.Close()
		_, err = other.ExecContext(t.Context(), map[sqlstore.Dialect]string{sqlstore.SQLite: "BEGIN IMMEDIATE", sqlstore.PostgreSQL: "BEGIN"}[d.dialect])
		must(t, err)
		_, err = other.ExecContext(t.Context(), "UPDATE shoal_conversations SET token = token")
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Commit(ctx, "c", ref, answer(0)) }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the write returned %v", err)
		}
		_, err = other.ExecContext(t.Context(), "ROLLBACK")
		must(t, err)
		must(t, s.Commit(t.Context(), "c", ref, answer(0))) // also: the pool has no connection in a transaction
	})
}

// Timers in several processes delete at once: none fails, each conversation is deleted once,
// and fewer than the limit are the last ones. The limits make a database find what to
// delete in different ways, and so in different orders.
func TestProcessesExpireAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		const conversations = 3000
		db := d.connect(t)
		s := opened(t, db, d.dialect)
		_, err := db.Exec(`INSERT INTO shoal_conversations (id, revision, token, head, last_activity)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + fmt.Sprint(conversations) + `)
			SELECT CAST(i * 7919 % 10007 AS TEXT), 1, '', '{}', i * 104729 % 100003 FROM n`)
		must(t, err)
		_, err = db.Exec("ANALYZE")
		must(t, err)
		var all sync.WaitGroup
		var deleted atomic.Int64
		for _, limit := range []int{40, 500, 200, 1000} {
			other := d.open(t)
			all.Go(func() {
				for n := limit; n == limit; {
					var err error
					if n, err = other.Expire(t.Context(), time.Now(), limit); err != nil {
						t.Errorf("at most %d: %v", limit, err)
					}
					deleted.Add(int64(n))
				}
			})
		}
		all.Wait()
		left, err := s.List(t.Context(), agent.Listed{}, 1000)
		if n := deleted.Load(); err != nil || n != conversations || len(left) > 0 {
			t.Errorf("%d conversations of %d expired, and %d are left, %v", n, conversations, len(left), err)
		}
	})
}
