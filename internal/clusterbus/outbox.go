package clusterbus

import (
	"sync"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

// Bounds of the outbox. Events beyond theirs are dropped, and their topics are notified that
// events are missing. If there are too many topics, everything is dropped, which the other
// servers notice by a missing frame.
const (
	maxOutEvents = 4096
	maxOutBytes  = 4 << 20
	maxOutTopics = 1 << 16
)

// outbox holds what is to be sent to the other servers. It joins the notifications of a topic,
// as subscriptions do. It is safe for concurrent use.
type outbox struct {
	ready chan struct{} // contains a value when there may be something to send

	mu       sync.Mutex
	items    []item
	notified map[string]int // index of the item in items that notifies a topic
	events   int
	bytes    int  // of the events
	urgent   bool // an event must not wait
	prompt   bool // a notification must not wait
	overflow bool
	dropped  int64 // events dropped since the last call of take
}

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), notified: map[string]int{}}
}

// add adds a notification.
func (o *outbox) add(n core.Notification) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n.Event == nil {
		o.notify(n)
	} else {
		o.addEvent(n)
	}
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// notify adds a notification without an event. o.mu must be held.
func (o *outbox) notify(n core.Notification) {
	if i, have := o.notified[n.Topic]; have {
		it := &o.items[i]
		both := core.Notification{Place: it.place, Missed: it.missed}.Join(n)
		it.place, it.missed = both.Place, both.Missed
		return
	}
	if len(o.notified) >= maxOutTopics {
		o.clear()
		o.overflow = true
		return
	}
	o.prompt = o.prompt || !core.Follows(n.Topic)
	o.notified[n.Topic] = len(o.items)
	o.items = append(o.items, item{topics: []string{n.Topic}, place: n.Place, missed: n.Missed})
}

// addEvent adds an event. One that is published to several topics, one after the other, is
// sent once. o.mu must be held.
func (o *outbox) addEvent(n core.Notification) {
	if last := len(o.items) - 1; last >= 0 && len(n.Event) > 0 && len(o.items[last].event) == len(n.Event) && &o.items[last].event[0] == &n.Event[0] {
		o.items[last].topics = append(o.items[last].topics, n.Topic)
		return
	}
	if o.events >= maxOutEvents || o.bytes+len(n.Event) > maxOutBytes {
		o.dropped++
		o.notify(core.Notification{Topic: n.Topic, Missed: true})
		return
	}
	o.events++
	o.bytes += len(n.Event)
	o.urgent = o.urgent || n.Urgent
	o.items = append(o.items, item{topics: []string{n.Topic}, event: n.Event})
}

// clear removes everything. o.mu must be held.
func (o *outbox) clear() {
	o.dropped += int64(o.events)
	o.items, o.events, o.bytes = nil, 0, 0
	clear(o.notified)
}

// haste is how soon the content of an outbox has to be sent.
type haste int

const (
	nothing    haste = iota // there is nothing to send
	onlyEvents              // all of it are events that can wait
	quiet                   // nothing but such events and notifications for followers
	prompt
)

// state returns how soon the content has to be sent.
func (o *outbox) state() haste {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.items) == 0 && !o.overflow:
		return nothing
	case o.prompt || o.urgent || o.overflow:
		return prompt
	case len(o.notified) == 0:
		return onlyEvents
	}
	return quiet
}

// taken is what take returns: the items of one frame. overflow reports that others were
// dropped, so that the number of a frame must be left out; dropped counts the events that were
// dropped.
type taken struct {
	items    []item
	overflow bool
	dropped  int64
}

// take removes the next items, as many as fit into size bytes. An event that alone is larger
// becomes a notification that events are missing.
func (o *outbox) take(size int) (t taken) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, used := 0, 0
	for ; n < len(o.items); n++ {
		it := &o.items[n]
		if it.size() > size {
			o.events--
			o.bytes -= len(it.event)
			o.dropped++
			it.event, it.missed = nil, true
		}
		if used += it.size(); used > size && n > 0 {
			break
		}
		if it.event != nil {
			o.events--
			o.bytes -= len(it.event)
		}
	}
	t = taken{items: o.items[:n:n], overflow: o.overflow, dropped: o.dropped}
	o.items = append([]item(nil), o.items[n:]...)
	clear(o.notified)
	for i, it := range o.items {
		if it.event == nil {
			o.notified[it.topics[0]] = i
		}
	}
	o.overflow, o.dropped = false, 0
	if len(o.items) == 0 {
		o.urgent, o.prompt = false, false
	}
	return t
}
