package inbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// mailbox drives the machine of one inbox: it passes the events to it, announces its answers
// and performs its tasks. The goroutine that brings an event performs the task that follows.
type mailbox struct {
	inbox *Inbox
	key   storage.EntityRef

	mu       sync.Mutex
	machine  machine
	users    int                      // calls that use the mailbox
	sub      core.Subscription        // nil while no call waits or is about to
	explicit map[shoal.KeyID]bool     // the keys that acknowledge explicitly, as far as is known
	batches  map[shoal.KeyID][]*batch // what was delivered to the other keys since they last acknowledged
	idle     time.Time
}

// apply passes an event to the machine that leads to no task.
func (m *mailbox) apply(event func(*machine)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	event(&m.machine)
	m.announce()
}

// announce wakes the calls of the waits that have ended. m.mu must be held.
func (m *mailbox) announce() {
	m.machine.stamp(shoal.Now)
	for _, w := range m.machine.ended {
		close(w.done)
	}
	clear(m.machine.ended)
	m.machine.ended = m.machine.ended[:0]
}

// known returns the deliveries that are not stored yet.
func (m *mailbox) known() []storage.DeliveredEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.known()
}

// step passes an event to the machine and performs the task that follows.
func (m *mailbox) step(event func(*machine)) { m.perform(m.advance(event)) }

// advance passes an event to the machine and returns the task that follows.
func (m *mailbox) advance(event func(*machine)) task {
	m.mu.Lock()
	defer m.mu.Unlock()
	event(&m.machine)
	m.announce()
	return m.machine.next()
}

// stepBeside is step for callers that must not read: another goroutine performs the task. A wait of
// the caller, or the caller itself, keeps the hub running.
func (m *mailbox) stepBeside(event func(*machine)) { m.performBeside(m.advance(event)) }

// performBeside performs a task on another goroutine.
func (m *mailbox) performBeside(t task) {
	if t.counts == nil && t.waits == nil {
		return
	}
	m.inbox.core.Running.Go(func() {
		m.perform(t)
		m.inbox.drop(m)
	})
}

// perform performs a task and those that follow it. What follows a read continues on another
// goroutine, because the caller may have its answer.
func (m *mailbox) perform(t task) {
	for t.counts != nil {
		m.inbox.storeCounts(map[storage.EntityRef][]storage.DeliveredEntry{m.key: t.counts})
		t = m.advance((*machine).counted)
	}
	if t.waits == nil {
		return
	}
	m.performBeside(m.read(t)) // Stop waits for the caller, too
}

// errReadFailed ends the waits whose read panicked.
var errReadFailed = errors.New("the inbox could not be read")

// read reads for the waits of a task and returns the task that follows.
func (m *mailbox) read(t task) task {
	found, end, panicked := slices.Repeat([]answer{{err: errReadFailed}}, len(t.waits)), int64(0), true
	defer func() {
		if panicked {
			m.apply(func(x *machine) { x.read(t, found, end) })
		}
	}()
	found, end = m.readFor(t)
	panicked = false
	return m.advance(func(x *machine) { x.read(t, found, end) })
}

// openWait opens a wait, whose timer fires after while.
func (m *mailbox) openWait(w *HeldWait, while time.Duration) {
	w.timer = time.NewTimer(while)
	w.over = w.req.Timeout == 0
	// The subscription exists: every later commit sends a notification.
	m.step(func(x *machine) {
		if w.adapter {
			x.hold(m.waitsElsewhere())
		}
		x.open(&w.wait)
	})
}

// waitsElsewhere reports whether the entity itself waits on another server, as far as this one knows.
func (m *mailbox) waitsElsewhere() bool {
	return m.inbox.core.Presence.WaitsElsewhere(m.key.Session, m.key.ID)
}

// block blocks until the wait has its answer. If the timer of the wait fires before its
// deadline, block returns stillOpen.
func (m *mailbox) block(ctx context.Context, w *HeldWait) (stillOpen bool) {
	for {
		switch m.sleep(ctx, w) {
		case answered:
			return false
		case notified:
			m.takeNotifications(w.sub)
		case arrived:
			w.arrivals = m.inbox.core.Presence.Arrivals(m.key.Session)
			m.step(func(x *machine) { x.arrive(&w.wait) })
		case timerFired:
			if time.Now().Before(w.deadline) {
				return true
			}
			m.endTime(w)
			return false
		case stopping:
			m.endTime(w)
			return false
		case canceled:
			w.leave(context.Cause(ctx))
		}
	}
}

// endTime ends a wait whose time is up. A call that reads already ends it later.
//
//go:noinline
func (m *mailbox) endTime(w *HeldWait) {
	m.step(func(x *machine) { x.timeUp(&w.wait) })
	<-w.done
}

// wakeReason is a reason why a blocked wait wakes.
type wakeReason int

const (
	answered wakeReason = iota
	notified
	arrived
	timerFired
	stopping
	canceled
)

// sleep blocks until one of the reasons to wake w occurs.
//
//go:noinline
func (m *mailbox) sleep(ctx context.Context, w *HeldWait) wakeReason {
	select {
	case <-w.done:
		return answered
	case <-w.sub.Ready():
		return notified
	case <-w.arrivals:
		return arrived
	case <-w.timer.C:
		return timerFired
	case <-m.inbox.core.Ctx.Done():
		return stopping
	case <-ctx.Done():
		return canceled
	}
}

// takeNotifications receives the notifications that have arrived. If another wait has just
// received them, their place is unknown.
//
//go:noinline
func (m *mailbox) takeNotifications(sub core.Subscription) {
	var all core.Notification
	for i, notification := range sub.Take() {
		if i == 0 {
			all = notification
		}
		all = all.Join(notification)
	}
	m.step(func(x *machine) { x.notify(all.Place) })
}

// subscribe subscribes the mailbox to notifications, for a wait that will be opened. Callers
// subscribe before they change or read anything in the inbox.
func (m *mailbox) subscribe(w *HeldWait) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sub == nil {
		m.sub = m.inbox.core.Bus.Subscribe()
		m.sub.Add(core.InboxTopic(m.key.Session, m.key.ID))
	}
	w.sub, w.seen = m.sub, m.machine.notified
}
