package localbus_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBus(t *testing.T) {
	shoaltest.ExerciseBus(t, func(*testing.T) hub.Bus { return localbus.New() })
}

// Of passing events QueueSize are kept, exactly; hints do not count.
func TestQueueSize(t *testing.T) {
	bus := localbus.New()
	sub := bus.Subscribe()
	defer sub.Close()
	sub.Add("a", "b")
	for n := range localbus.QueueSize + 10 {
		bus.Publish(hub.Note{Topic: "b"})
		bus.Publish(hub.Note{Topic: "a", Event: []byte(fmt.Sprint(n))})
	}
	got := sub.Take()
	if len(got) != localbus.QueueSize+1 {
		t.Fatalf("%d notes were kept, want %d events and one hint", len(got), localbus.QueueSize)
	}
	if last := got[len(got)-1]; string(last.Event) != fmt.Sprint(localbus.QueueSize-1) {
		t.Errorf("the last event that was kept is %s, want %d", last.Event, localbus.QueueSize-1)
	}
}

// Inside a process a topic is watched exactly as long as somebody listens.
func TestWatched(t *testing.T) {
	bus := localbus.New()
	one, two := bus.Subscribe(), bus.Subscribe()
	watched := func(want bool) {
		t.Helper()
		if bus.Watched("a") != want {
			t.Errorf("Watched is %v, want %v", !want, want)
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

// Publishing takes nothing from who publishes: no memory stays behind without
// subscribers, and none is needed.
func TestPublishToNobody(t *testing.T) {
	bus := localbus.New()
	if n := testing.AllocsPerRun(100, func() { bus.Publish(hub.Note{Topic: "a"}) }); n != 0 {
		t.Errorf("a hint to nobody costs %v allocations", n)
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
				bus.Publish(hub.Note{Topic: "a"})
			}
		})
	}
}
