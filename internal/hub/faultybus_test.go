package hub_test

import (
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

// faultyBus is a bus that duplicates some notifications, which must change nothing, and
// that can inject faults, which the tests must detect.
type faultyBus struct {
	core.Bus
	faults    faults
	published atomic.Int64
}

// Publish implements [core.Bus].
func (h *faultyBus) Publish(note core.Notification) {
	n := h.published.Add(1)
	if h.faults.losesNotifications && n%3 == 0 {
		return
	}
	h.Bus.Publish(note)
	if n%4 == 0 && note.Event == nil {
		h.Bus.Publish(note)
	}
}

// Subscribe implements [core.Bus].
func (h *faultyBus) Subscribe() core.Subscription {
	if h.faults.subscribesLate {
		return &lateSubscription{Subscription: h.Bus.Subscribe()}
	}
	return h.Bus.Subscribe()
}

// lateSubscription receives nothing at first.
type lateSubscription struct {
	core.Subscription
	closed atomic.Bool
}

// Add implements [core.Subscription].
func (l *lateSubscription) Add(topics ...string) {
	time.AfterFunc(100*longestPause, func() {
		if !l.closed.Load() {
			l.Subscription.Add(topics...)
		}
	})
}

// Close implements [core.Subscription].
func (l *lateSubscription) Close() {
	l.closed.Store(true)
	l.Subscription.Close()
}
