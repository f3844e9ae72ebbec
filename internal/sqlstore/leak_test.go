package sqlstore_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlstore"
	"go.uber.org/goleak"
)

func TestCloseLeavesNothingRunning(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		before := goleak.IgnoreCurrent()
		s, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		settle(t, s)
		update(t, s, func(tx storage.Tx) error { return post(tx, "m", "something to index") })
		stored(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		goleak.VerifyNone(t, before)
	})
}

// A store keeps no reference to the functions of earlier Updates, however many there were at
// once: that of a run refers to its whole conversation.
func TestUpdatesAreReleased(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		const together = 8
		s := open(t, url)
		gone := make(chan struct{}, together)
		release := held(t, s)
		var calls sync.WaitGroup
		for range together {
			conversation := make([]int, 1000)
			runtime.AddCleanup(&conversation[0], func(gone chan struct{}) { gone <- struct{}{} }, gone)
			calls.Go(func() {
				update(t, s, func(storage.Tx) error {
					conversation[0]++
					return nil
				})
			})
		}
		await(s, together)
		release()
		calls.Wait()
		limit, look := time.After(10*time.Second), time.NewTicker(10*time.Millisecond)
		defer look.Stop()
		for left := together; left > 0; {
			runtime.GC()
			select {
			case <-gone:
				left--
			case <-limit:
				t.Fatalf("%d of %d changes are still held", left, together)
			case <-look.C:
			}
		}
	})
}
