// Package bustest is the conformance suite of [hub.Bus]: what every implementation promises,
// as subtests.
package bustest

import (
	"fmt"
	"slices"
	"sync"
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
	wantMessages(t, receive(t, one, 1), ephemeral("a", "1"))
	if got := receive(t, both, 2); len(got) != 2 {
		t.Errorf("got %s, want a notification of b and the event of a", show(got))
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
	wantMessages(t, receive(t, sub, len(want)), want...)
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
	counts := map[string]int{}
	for last := false; !last; {
		for _, n := range receive(t, sub, 1) {
			counts[n.Topic]++
			last = last || n.Event != nil
		}
	}
	if counts["a"] < 1 || counts["a"] > 1000 || counts["b"] != 2 {
		t.Errorf("got %v messages by topic, want few of a, and the notification and the event of b", counts)
	}
}

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
		sub := bus.Subscribe()
		sub.Add("a", "end")
		for _, place := range c.places {
			bus.Publish(core.Notification{Topic: "a", Place: place})
		}
		bus.Publish(ephemeral("end", "x"))
		var got []core.Notification
		for len(got) == 0 || got[len(got)-1].Topic != "end" {
			got = append(got, receive(t, sub, 1)...)
		}
		all := got[0]
		for _, n := range got[:len(got)-1] {
			all = all.Join(n)
		}
		if all.Place != c.want {
			t.Errorf("notifications with the positions %v: got the merged position %d, want %d", c.places, all.Place, c.want)
		}
		sub.Close()
	}
}

// A merged notification says that events were missed if one of them does.
func busMergedMissed(t *testing.T, bus core.Bus) {
	for _, missed := range [][]bool{{false, false}, {true, false}, {false, true}, {false, true, false}} {
		sub := bus.Subscribe()
		sub.Add("a", "end")
		for _, m := range missed {
			bus.Publish(core.Notification{Topic: "a", Missed: m})
		}
		bus.Publish(ephemeral("end", "x"))
		got, ended := false, false
		for !ended {
			for _, n := range receive(t, sub, 1) {
				got, ended = got || n.Missed, ended || n.Topic == "end"
			}
		}
		if want := slices.Contains(missed, true); got != want {
			t.Errorf("notifications with Missed %v: got %v, want %v", missed, got, want)
		}
		sub.Close()
	}
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
	bus.Publish(notification("end"))
	receive(t, quick, 1) // everything has arrived
	got := receive(t, slow, 1)
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
	wantMessages(t, receive(t, slow, 1), ephemeral("a", "again"))
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
			receive(t, sub, 1)
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
	wantMessages(t, receive(t, sub, 1), ephemeral("a", "1"))
	sub.Remove("a", "never added")
	sub.Remove("a")
	bus.Publish(ephemeral("a", "2"))
	bus.Publish(ephemeral("b", "3"))
	wantMessages(t, receive(t, sub, 1), ephemeral("b", "3"))
	sub.Add("a")
	bus.Publish(ephemeral("a", "4"))
	wantMessages(t, receive(t, sub, 1), ephemeral("a", "4"))
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
	wantMessages(t, receive(t, other, 1), ephemeral("b", "1"))
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
	var got []core.Notification
	for len(got) < 11 && !t.Failed() {
		for _, n := range receive(t, sub, 1) {
			if n.Event != nil { // a bus that hears a server for the first time announces that it may have missed something
				got = append(got, n)
			}
		}
	}
	if len(got) != 11 {
		t.Errorf("got %s, want ten events and the end", show(got))
	}
	wantMessages(t, sub.Take())
	select {
	case <-sub.Ready(): // a value for messages that were taken already is allowed
	default:
	}
	bus.Publish(notification("a"))
	wantMessages(t, receive(t, sub, 1), notification("a"))
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
