package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// A server whose PostgreSQL goes on as a standby that has taken over stops, and reads nothing
// there: places that it gave may belong to other messages. A restart of the same database it
// outlives.
func TestAServerStopsWhenItsDatabaseWasReplaced(t *testing.T) {
	d := postgrestest.NewServer(t)
	config := Config{Data: t.TempDir(), Addr: "127.0.0.1:0", Database: d.URL}
	s, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	d.Stop(t, postgrestest.Immediate)
	d.Start(t)
	writes := func(ctx context.Context) error {
		for {
			err := s.store.Update(ctx, storage.Global, func(storage.Tx) error { return nil })
			if err == nil || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			select {
			case err := <-s.failed:
				return err
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := writes(ctx); err != nil {
		t.Fatalf("after a restart of the database: %v", err)
	}
	replace := func() {
		d.Stop(t, postgrestest.Fast)
		d.StartAsStandby(t)
		d.Promote(t)
	}
	replace()
	if err := writes(ctx); !errors.Is(err, ErrTimeline) {
		t.Fatalf("after another one has taken over: %v", err)
	}
	again, err := Start(t.Context(), Config{Data: config.Data, Addr: config.Addr, Database: config.Database})
	if err != nil {
		t.Fatalf("it does not start again: %v", err)
	}
	defer again.Stop()
	replace()
	for stopped := false; !stopped; {
		if err := again.store.View(ctx, func(storage.Tx) error { return nil }); err == nil || ctx.Err() != nil {
			t.Fatalf("after another one has taken over, a read returned %v (%v)", err, ctx.Err())
		}
		select {
		case err := <-again.failed:
			if stopped = errors.Is(err, ErrTimeline); !stopped {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
}
