package inbox

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// desk drives a machine by hand. Its methods return it, so that a course reads as a sentence.
type desk struct {
	machine
	t    *testing.T
	task task
	all  []*wait
}

// waitFor opens a wait for mentions that knows the inbox up to a place.
func (d *desk) waitFor(kind shoal.WaitKind, clear int64) *wait {
	w := &wait{filter: storage.InboxFilter{Kind: kind}, clear: clear, seen: d.notified}
	d.all = append(d.all, w)
	d.open(w)
	return w
}

// adapterFor opens the wait of an adapter.
func (d *desk) adapterFor(kind shoal.WaitKind, clear int64) *wait {
	w := &wait{filter: storage.InboxFilter{Kind: kind}, clear: clear, seen: d.notified, adapter: true}
	d.all = append(d.all, w)
	d.open(w)
	return w
}

// begin takes the next task, which must be the wanted one: "", "count 3 4" or "read 1 2", with
// the numbers of the waits.
func (d *desk) begin(want string) {
	d.t.Helper()
	d.task = d.next()
	got := ""
	if d.task.counts != nil {
		got = "count"
		for _, e := range d.task.counts {
			got += fmt.Sprint(" ", e.Place)
		}
	}
	if d.task.waits != nil {
		got += "read"
		for _, w := range d.task.waits {
			got += fmt.Sprint(" ", slices.Index(d.all, w)+1)
		}
	}
	if got != want {
		d.t.Fatalf("the next task is %q, want %q", got, want)
	}
}

// finish reports what the reads of the task have found, by wait.
func (d *desk) finish(end int64, found ...answer) {
	d.read(d.task, append(found, make([]answer, len(d.task.waits)-len(found))...), end)
}

// want checks the answers of all waits: "open", "time-out", "lost", or the places.
func (d *desk) want(answers ...string) {
	d.t.Helper()
	for i, w := range d.all {
		got := "open"
		if w.answer != nil {
			switch {
			case w.answer.err != nil:
				got = w.answer.err.Error()
			case len(w.answer.entries) == 0:
				got = "time-out"
			default:
				got = ""
				for _, e := range w.answer.entries {
					got += fmt.Sprint(e.Place)
				}
			}
		}
		if got != answers[i] {
			d.t.Errorf("wait %d: %s, want %s", i+1, got, answers[i])
		}
	}
}

func mention(place int64) storage.InboxEntry {
	return storage.InboxEntry{Place: place, Reason: shoal.ReasonMention, Delivery: 1}
}

func plainMessage(place int64) storage.InboxEntry {
	return storage.InboxEntry{Place: place, Reason: shoal.ReasonMessage, Delivery: 1}
}

func entries(e ...storage.InboxEntry) answer { return answer{entries: e} }

// Each course is one rule of the machine.
func TestMachine(t *testing.T) {
	const mentions, messages = shoal.WaitMentions, shoal.WaitMessages
	lost := errors.New("lost")
	for name, course := range map[string]func(*desk){
		"a wait that knows the inbox does not read": func(d *desk) {
			d.waitFor(mentions, 4)
			d.begin("")
			d.commit(mention(5), 0, true)
			d.want("5")
		},
		"a wait that does not know the inbox reads, and no message passes it": func(d *desk) {
			d.waitFor(mentions, unknownPlace)
			d.begin("read 1")
			d.commit(mention(5), 0, true)
			d.want("open")
			d.finish(0, entries(mention(4), mention(5)))
			d.want("45")
		},
		"after a read without messages the next one is delivered directly": func(d *desk) {
			d.waitFor(mentions, unknownPlace)
			d.begin("read 1")
			d.finish(4)
			d.commit(mention(5), 0, true)
			d.want("5")
		},
		"a message is delivered to all waits that it matches": func(d *desk) {
			d.waitFor(mentions, 4)
			d.waitFor(messages, 4)
			d.waitFor(mentions, 4)
			d.commit(plainMessage(5), 0, true)
			d.want("open", "5", "open")
			d.commit(mention(6), 0, true)
			d.want("6", "5", "6")
		},
		"or to none, if one of them does not know the inbox": func(d *desk) {
			d.waitFor(mentions, 4)
			d.waitFor(messages, unknownPlace)
			d.commit(mention(5), 0, true)
			d.want("open", "open")
			d.begin("read 1 2")
		},
		"nothing passes a message of another server": func(d *desk) {
			d.waitFor(mentions, 4)
			d.commit(mention(6), 5, true)
			d.want("open")
			d.notify(6)
			d.begin("read 1")
			d.finish(6, entries(mention(5), mention(6)))
			d.want("56")
		},
		"nor one that is not delivered yet": func(d *desk) {
			d.waitFor(mentions, 4)
			d.commit(mention(6), 0, false)
			d.commit(mention(5), 0, true)
			d.want("open")
		},
		"nor one that a wait may have missed": func(d *desk) {
			d.waitFor(messages, 4)
			d.miss(5)
			d.commit(plainMessage(6), 0, true)
			d.want("open")
		},
		"a message that the last read has found is not delivered again": func(d *desk) {
			d.waitFor(mentions, unknownPlace)
			d.begin("read 1")
			d.finish(5) // 5 does not match
			d.commit(mention(5), 0, true)
			d.want("open")
		},
		"a notification about what the waits know leads to no read": func(d *desk) {
			d.waitFor(mentions, 5)
			d.notify(5)
			d.begin("")
			d.notify(6)
			d.begin("read 1")
		},
		"a notification without a place leads to a read": func(d *desk) {
			d.waitFor(mentions, 5)
			d.notify(0)
			d.begin("read 1")
		},
		"a wait reads if a notification came while it acknowledged": func(d *desk) {
			w := &wait{clear: 5, seen: d.notified}
			d.all = append(d.all, w)
			d.notify(6)
			d.open(w)
			d.begin("read 1")
		},
		"one task at a time: what comes during a read is read after it": func(d *desk) {
			d.waitFor(mentions, unknownPlace)
			d.begin("read 1")
			first := d.task
			d.waitFor(mentions, unknownPlace)
			d.begin("")
			d.task = first
			d.finish(3)
			d.begin("read 1 2")
		},
		"deliveries are counted before a read that may find their messages": func(d *desk) {
			d.waitFor(mentions, 4)
			d.commit(mention(5), 0, true)
			d.waitFor(mentions, unknownPlace)
			d.begin("count 5")
			d.counted()
			d.begin("read 2")
		},
		"once, however many waits they end": func(d *desk) {
			d.waitFor(mentions, 4)
			d.waitFor(messages, 4)
			d.commit(mention(5), 0, true)
			d.waitFor(mentions, unknownPlace)
			d.begin("count 5")
		},
		"but not if they are acknowledged": func(d *desk) {
			d.waitFor(mentions, 4)
			d.commit(mention(5), 0, true)
			d.waitFor(messages, 5)
			d.commit(plainMessage(6), 0, true)
			d.acknowledge(storage.InboxFilter{Kind: mentions}, 6)
			d.waitFor(mentions, unknownPlace)
			d.begin("count 6")
		},
		"a wait whose time is up ends with a read that begins later": func(d *desk) {
			w := d.waitFor(mentions, unknownPlace)
			d.begin("read 1")
			d.timeUp(w)
			d.finish(4)
			d.want("open")
			d.begin("read 1")
			d.finish(4)
			d.want("time-out")
		},
		"which may find a message": func(d *desk) {
			d.timeUp(d.waitFor(mentions, 4))
			d.begin("read 1")
			d.finish(5, entries(mention(5)))
			d.want("5")
		},
		"a wait without time that knows the inbox ends at once": func(d *desk) {
			w := &wait{clear: 4, over: true}
			d.all = append(d.all, w)
			d.open(w)
			d.begin("")
			d.want("time-out")
		},
		"and one that does not know it reads once": func(d *desk) {
			w := &wait{clear: unknownPlace, over: true}
			d.all = append(d.all, w)
			d.open(w)
			d.begin("read 1")
			d.finish(4)
			d.want("time-out")
		},
		"the fifth wait ends the oldest": func(d *desk) {
			for range 5 {
				d.waitFor(mentions, 4)
			}
			d.begin("read 1 2 3 4 5")
			d.finish(4)
			d.want("time-out", "open", "open", "open", "open")
			d.waitFor(mentions, 4)
			d.waitFor(mentions, 4)
			d.begin("read 2 3 4 5 6 7")
			d.finish(4)
			d.want("time-out", "time-out", "time-out", "open", "open", "open", "open")
		},
		"an error ends all waits that were read for": func(d *desk) {
			d.waitFor(mentions, 4)
			d.waitFor(messages, unknownPlace)
			d.begin("read 1 2")
			d.finish(0, answer{err: lost}, answer{err: lost})
			d.want("lost", "lost")
		},
		"a wait that has left gets nothing, and keeps nobody": func(d *desk) {
			w := d.waitFor(mentions, unknownPlace)
			d.waitFor(mentions, 4)
			d.leave(w, lost)
			d.begin("")
			d.commit(mention(5), 0, true)
			d.want("lost", "5")
		},
		"a wait that leaves before it opens is not opened": func(d *desk) {
			w := &wait{clear: unknownPlace}
			d.all = append(d.all, w)
			d.leave(w, lost)
			d.open(w)
			d.begin("")
			d.want("lost")
		},
		"a wait that ends during a read keeps its answer": func(d *desk) {
			w := d.waitFor(mentions, unknownPlace)
			d.begin("read 1")
			d.leave(w, lost)
			d.finish(4, entries(mention(4)))
			d.want("lost")
			if d.uncounted != nil {
				d.t.Errorf("%v are counted", d.uncounted)
			}
		},
		"a wait of an adapter returns nothing while the entity itself waits, and nothing that it gets": func(d *desk) {
			d.waitFor(mentions, 4)
			d.adapterFor(mentions, unknownPlace)
			d.begin("")
			d.commit(mention(5), 0, true)
			d.want("5", "open")
			d.notify(5)
			d.begin("count 5")
			d.counted()
			d.begin("read 2")
			if d.task.clear[0] != 5 {
				d.t.Errorf("the read begins after %d, want 5", d.task.clear[0])
			}
			d.finish(5)
			d.commit(mention(6), 0, true)
			d.want("5", "6")
		},
		"when the entity itself has left, it returns what the entity did not want": func(d *desk) {
			w := d.waitFor(mentions, 4)
			d.adapterFor(messages, 4)
			d.commit(plainMessage(5), 0, true)
			d.notify(5)
			d.want("open", "open")
			d.leave(w, lost)
			d.begin("read 2")
			d.finish(5, entries(plainMessage(5)))
			d.want("lost", "5")
		},
		"or what another server has not delivered to the entity": func(d *desk) {
			d.hold(true)
			d.adapterFor(mentions, 4)
			d.notify(6)
			d.begin("")
			d.handOver(storage.InboxFilter{Kind: messages}, 5)
			d.hold(false)
			d.begin("read 1")
			if d.task.clear[0] != 5 {
				d.t.Errorf("the read begins after %d, want 5", d.task.clear[0])
			}
			d.finish(6, entries(mention(6)))
			d.want("6")
		},
		"a read for an adapter that the entity overtakes is repeated": func(d *desk) {
			d.adapterFor(mentions, unknownPlace)
			d.begin("read 1")
			w := d.waitFor(messages, 5)
			d.finish(0, entries(mention(5)))
			d.want("open", "open")
			d.begin("")
			d.leave(w, lost)
			d.begin("read 1")
			d.finish(0, entries(mention(5)))
			d.want("5", "lost")
		},
		"the time of an adapter ends without a read while the entity itself waits": func(d *desk) {
			w := d.adapterFor(mentions, unknownPlace)
			d.waitFor(mentions, 4)
			d.timeUp(w)
			d.want("time-out", "open")
			d.timeUp(d.adapterFor(mentions, unknownPlace))
			d.want("time-out", "open", "time-out")
		},
		"or has ended when it begins to": func(d *desk) {
			d.timeUp(d.adapterFor(mentions, 4))
			d.waitFor(mentions, 4)
			d.want("time-out", "open")
		},
		"adapters do not count among the four waits of the entity, nor the other way round": func(d *desk) {
			for range 4 {
				d.waitFor(mentions, 4)
				d.adapterFor(mentions, 4)
			}
			d.begin("")
			d.adapterFor(mentions, 4)
			d.want("open", "time-out", "open", "open", "open", "open", "open", "open", "open")
		},
		"and do not listen": func(d *desk) {
			d.adapterFor(mentions, 4)
			if d.listens(newDelivery(mention(5))) {
				d.t.Error("an adapter listens")
			}
		},
		"a wait of the entity does not learn from what an adapter knows": func(d *desk) {
			d.waitFor(mentions, 4)
			a := d.adapterFor(mentions, unknownPlace)
			d.commit(mention(5), 0, true)
			own := &wait{filter: a.filter}
			if a.clear != 5 || a.isLike(own) {
				d.t.Errorf("the adapter knows %d, like a wait of the entity: %t", a.clear, a.isLike(own))
			}
		},
		"a wait for agents reads when one arrives, and messages do not concern it": func(d *desk) {
			w := &wait{agents: &AgentsRequest{}, clear: everyPlace}
			d.all = append(d.all, w)
			d.open(w)
			d.begin("read 1")
			d.finish(0, answer{agents: &PresentAgents{}})
			d.waitFor(messages, 4)
			d.notify(0)
			d.commit(plainMessage(5), 0, true)
			d.want("open", "5")
			d.begin("")
			d.arrive(w)
			d.begin("count 5")
			d.counted()
			d.begin("read 1")
			d.finish(0, answer{agents: &PresentAgents{complete: true}})
			d.want("time-out", "5") // without messages
		},
	} {
		t.Run(name, func(t *testing.T) { course(&desk{t: t}) })
	}
}
