package inbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A client can have its response, and call again, before the server has recorded that the
// response was written.
func TestNextCallWaitsForTheOutcomeOfTheResponse(t *testing.T) {
	const never = -1
	for _, c := range []struct {
		name         string
		after        time.Duration // until the outcome is known
		written      bool
		waits        time.Duration
		acknowledged int
	}{
		{"written before the call", 0, true, 0, 1},
		{"recorded late, on a busy machine", 1900 * time.Millisecond, true, 1900 * time.Millisecond, 1},
		{"failed before the call", 0, false, 0, 0},
		{"fails during the call", 30 * time.Millisecond, false, 30 * time.Millisecond, 0},
		{"blocked by a client that does not read", never, false, writeGrace, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mailbox{explicit: map[shoal.KeyID]bool{}, batches: map[shoal.KeyID][]*batch{}}
				d := &Delivery{batch: m.recordBatch("key", storage.InboxFilter{}, 1)}
				if c.after != never {
					time.AfterFunc(c.after, func() { d.Settle(c.written) })
					synctest.Wait()
				}
				began := time.Now()
				if err := m.awaitResponses(t.Context(), "key"); err != nil {
					t.Fatal(err)
				}
				if got := time.Since(began); got != c.waits {
					t.Errorf("the next call waited %v, want %v", got, c.waits)
				}
				if got := len(m.takeBatches("key", false)); got != c.acknowledged {
					t.Errorf("the next call acknowledges %d batches, want %d", got, c.acknowledged)
				}
			})
		})
	}
}
