package sqlstore_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// cutAll closes every connection to a database except its own.
func cutAll(t *testing.T, url string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	_, err = c.Exec(ctx, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		t.Fatal(err)
	}
}

func TestIdleConnectionsAreReplaced(t *testing.T) {
	url := postgrestest.Database(t)
	s := open(t, url)
	settle(t, s)
	for range 2 {
		stored(t, s)
		cutAll(t, url)
		stored(t, s)
		update(t, s, func(tx storage.Tx) error { return post(tx, "m", "hello") })
	}
	if n := len(stored(t, s)); n != 1 {
		t.Errorf("%d messages are stored", n)
	}
}

func TestConnectionLostInATransaction(t *testing.T) {
	url := postgrestest.Database(t)
	s := open(t, url)
	settle(t, s)
	err := s.Update(context.Background(), storage.Global, func(tx storage.Tx) error {
		if err := post(tx, "lost", "hello"); err != nil {
			return err
		}
		cutAll(t, url)
		_, err := tx.Session("default")
		return err
	})
	if !errors.Is(err, shoal.Busy) {
		t.Errorf("the update got %v, want an error of kind %s", err, shoal.Busy)
	}
	err = s.View(context.Background(), func(tx storage.Tx) error {
		if _, err := tx.Session("default"); err != nil {
			return err
		}
		cutAll(t, url)
		_, err := tx.Session("default")
		return err
	})
	if !errors.Is(err, shoal.Busy) {
		t.Errorf("the view got %v, want an error of kind %s", err, shoal.Busy)
	}
	update(t, s, func(tx storage.Tx) error { return post(tx, "next", "hello") })
	if ids := stored(t, s); ids["lost"] || !ids["next"] {
		t.Errorf("stored are %v", ids)
	}
}

func TestLostResponseToACommitIsUnknown(t *testing.T) {
	direct := postgrestest.Database(t)
	line := newLine(t, direct)
	s := open(t, line.url)
	settle(t, s)
	// The lane of the session has connected and prepared COMMIT, so the next request after the last
	// change is that. The first transaction says that it was the last writer in the same request.
	for _, id := range []shoal.MessageID{"first", "second"} {
		updateAt(t, s, storage.In("default"), func(tx storage.Tx) error { return post(tx, id, "hello") })
	}
	err := s.Update(context.Background(), storage.In("default"), func(tx storage.Tx) error {
		if err := post(tx, "unsure", "hello"); err != nil {
			return err
		}
		line.loseNext.Store(true)
		return nil
	})
	if !errors.Is(err, shoal.Busy) || !errors.Is(err, storage.ErrUnknownOutcome) {
		t.Errorf("the update got %v, want ErrUnknownOutcome, of kind %s", err, shoal.Busy)
	}
	update(t, s, func(tx storage.Tx) error { return post(tx, "next", "hello") })
	if ids := stored(t, s); !ids["unsure"] || !ids["next"] {
		t.Errorf("stored are %v", ids)
	}
}

// Two programs that change the same rows in opposite order wait for each other instead of
// failing.
func TestWritersOfTwoProcessesDoNotDeadlock(t *testing.T) {
	url := postgrestest.Database(t)
	first, second := open(t, url), open(t, url)
	settle(t, first)
	update(t, first, func(tx storage.Tx) error {
		return tx.InsertSpace(shoal.Space{SessionID: "default", ID: "yard", Name: "yard", Status: shoal.SpaceStatusOpen})
	})
	rename := func(s *sqlstore.Store, order ...shoal.SpaceID) error {
		return s.Update(context.Background(), storage.Global, func(tx storage.Tx) error {
			for _, id := range order {
				space, err := tx.LockSpace("default", id)
				if err != nil {
					return err
				}
				space.Name += "x"
				if err := tx.UpdateSpace(space); err != nil {
					return err
				}
			}
			return nil
		})
	}
	const rounds = 100
	ended := make(chan error, 2)
	go func() {
		var err error
		for range rounds {
			err = errors.Join(err, rename(first, "shop", "yard"))
		}
		ended <- err
	}()
	go func() {
		var err error
		for range rounds {
			err = errors.Join(err, rename(second, "yard", "shop"))
		}
		ended <- err
	}()
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Error(err)
	}
	if name := ask(t, first, `SELECT name FROM spaces WHERE id = 'yard'`); len(name) != len("yard")+2*rounds {
		t.Errorf("%d of %d changes are there", len(name)-len("yard"), 2*rounds)
	}
}

// line is a proxy to a database that can cut a connection after a request.
type line struct {
	url      string
	server   string
	loseNext atomic.Bool // the next request is the last one, and gets no answer
}

// newLine opens a line to the database of direct.
func newLine(t *testing.T, direct string) *line {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	l := &line{server: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")}
	u.RawQuery = url.Values{"host": {directory}}.Encode()
	l.url = u.String()
	listener, err := net.Listen("unix", filepath.Join(directory, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.carry(client)
		}
	}()
	return l
}

// carry forwards one connection until either side closes it or its response must be lost.
func (l *line) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", l.server)
	if err != nil {
		return
	}
	defer server.Close()
	var losing atomic.Bool
	go func() {
		requests := make([]byte, 64<<10)
		for {
			n, err := client.Read(requests)
			if err != nil {
				_ = server.Close()
				return
			}
			if l.loseNext.CompareAndSwap(true, false) {
				losing.Store(true)
			}
			if _, err := server.Write(requests[:n]); err != nil {
				return
			}
		}
	}()
	answers := make([]byte, 64<<10)
	for {
		n, err := server.Read(answers)
		if err != nil || losing.Load() {
			return
		}
		if _, err := client.Write(answers[:n]); err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}
