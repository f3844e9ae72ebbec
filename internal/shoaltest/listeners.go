package shoaltest

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

// Listeners is a bus that counts the open subscriptions of callers. The subscription of
// the hub's scheduler is not counted.
type Listeners struct {
	core.Bus
	open atomic.Int64
}

// schedulerTopic is the topic to which only the scheduler of a hub subscribes.
const schedulerTopic = "due"

// Open returns how many subscriptions are not closed yet.
func (l *Listeners) Open() int64 { return l.open.Load() }

// Subscribe implements [hub.Bus].
func (l *Listeners) Subscribe() core.Subscription {
	l.open.Add(1)
	return &listener{Subscription: l.Bus.Subscribe(), closed: sync.OnceFunc(func() { l.open.Add(-1) })}
}

type listener struct {
	core.Subscription
	closed func()
}

// Add implements [hub.Subscription].
func (l *listener) Add(topics ...string) {
	if slices.Contains(topics, schedulerTopic) {
		l.closed() // it belongs to the scheduler
	}
	l.Subscription.Add(topics...)
}

// Close implements [hub.Subscription].
func (l *listener) Close() {
	l.closed()
	l.Subscription.Close()
}
