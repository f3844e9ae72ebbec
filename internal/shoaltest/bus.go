package shoaltest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/hub"
)

// ExerciseBus holds that a bus does what [hub.Bus] says. open makes a bus without
// subscribers, which ends with the test. Where a note may take its way through
// other processes the suite waits for it, at most patience.
func ExerciseBus(t *testing.T, open func(t *testing.T) hub.Bus) {
	for _, c := range []struct {
		promise string
		test    func(*testing.T, hub.Bus)
	}{
		{"who subscribes to a topic gets its notes and no others", busTopics},
		{"notes of one topic arrive in their order", busOrder},
		{"hints that are not taken yet are one", busHintsMerge},
		{"hints that are one go as far as all of them", busHintsPlaces},
		{"a full queue drops the newest passing events and no hint", busBound},
		{"what was published before Add is not missed by who reads after it", busAddFirst},
		{"Add and Remove may be repeated", busRepeated},
		{"Close ends the subscription and may be repeated", busClose},
		{"one value of Ready may stand for many notes", busReady},
		{"publishers and subscribers do not meet", busRace},
	} {
		t.Run(c.promise, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// patience is how long a note may be under way.
const patience = 10 * time.Second

func hint(topic string) hub.Note { return hub.Note{Topic: topic} }

func news(topic, event string) hub.Note { return hub.Note{Topic: topic, Event: []byte(event)} }

// take returns the next notes, n of them at least.
func take(t *testing.T, sub hub.Subscription, n int) (out []hub.Note) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for len(out) < n {
		select {
		case <-sub.Ready():
			out = append(out, sub.Take()...)
		case <-late.C:
			t.Fatalf("%d notes have come after %v, want %d: %s", len(out), patience, n, show(out))
		}
	}
	return out
}

func show(notes []hub.Note) string {
	out := ""
	for _, n := range notes {
		out += fmt.Sprintf("[%s %s %d]", n.Topic, n.Event, n.Place)
	}
	return out
}

func wantNotes(t *testing.T, got []hub.Note, want ...hub.Note) {
	t.Helper()
	if show(got) != show(want) {
		t.Errorf("came %s, want %s", show(got), show(want))
	}
}

func busTopics(t *testing.T, bus hub.Bus) {
	one, both, none := bus.Subscribe(), bus.Subscribe(), bus.Subscribe()
	defer one.Close()
	defer both.Close()
	defer none.Close()
	one.Add("a")
	both.Add("a", "b")
	bus.Publish(hint("b"))
	bus.Publish(hint("c"))
	bus.Publish(news("a", "1"))
	wantNotes(t, take(t, one, 1), news("a", "1"))
	if got := take(t, both, 2); len(got) != 2 {
		t.Errorf("came %s, want a hint of b and the event of a", show(got))
	}
	wantNotes(t, none.Take())
}

func busOrder(t *testing.T, bus hub.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a")
	var want []hub.Note
	for n := range 500 {
		want = append(want, news("a", fmt.Sprint(n)))
		bus.Publish(want[n])
	}
	wantNotes(t, take(t, sub, len(want)), want...)
}

func busHintsMerge(t *testing.T, bus hub.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a", "b")
	for range 100_000 { // a queue without merging would be full, or huge
		bus.Publish(hint("a"))
	}
	bus.Publish(hint("b"))
	bus.Publish(news("b", "last"))
	hints := map[string]int{}
	for last := false; !last; {
		for _, n := range take(t, sub, 1) {
			hints[n.Topic]++
			last = last || n.Event != nil
		}
	}
	if hints["a"] < 1 || hints["a"] > 1000 || hints["b"] != 2 {
		t.Errorf("came %v notes by topic, want few of a, and the hint and the event of b", hints)
	}
}

// Whoever takes hints that are one knows how far all of them go, or that one of them
// does not say.
func busHintsPlaces(t *testing.T, bus hub.Bus) {
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
			bus.Publish(hub.Note{Topic: "a", Place: place})
		}
		bus.Publish(news("end", "x"))
		var got []hub.Note
		for len(got) == 0 || got[len(got)-1].Topic != "end" {
			got = append(got, take(t, sub, 1)...)
		}
		all := got[0]
		for _, n := range got[:len(got)-1] {
			all = all.Join(n)
		}
		if all.Place != c.want {
			t.Errorf("hints at the places %v are one at %d, want %d", c.places, all.Place, c.want)
		}
		sub.Close()
	}
}

func busBound(t *testing.T, bus hub.Bus) {
	slow, quick := bus.Subscribe(), bus.Subscribe()
	defer slow.Close()
	defer quick.Close()
	slow.Add("a", "b")
	quick.Add("end")
	const many = 100_000
	for n := range many {
		bus.Publish(news("a", fmt.Sprint(n)))
	}
	bus.Publish(hint("b"))
	bus.Publish(hint("end"))
	take(t, quick, 1) // whatever comes has come
	got := take(t, slow, 1)
	hinted := false
	next := 0
	for _, n := range got {
		switch {
		case n.Topic == "b":
			hinted = true
		case string(n.Event) != fmt.Sprint(next):
			t.Fatalf("event %s came where %d was next: what is dropped are the newest", n.Event, next)
		default:
			next++
		}
	}
	if !hinted {
		t.Error("a full queue has dropped a hint")
	}
	if next == 0 || next == many {
		t.Errorf("of %d events %d were kept; some bound is expected", many, next)
	}
	bus.Publish(news("a", "again"))
	wantNotes(t, take(t, slow, 1), news("a", "again"))
}

// The hub relies on this: it subscribes, then reads the store. Whoever stored
// something before that is read, whoever stores after it is heard.
func busAddFirst(t *testing.T, bus hub.Bus) {
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
			bus.Publish(hint(topic))
		}()
		sub := bus.Subscribe()
		sub.Add(topic)
		stored.Lock()
		read := there
		stored.Unlock()
		if !read {
			take(t, sub, 1)
		}
		<-published
		sub.Close()
	}
}

func busRepeated(t *testing.T, bus hub.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a")
	sub.Add("a", "b", "a")
	bus.Publish(news("a", "1"))
	wantNotes(t, take(t, sub, 1), news("a", "1"))
	sub.Remove("a", "never added")
	sub.Remove("a")
	bus.Publish(news("a", "2"))
	bus.Publish(news("b", "3"))
	wantNotes(t, take(t, sub, 1), news("b", "3"))
	sub.Add("a")
	bus.Publish(news("a", "4"))
	wantNotes(t, take(t, sub, 1), news("a", "4"))
}

func busClose(t *testing.T, bus hub.Bus) {
	sub, other := bus.Subscribe(), bus.Subscribe()
	defer other.Close()
	sub.Add("a", "b")
	other.Add("b")
	if !bus.Watched("a") || !bus.Watched("b") {
		t.Error("a topic with a subscriber is not watched")
	}
	sub.Close()
	sub.Close()
	bus.Publish(news("b", "1"))
	wantNotes(t, take(t, other, 1), news("b", "1"))
	wantNotes(t, sub.Take())
	bus.Subscribe().Close() // without a topic
}

func busReady(t *testing.T, bus hub.Bus) {
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a", "end")
	for n := range 10 {
		bus.Publish(news("a", fmt.Sprint(n)))
	}
	bus.Publish(news("end", "x"))
	got := take(t, sub, 11)
	if len(got) != 11 {
		t.Errorf("came %s, want ten events and the end", show(got))
	}
	wantNotes(t, sub.Take())
	select {
	case <-sub.Ready(): // one for what was taken already is allowed
	default:
	}
	bus.Publish(hint("a"))
	wantNotes(t, take(t, sub, 1), hint("a"))
}

// The race detector watches this. Who stays gets everything of its topic.
func busRace(t *testing.T, bus hub.Bus) {
	const publishers, each = 4, 200
	var all sync.WaitGroup
	for p := range publishers {
		topic := fmt.Sprintf("t%d", p)
		sub := bus.Subscribe()
		sub.Add(topic)
		all.Go(func() {
			for n := range each {
				bus.Publish(news(topic, fmt.Sprint(n)))
				bus.Publish(hint("all"))
			}
		})
		all.Go(func() {
			defer sub.Close()
			for next := 0; next < each; {
				select {
				case <-sub.Ready():
				case <-time.After(patience):
					t.Errorf("%s: event %d has not come after %v", topic, next, patience)
					return
				}
				for _, n := range sub.Take() {
					if string(n.Event) != fmt.Sprint(next) {
						t.Errorf("%s: event %s came where %d was next", topic, n.Event, next)
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
