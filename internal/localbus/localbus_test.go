package localbus_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest/bustest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBus(t *testing.T) {
	bustest.Exercise(t, func(*testing.T) core.Bus { return localbus.New() })
}

// Exactly QueueSize ephemeral events are queued; notifications do not count.
func TestQueueSize(t *testing.T) {
	bus := localbus.New()
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a", "b")
	for n := range localbus.QueueSize + 10 {
		bus.Publish(core.Notification{Topic: "b"})
		bus.Publish(core.Notification{Topic: "a", Event: []byte(fmt.Sprint(n))})
	}
	got := sub.Take()
	if len(got) != localbus.QueueSize+1 {
		t.Fatalf("got %d messages, want %d events and one notification", len(got), localbus.QueueSize)
	}
	if last := got[len(got)-1]; string(last.Event) != fmt.Sprint(localbus.QueueSize-1) {
		t.Errorf("got the last event %s, want %d", last.Event, localbus.QueueSize-1)
	}
}

// Inside a process a topic is watched exactly while it has a subscriber.
func TestWatched(t *testing.T) {
	bus := localbus.New()
	one, two := bus.Subscribe(), bus.Subscribe()
	watched := func(want bool) {
		t.Helper()
		if bus.Watched("a") != want {
			t.Errorf("got Watched = %v, want %v", !want, want)
		}
	}
	watched(false)
	one.Add("a")
	two.Add("a")
	one.Remove("a")
	watched(true)
	two.Close()
	watched(false)
	one.Close()
	watched(false)
}

// Topics are those that have a subscriber, each once.
func TestTopics(t *testing.T) {
	bus := localbus.New()
	one, two := bus.Subscribe(), bus.Subscribe()
	one.Add("a", "b")
	two.Add("b", "c")
	one.Remove("a")
	got := bus.Topics()
	slices.Sort(got)
	if want := []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	one.Close()
	two.Close()
	if got := bus.Topics(); len(got) > 0 {
		t.Errorf("got %q without subscribers", got)
	}
}

// Publishing without subscribers allocates nothing and retains no memory.
func TestPublishWithoutSubscribers(t *testing.T) {
	bus := localbus.New()
	if n := testing.AllocsPerRun(100, func() { bus.Publish(core.Notification{Topic: "a"}) }); n != 0 {
		t.Errorf("got %v allocations without subscribers, want 0", n)
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, subscribers := range []int{1, 100} {
		b.Run(fmt.Sprint(subscribers), func(b *testing.B) {
			bus := localbus.New()
			for range subscribers {
				sub := bus.Subscribe()
				defer sub.Close()
				sub.Add("a")
			}
			for b.Loop() {
				bus.Publish(core.Notification{Topic: "a"})
			}
		})
	}
}
