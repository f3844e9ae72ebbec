package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/faultproxy"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// silentAnswer is how long an Update may take when the database does not respond.
const silentAnswer = 5 * time.Second

// newProxied returns a proxy to a database, and the URL of the database through it.
func newProxied(t *testing.T) (p *faultproxy.Proxy, through string) {
	t.Helper()
	direct, err := url.Parse(postgrestest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	p = faultproxy.New(t, "unix", filepath.Join(direct.Query().Get("host"), ".s.PGSQL.5432"))
	direct.Host, direct.RawQuery = p.Addr(), "sslmode=disable"
	return p, direct.String()
}

// While the database is silent, Updates that begin fail soon, in every session and also when
// they had to queue, and so do those that begin later. They work again when the database does.
func TestUpdatesFailSoonWithASilentDatabase(t *testing.T) {
	proxy, through := newProxied(t)
	s := openWith(t, sqlstore.Options{URL: through, Alone: true})
	var sessions []shoal.SessionID
	for i := range 6 {
		sessions = append(sessions, shoal.SessionID(fmt.Sprint("s", i)))
		settleIn(t, s, sessions[i])
	}
	postAll := func(what string) (ended chan string) {
		ended = make(chan string, 4*len(sessions))
		for range 4 {
			for _, id := range sessions {
				go func() {
					began := time.Now()
					err := s.Update(context.Background(), storage.In(id), func(tx storage.Tx) error { return postIn(tx, id, what) })
					if took := time.Since(began); !errors.Is(err, shoal.Busy) || took > silentAnswer {
						ended <- fmt.Sprintf("%s: an update got %v after %v", what, err, took)
					}
					ended <- ""
				}()
			}
		}
		return ended
	}
	await := func(ended chan string) {
		for n := 0; n < 4*len(sessions); {
			if wrong := <-ended; wrong != "" {
				t.Error(wrong)
			} else {
				n++
			}
		}
	}
	for _, id := range sessions { // connects every lane
		if err := s.Update(context.Background(), storage.In(id), func(tx storage.Tx) error { return postIn(tx, id, "before") }); err != nil {
			t.Fatal(err)
		}
	}
	proxy.Harm(faultproxy.Fault{Silent: true}, faultproxy.Fault{Silent: true})
	first := postAll("first")
	<-time.After(time.Second)
	second := postAll("second")
	await(first)
	await(second)
	await(postAll("later"))
	proxy.Heal()
	proxy.Reset()
	for _, id := range sessions {
		var err error
		for deadline := time.Now().Add(patienceAfterOutage); time.Now().Before(deadline); {
			if err = s.Update(context.Background(), storage.In(id), func(tx storage.Tx) error { return postIn(tx, id, "after") }); err == nil {
				break
			}
		}
		if err != nil {
			t.Errorf("after the outage, an update got %v", err)
		}
	}
}

// The database becomes silent while a transaction is under way. The Updates that are queued
// after it do not wait for a new connection.
func TestQueuedUpdatesFailSoonAfterASilentTransaction(t *testing.T) {
	proxy, through := newProxied(t)
	s := openWith(t, sqlstore.Options{URL: through, Alone: true})
	settleIn(t, s, "shop")
	queued := make(chan error, 1)
	err := s.Update(context.Background(), storage.In("shop"), func(tx storage.Tx) error {
		proxy.Harm(faultproxy.Fault{Silent: true}, faultproxy.Fault{Silent: true})
		began := time.Now()
		go func() {
			err := s.Update(context.Background(), storage.In("shop"), func(tx storage.Tx) error { return postIn(tx, "shop", "queued") })
			if took := time.Since(began); !errors.Is(err, shoal.Busy) || took > silentAnswer {
				err = fmt.Errorf("a queued update got %w after %v", err, took)
			} else {
				err = nil
			}
			queued <- err
		}()
		return postIn(tx, "shop", "first")
	})
	if !errors.Is(err, shoal.Busy) {
		t.Errorf("the update under way got %v", err)
	}
	if err := <-queued; err != nil {
		t.Error(err)
	}
}

// patienceAfterOutage is the time in which the database ends what a lost connection holds.
const patienceAfterOutage = time.Minute

// The store closes while a lane waits for a session that another process has: the Update ends,
// although the lane that would take it over has ended before.
func TestCloseWhileALaneWaitsForASession(t *testing.T) {
	direct := postgrestest.Database(t)
	s := open(t, direct)
	settleIn(t, s, "held")
	ctx := context.Background()
	c, err := pgx.Connect(ctx, direct)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, query := range []string{`BEGIN`, `SELECT pg_advisory_xact_lock_shared(7462)`, `SELECT id FROM sessions WHERE id = 'held' FOR UPDATE`} {
		if _, err := c.Exec(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	ended, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		ended <- s.Update(ctx, storage.In("held"), func(tx storage.Tx) error { return postIn(tx, "held", "waits") })
	}()
	watching, err := pgx.Connect(ctx, direct)
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Close(ctx)
	for waiting := 0; waiting == 0; {
		const query = `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'transactionid'`
		if err := watching.QueryRow(ctx, query).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	go func() { closed <- s.Close() }()
	for what, done := range map[string]chan error{"the update": ended, "the store": closed} {
		select {
		case err := <-done:
			if what == "the update" && !errors.Is(err, shoal.Busy) {
				t.Errorf("the update in the session of another process got %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not end", what)
		}
	}
}

// A process that stops in a transaction delays the others in its session for three seconds,
// and nobody else.
func TestSuspendedWriterIsReplaced(t *testing.T) {
	direct := postgrestest.Database(t)
	s := open(t, direct)
	settleIn(t, s, "held")
	settleIn(t, s, "free")
	ctx := context.Background()
	c, err := pgx.Connect(ctx, direct)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, query := range strings.Split(`SET idle_in_transaction_session_timeout = '3s'; BEGIN;
		SELECT pg_advisory_xact_lock_shared(7462); SELECT id FROM sessions WHERE id = 'held' FOR UPDATE`, ";") {
		if _, err := c.Exec(ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	waits := make(chan error, 1)
	go func() {
		waits <- s.Update(ctx, storage.In("held"), func(tx storage.Tx) error { return postIn(tx, "held", "waits") })
	}()
	free := 0
	for {
		select {
		case err := <-waits:
			if took := time.Since(began); err != nil || took < 2*time.Second || took > time.Minute {
				t.Errorf("the update in the session of the suspended process got %v after %v", err, took)
			}
			if free < 10 {
				t.Errorf("meanwhile, there were %d updates in another session", free)
			}
			return
		default:
			if err := s.Update(ctx, storage.In("free"), func(tx storage.Tx) error { return postIn(tx, "free", "goes on") }); err != nil {
				t.Fatal(err)
			}
			free++
		}
	}
}
