// Package bustest is the conformance suite of [hub.Bus]: what every implementation promises,
// as subtests.
package bustest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

// Exercise runs the suite. Every implementation must pass all of it. open returns a bus without
// subscribers, which is closed when the test ends. Messages may travel through other
// processes: the suite waits for each, at most patience.
func Exercise(t *testing.T, open func(t *testing.T) core.Bus) {
	for _, c := range []struct {
		promise string
		test    func(*testing.T, core.Bus)
	}{
		{"a subscriber gets the messages of its topics and no others", busTopics},
		{"messages of one topic arrive in order", busOrder},
		{"pending notifications are merged", busNotificationsMerge},
		{"merged notifications cover the positions of all of them", busMergedPositions},
		{"merged notifications keep that events were missed", busMergedMissed},
		{"a full queue drops the newest ephemeral events and no notification", busBound},
		{"a reader that adds a topic and then reads misses nothing", busAddFirst},
		{"Add and Remove are idempotent", busRepeated},
		{"Close ends the subscription and is idempotent", busClose},
		{"one value of Ready may announce many messages", busReady},
		{"publishers and subscribers run concurrently", busRace},
	} {
		t.Run(c.promise, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// patience is the time within which a message must arrive.
const patience = 10 * time.Second

func busTopics(t *testing.T, bus core.Bus) {
	one, both, none := bus.Subscribe(), bus.Subscribe(), bus.Subscribe()
	defer one.Close()
	defer both.Close()
	defer none.Close()
	one.Add("a")
	both.Add("a", "b")
	bus.Publish(notification("b"))
	bus.Publish(notification("c"))
	bus.Publish(ephemeral("a", "1"))
	wantMessages(t, receiveEvents(t, one, 1), ephemeral("a", "1"))
	for notified, event := false, false; !notified || !event; {
		for _, n := range receiveAll(t, both) {
			notified = notified || n.Topic == "b" && n.Event == nil
			event = event || n.Topic == "a" && string(n.Event) == "1"
		}
	}
	wantMessages(t, none.Take())
}

func busOrder(t *testing.T, bus core.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a")
	var want []core.Notification
	for n := range 500 {
		want = append(want, ephemeral("a", fmt.Sprint(n)))
		bus.Publish(want[n])
	}
	wantMessages(t, receiveEvents(t, sub, len(want)), want...)
}

func busNotificationsMerge(t *testing.T, bus core.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a", "b")
	for range 100_000 { // a queue without merging would be full, or huge
		bus.Publish(notification("a"))
	}
	bus.Publish(notification("b"))
	bus.Publish(ephemeral("b", "last"))
	ofA, ofB := 0, 0
	for last := false; !last; {
		for _, n := range receiveAll(t, sub) {
			switch {
			case n.Event != nil:
				last = true
			case n.Topic == "a":
				ofA++
			default:
				ofB++
			}
		}
	}
	if ofA < 1 || ofA > 1000 || ofB < 1 {
		t.Errorf("got %d notifications of a and %d of b before the event, want few of a, and that of b", ofA, ofB)
	}
}

// mostTries is how often a bus may say that events were missed where nothing published says so
// (see receiveEvents) before it is taken to say so always.
const mostTries = 20

// A merged notification has the highest position of all, or none if one of them has none.
func busMergedPositions(t *testing.T, bus core.Bus) {
	for _, c := range []struct {
		places []int64
		want   int64
	}{
		{[]int64{3}, 3},
		{[]int64{3, 5, 4}, 5},
		{[]int64{3, 0, 5}, 0},
		{[]int64{0, 5}, 0},
		{[]int64{5, 0}, 0},
	} {
		var all []core.Notification
		for _, place := range c.places {
			all = append(all, core.Notification{Place: place})
		}
		got := merged(t, bus, all)
		for tries := 1; got.Missed && tries < mostTries; tries++ {
			got = merged(t, bus, all)
		}
		if got.Place != c.want {
			t.Errorf("notifications with the positions %v: got the merged position %d, want %d", c.places, got.Place, c.want)
		}
	}
}

// A merged notification says that events were missed if one of them does.
func busMergedMissed(t *testing.T, bus core.Bus) {
	for _, published := range [][]bool{{false, false}, {true, false}, {false, true}, {false, true, false}} {
		var all []core.Notification
		for _, m := range published {
			all = append(all, core.Notification{Missed: m})
		}
		want := slices.Contains(published, true)
		got := merged(t, bus, all)
		for tries := 1; got.Missed && !want && tries < mostTries; tries++ {
			got = merged(t, bus, all)
		}
		if got.Missed != want {
			t.Errorf("notifications with Missed %v: got %v, want %v", published, got.Missed, want)
		}
	}
}

// topics counts the topics of merged: what is under way of an earlier one must not arrive.
var topics atomic.Int64

// merged publishes notifications of a topic that has none yet, and returns what arrives of
// them as one.
func merged(t *testing.T, bus core.Bus, all []core.Notification) core.Notification {
	topic := fmt.Sprintf("merged %d", topics.Add(1))
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add(topic, "end")
	for _, n := range all {
		n.Topic = topic
		bus.Publish(n)
	}
	bus.Publish(ephemeral("end", "x"))
	var got []core.Notification
	for len(got) == 0 || got[len(got)-1].Event == nil {
		got = append(got, receiveAll(t, sub)...)
	}
	out := got[0]
	for _, n := range got[:len(got)-1] {
		out = out.Join(n)
	}
	return out
}

func busBound(t *testing.T, bus core.Bus) {
	slow, quick := bus.Subscribe(), bus.Subscribe()
	defer slow.Close()
	defer quick.Close()
	slow.Add("a", "b")
	quick.Add("end")
	const many = 100_000
	for n := range many {
		bus.Publish(ephemeral("a", fmt.Sprint(n)))
	}
	bus.Publish(notification("b"))
	for arrived := false; !arrived; {
		bus.Publish(notification("end"))
		arrived = !slices.ContainsFunc(receiveAll(t, quick), isMissed) // one that says so may come before the rest
	}
	got := receiveAll(t, slow)
	notified := false
	next := 0
	for _, n := range got {
		switch {
		case n.Topic == "b":
			notified = true
		case n.Missed: // says that events were dropped
		case string(n.Event) != fmt.Sprint(next):
			t.Fatalf("got event %s, want %d: only the newest events may be dropped", n.Event, next)
		default:
			next++
		}
	}
	if !notified {
		t.Error("a full queue dropped a notification")
	}
	if next == 0 || next == many {
		t.Errorf("of %d events %d were kept, want a bound", many, next)
	}
	bus.Publish(ephemeral("a", "again"))
	wantMessages(t, receiveEvents(t, slow, 1), ephemeral("a", "again"))
}

// The hub relies on this: it subscribes, then reads the store. A change is either read, or
// its notification arrives.
func busAddFirst(t *testing.T, bus core.Bus) {
	for n := range 200 {
		topic := fmt.Sprintf("t%d", n)
		var stored sync.Mutex
		there := false
		published := make(chan struct{})
		go func() {
			defer close(published)
			stored.Lock()
			there = true
			stored.Unlock()
			bus.Publish(notification(topic))
		}()
		sub := bus.Subscribe()
		sub.Add(topic)
		stored.Lock()
		read := there
		stored.Unlock()
		if !read {
			receiveAll(t, sub)
		}
		<-published
		sub.Close()
	}
}

func busRepeated(t *testing.T, bus core.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a")
	sub.Add("a", "b", "a")
	bus.Publish(ephemeral("a", "1"))
	wantMessages(t, receiveEvents(t, sub, 1), ephemeral("a", "1"))
	sub.Remove("a", "never added")
	sub.Remove("a")
	bus.Publish(ephemeral("a", "2"))
	bus.Publish(ephemeral("b", "3"))
	wantMessages(t, receiveEvents(t, sub, 1), ephemeral("b", "3"))
	sub.Add("a")
	bus.Publish(ephemeral("a", "4"))
	wantMessages(t, receiveEvents(t, sub, 1), ephemeral("a", "4"))
}

func busClose(t *testing.T, bus core.Bus) {
	sub, other := bus.Subscribe(), bus.Subscribe()
	defer other.Close()
	sub.Add("a", "b")
	other.Add("b")
	if !bus.Watched("a") || !bus.Watched("b") {
		t.Error("Watched = false for a topic with a subscriber")
	}
	sub.Close()
	sub.Close()
	bus.Publish(ephemeral("b", "1"))
	wantMessages(t, receiveEvents(t, other, 1), ephemeral("b", "1"))
	wantMessages(t, sub.Take())
	bus.Subscribe().Close() // without a topic
}

func busReady(t *testing.T, bus core.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a", "end")
	for n := range 10 {
		bus.Publish(ephemeral("a", fmt.Sprint(n)))
	}
	bus.Publish(ephemeral("end", "x"))
	if got := receiveEvents(t, sub, 11); len(got) != 11 {
		t.Errorf("got %s, want ten events and the end", show(got))
	}
	wantMessages(t, slices.DeleteFunc(sub.Take(), hasNoEvent))
	select {
	case <-sub.Ready(): // a value for messages that were taken already is allowed
	default:
	}
	bus.Publish(notification("a"))
	if got := receiveAll(t, sub); !slices.ContainsFunc(got, func(n core.Notification) bool { return n.Topic == "a" }) {
		t.Errorf("got %s, want the notification of a", show(got))
	}
}

// This test is for the race detector. A permanent subscriber gets every message of its
// topic.
func busRace(t *testing.T, bus core.Bus) {
	const publishers, each = 4, 200
	var all sync.WaitGroup
	for p := range publishers {
		topic := fmt.Sprintf("t%d", p)
		sub := bus.Subscribe()
		sub.Add(topic)
		all.Go(func() {
			for n := range each {
				bus.Publish(ephemeral(topic, fmt.Sprint(n)))
				bus.Publish(notification("all"))
			}
		})
		all.Go(func() {
			defer sub.Close()
			for next := 0; next < each; {
				select {
				case <-sub.Ready():
				case <-time.After(patience):
					t.Errorf("%s: event %d has not arrived after %v", topic, next, patience)
					return
				}
				for _, n := range sub.Take() {
					if string(n.Event) != fmt.Sprint(next) {
						t.Errorf("%s: got event %s, want %d", topic, n.Event, next)
						return
					}
					next++
				}
			}
		})
		all.Go(func() {
			for range each {
				guest := bus.Subscribe()
				guest.Add("all", topic)
				bus.Watched("all")
				guest.Take()
				guest.Remove("all")
				guest.Close()
			}
		})
	}
	all.Wait()
}
