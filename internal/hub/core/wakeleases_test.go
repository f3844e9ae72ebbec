package core

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// What another server knows of a lease does not replace a later renewal, whatever arrives first, and an
// end ends only the lease that it is about.
func TestLateNewsOfLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{})
		key := storage.EntityRef{Session: "default", ID: "bot"}
		news := func(left time.Duration, renewed time.Time, ref string, busy bool) {
			at := shoal.At(renewed)
			c.Leases.receive(sharedLeases{Leases: []sharedLease{{
				Session: key.Session, Entity: key.ID, Since: at, Renewed: at, Origin: "other", Left: left.Milliseconds(),
				Lease: shoal.WakeLease{Via: "runner", SessionRef: ref, Busy: busy},
			}}})
		}
		state := func(want shoal.ReachState) {
			t.Helper()
			got := shoal.ReachState("")
			if a := c.Leases.of[key]; a != nil {
				got = a.state(time.Now())
			}
			if got != want {
				t.Errorf("the leases make the agent %q, want %q", got, want)
			}
		}
		began := time.Now()
		news(time.Minute, began, "a", true)
		state(shoal.ReachBusy)
		news(10*time.Second, began.Add(-time.Minute), "a", false) // an earlier renewal that was late
		state(shoal.ReachBusy)
		news(0, began.Add(-time.Minute), "a", false) // the end of an earlier one
		state(shoal.ReachBusy)
		news(0, began, "b", false) // of another session
		state(shoal.ReachBusy)
		news(0, began.Add(time.Second), "a", false)
		state("")
		if c.Leases.count != 0 {
			t.Errorf("%d leases are counted, want none", c.Leases.count)
		}
	})
}

// A server remembers at most maxLeases, and refuses more.
func TestTooManyLeases(t *testing.T) {
	c := New(Options{})
	c.Leases.count = maxLeases
	key := storage.EntityRef{Session: "default", ID: "bot"}
	_, err := c.Leases.put(key, &wakeLease{until: time.Now().Add(time.Minute)}, time.Now())
	if shoal.KindOf(err) != shoal.Busy || c.Leases.of[key] != nil {
		t.Errorf("one lease too many: %v", err)
	}
}
