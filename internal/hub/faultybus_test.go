package hub_test

import (
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

// hints is a bus that doubles some hints, which must change nothing, and can be
// hurt, which must be found.
type hints struct {
	core.Bus
	hurt      hurt
	published atomic.Int64
}

// Publish implements [hub.Bus].
func (h *hints) Publish(note core.Note) {
	n := h.published.Add(1)
	if h.hurt.losesHints && n%3 == 0 {
		return
	}
	h.Bus.Publish(note)
	if n%4 == 0 && note.Event == nil {
		h.Bus.Publish(note)
	}
}

// Subscribe implements [hub.Bus].
func (h *hints) Subscribe() core.Subscription {
	if h.hurt.listensLate {
		return &lateListener{Subscription: h.Bus.Subscribe()}
	}
	return h.Bus.Subscribe()
}

// lateListener hears nothing in the first moments.
type lateListener struct {
	core.Subscription
	closed atomic.Bool
}

// Add implements [hub.Subscription].
func (l *lateListener) Add(topics ...string) {
	time.AfterFunc(100*longestPause, func() {
		if !l.closed.Load() {
			l.Subscription.Add(topics...)
		}
	})
}

// Close implements [hub.Subscription].
func (l *lateListener) Close() {
	l.closed.Store(true)
	l.Subscription.Close()
}
