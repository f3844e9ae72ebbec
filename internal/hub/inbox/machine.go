package inbox

import (
	"math"
	"slices"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// machine decides what the events of one inbox mean for its open waits. It is pure: it has no
// locks, performs no I/O and does not read the time. Each event is a method. An event leads to
// answers, which end waits, and to a task: deliveries to count, or waits to read for. The
// driver announces the answers in ended, performs the task that next returns, and reports its
// result. One task is performed at a time.
type machine struct {
	waits     []*wait // the open waits, in the order in which they were opened
	ended     []*wait // the waits whose answers are not announced yet
	notified  int     // how often the inbox was notified
	missed    int64   // the last place of a message that may concern a wait that did not know it
	elsewhere bool    // the entity itself waits on another server
	uncounted []delivery
	busy      bool // a task is being performed
}

// wait is what the machine knows of a wait.
type wait struct {
	filter storage.InboxFilter
	agents *AgentsRequest // of a wait for agents, which no message concerns; nil for others
	seen   int            // machine.notified before the caller acknowledged
	// clear is a place: no message up to there matches, or, for the wait of an adapter, none that
	// the entity itself has not received. It is unknownPlace before the first read.
	clear   int64
	stale   bool          // it needs a read that has not begun yet
	over    bool          // its time is up: the next read ends it
	adapter bool          // it returns nothing while the entity itself waits for messages
	answer  *answer       // what ended it; nil while it is open
	done    chan struct{} // for the driver, which closes it to announce the answer
}

const (
	unknownPlace = -1
	everyPlace   = math.MaxInt64
)

// answer ends a wait. One without entries, agents and error is a time-out.
type answer struct {
	entries []storage.InboxEntry
	agents  *PresentAgents
	err     error
	woken   bool // the wait had found nothing before
}

// isFinal reports whether the answer ends a wait before its time is up.
func (a answer) isFinal() bool {
	return a.err != nil || len(a.entries) > 0 || a.agents != nil && a.agents.complete
}

// task is what has to be done: count deliveries, or read for waits. The zero task is nothing.
type task struct {
	counts []storage.DeliveredEntry
	waits  []*wait
	clear  []int64 // by wait: no message up to this place matches
}

// held reports whether the waits of adapters return nothing, because the entity itself waits.
func (m *machine) held() bool { return m.elsewhere || slices.ContainsFunc(m.waits, (*wait).isOwn) }

// isHeld reports whether the wait returns nothing while those of adapters are held.
func (w *wait) isHeld(held bool) bool { return held && w.adapter }

// isOwn reports whether the entity itself waits for messages.
func (w *wait) isOwn() bool { return !w.adapter && w.agents == nil }

// hold reports whether the entity itself waits on another server.
func (m *machine) hold(elsewhere bool) {
	m.elsewhere = elsewhere
	m.endHeld()
}

// endHeld ends the waits of adapters whose time is up without a read, while they return nothing.
func (m *machine) endHeld() {
	if !m.held() {
		return
	}
	for _, w := range slices.Clone(m.waits) {
		if w.adapter && w.over {
			m.end(w, answer{})
		}
	}
}

// handOver reports that the entity itself has received everything up to a place that a filter
// selects: the waits of adapters for no more than that leave it to the entity.
func (m *machine) handOver(f storage.InboxFilter, upTo int64) {
	for _, w := range m.waits {
		if w.adapter && covers(f, w.filter) {
			w.clear = max(w.clear, upTo)
		}
	}
}

// open begins a wait. If there are too many, the time of the oldest is up.
func (m *machine) open(w *wait) {
	if w.answer != nil {
		return // the right to it has ended
	}
	if w.seen != m.notified && w.agents == nil {
		w.clear = unknownPlace
	}
	w.stale = w.clear == unknownPlace || w.agents != nil
	if running := slices.DeleteFunc(slices.Clone(m.waits), func(o *wait) bool { return o.over || o.adapter != w.adapter }); len(running) >= shoal.MaxOpenWaits {
		m.timeUp(running[0])
	}
	m.waits = append(m.waits, w)
	if w.over && !w.stale {
		m.end(w, answer{})
	}
	m.endHeld()
}

// commit delivers a new message. It answers either all waits that the message matches or none,
// so that they wake with the same messages: none if one of the waits does not know whether an
// earlier message matches it. This server has assigned all places from base+1 on; inOrder
// reports that it has delivered all earlier messages. A notification follows.
func (m *machine) commit(e storage.InboxEntry, base int64, inOrder bool) {
	from, held := max(base, m.missed), m.held() // before from, the inbox may have messages that no wait knows
	m.miss(e.Place)
	for _, w := range m.waits {
		if w.clear < e.Place && (w.clear < from || !inOrder) && !w.isHeld(held) {
			return
		}
	}
	entries, d := []storage.InboxEntry{e}, newDelivery(e)
	for _, w := range slices.Backward(slices.Clone(m.waits)) {
		switch {
		case w.isHeld(held): // the notification leads to its read, once it may return something
		case w.clear >= e.Place: // its last read has found that the message does not match
		case !d.matches(w.filter):
			w.clear = e.Place
		default:
			m.end(w, answer{entries: entries})
		}
	}
}

// miss records a message that may concern a wait but is not delivered. A notification follows.
func (m *machine) miss(place int64) { m.missed = max(m.missed, place) }

// notify reports that the inbox may have messages up to a place, 0 if the place is unknown.
func (m *machine) notify(place int64) {
	m.notified++
	for _, w := range m.waits {
		if w.agents == nil && (place == 0 || w.clear < place) {
			w.stale = true
		}
	}
}

// arrive reports that an entity has become present, for a wait for agents.
func (m *machine) arrive(w *wait) { w.stale = true }

// acknowledge removes the deliveries that need not be counted, because they are acknowledged.
func (m *machine) acknowledge(f storage.InboxFilter, upTo int64) {
	m.uncounted = slices.DeleteFunc(m.uncounted, func(d delivery) bool { return d.place <= upTo && d.matches(f) })
}

// timeUp ends a wait after one more read: notifications of other servers can be lost or late.
func (m *machine) timeUp(w *wait) {
	if !w.over {
		w.over, w.stale = true, true
		m.endHeld()
	}
}

// leave ends a wait whose caller or right is gone.
func (m *machine) leave(w *wait, err error) {
	if w.answer == nil {
		m.end(w, answer{err: err})
	}
}

// next returns the next task, if there is one and no other is being performed. Deliveries are
// counted before the read that may find their messages again.
func (m *machine) next() (t task) {
	held := m.held()
	if m.busy || !slices.ContainsFunc(m.waits, func(w *wait) bool { return w.stale && !w.isHeld(held) }) {
		return t
	}
	if t = m.count(); t.counts != nil {
		return t
	}
	m.busy = true
	for _, w := range m.waits {
		if (w.stale || w.agents == nil) && !w.isHeld(held) {
			w.stale = false
			t.waits, t.clear = append(t.waits, w), append(t.clear, w.clear)
		}
	}
	return t
}

// count returns a task that counts the deliveries so far, unless a task is being performed.
func (m *machine) count() (t task) {
	if m.busy || len(m.uncounted) == 0 {
		return t
	}
	m.busy = true
	for _, d := range m.uncounted {
		t.counts = append(t.counts, d.entry())
	}
	m.uncounted = nil
	return t
}

// counted reports that a task is performed that counts.
func (m *machine) counted() { m.busy = false }

// read reports what a task has read for each of its waits, and the last place of the session
// in that snapshot.
func (m *machine) read(t task, found []answer, end int64) {
	m.busy = false
	held := m.held()
	for i, w := range t.waits {
		switch {
		case w.answer != nil: // it has ended during the read
		case w.isHeld(held) && found[i].err == nil: // the entity itself has begun to wait
			w.stale = true
		case found[i].isFinal() || w.over && !w.stale:
			m.end(w, found[i])
		default:
			w.clear = max(w.clear, end)
		}
	}
}

// end gives a wait its only answer.
func (m *machine) end(w *wait, a answer) {
	a.woken = w.clear != unknownPlace
	w.answer = &a
	m.waits = slices.DeleteFunc(m.waits, func(o *wait) bool { return o == w })
	m.ended = append(m.ended, w)
	if n := len(a.entries); n > 0 && !w.adapter {
		m.handOver(w.filter, a.entries[n-1].Place)
	}
	for _, e := range a.entries {
		d := newDelivery(e)
		if !slices.ContainsFunc(m.uncounted, func(o delivery) bool { return o.place == d.place }) { // several waits can wake with the same message
			m.uncounted = append(m.uncounted, d)
		}
	}
}

// stamp sets the time of the deliveries that have none yet. The driver calls it after each
// event.
func (m *machine) stamp(now func() shoal.Time) {
	var at shoal.Time
	for i := len(m.uncounted) - 1; i >= 0 && m.uncounted[i].at.IsZero(); i-- {
		if at.IsZero() {
			at = now()
		}
		m.uncounted[i].at = at
	}
}

// known returns the deliveries that are not counted yet.
func (m *machine) known() (out []storage.DeliveredEntry) {
	for _, d := range m.uncounted {
		out = append(out, d.entry())
	}
	return out
}

// listens reports whether a message would end a wait of the entity itself.
func (m *machine) listens(d delivery) bool {
	return slices.ContainsFunc(m.waits, func(w *wait) bool { return w.isOwn() && d.matches(w.filter) })
}

// isUnused reports whether the machine has nothing to remember.
func (m *machine) isUnused() bool { return !m.busy && len(m.waits) == 0 && len(m.uncounted) == 0 }
