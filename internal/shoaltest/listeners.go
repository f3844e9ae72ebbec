package shoaltest

import (
	"sync"
	"sync/atomic"

	"github.com/shoal-dev/shoal/internal/hub"
)

// Listeners is a bus that knows how many subscriptions are open.
type Listeners struct {
	hub.Bus
	open atomic.Int64
}

// Open returns how many subscriptions are not closed yet.
func (l *Listeners) Open() int64 { return l.open.Load() }

// Subscribe implements [hub.Bus].
func (l *Listeners) Subscribe() hub.Subscription {
	l.open.Add(1)
	return &listener{Subscription: l.Bus.Subscribe(), closed: sync.OnceFunc(func() { l.open.Add(-1) })}
}

type listener struct {
	hub.Subscription
	closed func()
}

// Close implements [hub.Subscription].
func (l *listener) Close() {
	l.closed()
	l.Subscription.Close()
}
