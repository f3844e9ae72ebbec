package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/metrics"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// held blocks the writer of a store until release is called.
func held(t *testing.T, s *sqlstore.Store) (release func()) { return heldIn(t, s) }

// heldIn blocks the writer of a session, or without one that of a store, until release is
// called.
func heldIn(t *testing.T, s *sqlstore.Store, sessions ...shoal.SessionID) (release func()) {
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.Update(context.Background(), storage.In(sessions...), func(storage.Tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	return func() {
		close(end)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// await returns when n Updates are queued.
func await(s *sqlstore.Store, n int) {
	for s.Waiting() < n {
		runtime.Gosched()
	}
}

func TestUpdatesRunInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		const n = 600 // more than one batch
		release := held(t, s)
		order := make([]int, 0, n)
		var calls sync.WaitGroup
		for i := range n {
			calls.Go(func() {
				err := s.Update(context.Background(), storage.Global, func(storage.Tx) error {
					order = append(order, i) // nothing here fails, so each runs once
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			await(s, i+1)
		}
		release()
		calls.Wait()
		if !slices.IsSorted(order) || len(order) != n {
			t.Errorf("%d Updates ran in the order %v", len(order), order)
		}
	})
}

// A single Update runs without a switch to another goroutine. The index may be updated at the
// same time, but not repeatedly.
func TestSingleUpdateRunsOnItsGoroutine(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		here := 0
		for range 100 {
			update(t, s, func(storage.Tx) error {
				if strings.Contains(string(debug.Stack()), "TestSingleUpdateRunsOnItsGoroutine") {
					here++
				}
				return nil
			})
		}
		if here == 0 {
			t.Error("no Update ran on the goroutine of its caller")
		}
	})
}

// An Update that writes on its own goroutine and Close do not use the connection at the same
// time.
func TestUpdatesWhileTheStoreCloses(t *testing.T) {
	url := newSQLite(t)
	for range 50 {
		s := openWith(t, sqlstore.Options{URL: url})
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				for {
					err := s.Update(context.Background(), storage.Global, func(storage.Tx) error { return nil })
					if errors.Is(err, shoal.Busy) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		calls.Wait()
	}
}

func TestFullQueueFailsWithBusyAtOnce(t *testing.T) {
	figures := metrics.New()
	s := openWith(t, sqlstore.Options{URL: newSQLite(t), MaxDelay: time.Hour, Metrics: figures})
	release := held(t, s)
	var calls sync.WaitGroup
	for range sqlstore.QueueLength {
		calls.Go(func() {
			if err := s.Update(context.Background(), storage.Global, func(storage.Tx) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	await(s, sqlstore.QueueLength)
	var ran atomic.Bool
	err := s.Update(context.Background(), storage.Global, func(storage.Tx) error {
		ran.Store(true)
		return nil
	})
	if !errors.Is(err, shoal.Busy) {
		t.Errorf("got %v, want an error of kind %s", err, shoal.Busy)
	}
	release()
	calls.Wait()
	update(t, s, func(storage.Tx) error { return nil })
	if ran.Load() {
		t.Error("what was refused has run")
	}
	var text strings.Builder
	if err := figures.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"shoal_writes_rejected_total 1\n", "shoal_write_queue 0\n", fmt.Sprintf("shoal_commit_changes_sum %d\n", sqlstore.QueueLength+2)} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the metrics lack %q:\n%s", want, text.String())
		}
	}
}

// With a slow disk, an Update that would wait too long fails with Busy at once and with the
// time after which to retry. A few may always wait, and all of them when the disk is fast
// again.
func TestSlowDiskFailsWithBusyAtOnce(t *testing.T) {
	s := openWith(t, sqlstore.Options{URL: newSQLite(t), MaxDelay: time.Millisecond})
	release := held(t, s)
	began := time.Now()
	for time.Since(began) < 2*time.Millisecond { // until the batch under way has been long
		runtime.Gosched()
	}
	var calls sync.WaitGroup
	for range sqlstore.FewQueued {
		calls.Go(func() {
			if err := s.Update(context.Background(), storage.Global, func(storage.Tx) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	await(s, sqlstore.FewQueued)
	err := s.Update(context.Background(), storage.Global, func(storage.Tx) error { return nil })
	var e *shoal.Error
	if !errors.As(err, &e) || e.Kind != shoal.Busy || e.RetryAfter < time.Second {
		t.Errorf("got %v, want an error of kind %s that says when to come again", err, shoal.Busy)
	}
	release()
	calls.Wait()
	update(t, s, func(storage.Tx) error { return nil })
}

// $1 is the number of an argument on both databases, wherever it is in the text.
func TestArgumentsAreNumbered(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		s := open(t, url)
		for query, want := range map[string]string{
			`SELECT $2 || '-' || $1`: "b-a",
			`SELECT $1 || $12 || $3 || $11 || $2 || $10 || $1 || $4 || $5 || $6 || $7 || $8 || $9`: "alckbjadefghi",
		} {
			args := []any{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
			if want == "b-a" {
				args = args[:2]
			}
			var got string
			update(t, s, func(tx storage.Tx) (err error) {
				got, err = sqlstore.Text(tx, query, args...)
				return err
			})
			if got != want {
				t.Errorf("%s is %q, want %q", query, got, want)
			}
		}
	})
}
