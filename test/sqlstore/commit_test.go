package sqlstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// fault is what happens to commits.
type fault int32

const (
	none          fault = iota
	requestLost         // the connection breaks before the database receives the commit
	answerLost          // the connection breaks after the commit
	thenOvertaken       // as answerLost, and another process writes before the store asks
)

// faulty is a driver whose connections break at commits.
type faulty struct {
	driver.Driver
	source string
	fault  atomic.Int32
	// between runs between the commit and its error.
	between func()
}

func (f *faulty) Connect(context.Context) (driver.Conn, error) {
	c, err := f.Driver.Open(f.source)
	if err != nil {
		return nil, err
	}
	return &faultyConn{Conn: c, f: f}, nil
}

func (f *faulty) Open(string) (driver.Conn, error) { return f.Connect(context.Background()) }

// faultyConn has the methods of a connection that package sql needs for the store.
type faultyConn struct {
	driver.Conn
	f      *faulty
	broken bool
}

// breaks closes the connection of which its user does not know yet.
func (c *faultyConn) breaks() error {
	c.broken = true
	return errors.Join(errors.New("connection reset"), c.Conn.Close())
}

func (c *faultyConn) Close() error {
	if c.broken {
		return nil
	}
	return c.Conn.Close()
}

func (c *faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.broken {
		return nil, driver.ErrBadConn
	}
	at := none
	if query == "COMMIT" {
		at = fault(c.f.fault.Swap(int32(none)))
	}
	if at == requestLost {
		return nil, c.breaks()
	}
	r, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	if at == none || err != nil {
		return r, err
	}
	if at == thenOvertaken {
		c.f.between()
	}
	return nil, c.breaks()
}

func (c *faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.broken {
		return nil, driver.ErrBadConn
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *faultyConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	var err error
	v.Value, err = driver.DefaultParameterConverter.ConvertValue(v.Value)
	return err
}

// A write whose commit is not answered is reported as what it is: as stored if it is, as
// failed if it is not. If that cannot be known, the conversation is refused until the store
// is opened again, and others are not.
func TestOutcomeOfABrokenCommit(t *testing.T) {
	onEach(t, func(t *testing.T, d database) {
		f := &faulty{Driver: d.connect(t).Driver(), source: d.source}
		db := sql.OpenDB(connector{f})
		defer db.Close()
		s, other := opened(t, db, d.dialect), d.open(t)
		break_ := func(at fault) { f.fault.Store(int32(at)) }

		break_(requestLost)
		if err := s.Begin(t.Context(), "c", begun(agent.Say("hello"))); err == nil || !strings.Contains(err.Error(), "did not happen") {
			t.Errorf("a commit that did not arrive: %v", err)
		}
		if _, err := s.Load(t.Context(), "c"); !errors.Is(err, agent.ErrNotFound) {
			t.Errorf("the conversation after it: %v", err)
		}
		break_(answerLost)
		must(t, s.Begin(t.Context(), "c", begun(agent.Say("hello"))))
		break_(requestLost)
		if err := s.Commit(t.Context(), "c", ref, answer(0)); err == nil {
			t.Error("a step that is not stored is reported as stored")
		}
		break_(answerLost)
		must(t, s.Commit(t.Context(), "c", ref, answer(0)))
		break_(requestLost)
		if err := s.Delete(t.Context(), "c"); err == nil {
			t.Error("a conversation that exists is reported as deleted")
		}
		r, err := s.Load(t.Context(), "c")
		if err != nil || r.Revision != 2 || len(r.Messages) != 2 {
			t.Fatalf("%d messages at revision %d, %v", len(r.Messages), r.Revision, err)
		}

		f.between = func() {
			must(t, other.End(context.Background(), "c", ref, agent.TurnEnd{Outcome: agent.Completed}))
		}
		break_(thenOvertaken)
		lost := s.Commit(t.Context(), "c", ref, answer(1))
		if lost == nil || errors.Is(lost, agent.ErrConflict) {
			t.Errorf("a write that another followed: %v", lost)
		}
		if _, err := s.Load(t.Context(), "c"); err == nil || err.Error() != lost.Error() {
			t.Errorf("the store shows the conversation although it does not know whether its write has happened: %v", err)
		}
		must(t, s.Begin(t.Context(), "d", begun(agent.Say("hello"))))
		if r, err := opened(t, db, d.dialect).Load(t.Context(), "c"); err != nil || r.Open != nil {
			t.Errorf("opened again: %v", err)
		}
		break_(answerLost)
		must(t, s.Delete(t.Context(), "d"))
	})
}

type connector struct{ f *faulty }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) { return c.f.Connect(ctx) }

func (c connector) Driver() driver.Driver { return c.f }
