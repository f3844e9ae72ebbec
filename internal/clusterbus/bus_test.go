package clusterbus_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	var w clustertest.Wire
	clustertest.Exercise(t, func(*testing.T) clusterbus.Transport { return w.Open("a server") })
}

// pair returns two servers of one cluster, and the line of each.
func pair(t *testing.T, w *clustertest.Wire) (c *clustertest.Cluster, one, two *clusterbus.Bus, lines [2]*clustertest.End) {
	t.Helper()
	c = clustertest.NewCluster()
	lines = [2]*clustertest.End{w.Open("one"), w.Open("two")}
	one, two = c.Start(t, "one", lines[0]), c.Start(t, "two", lines[1])
	return c, one, two, lines
}

// subscribe returns a subscription to topics.
func subscribe(t *testing.T, b core.Bus, topics ...string) core.Subscription {
	sub := b.Subscribe()
	t.Cleanup(sub.Close)
	sub.Add(topics...)
	return sub
}

// next returns what a subscription receives within a time, and how long that took.
func next(t *testing.T, sub core.Subscription, within time.Duration) ([]core.Notification, time.Duration) {
	t.Helper()
	began := time.Now()
	select {
	case <-sub.Ready():
	case <-time.After(within):
		t.Fatalf("nothing arrived within %v", within)
	}
	return sub.Take(), time.Since(began)
}

// A server that starts waits until it hears itself and the others, and no longer.
func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, one, two, _ := pair(t, &clustertest.Wire{})
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("two servers started in %v", took)
		}
		for _, b := range []*clusterbus.Bus{one, two} {
			if s := b.State(); s.Problem != "" {
				<-time.After(time.Second) // the state is recorded four times a second
				if s = b.State(); s.Problem != "" {
					t.Errorf("the bus is down: %s", s.Problem)
				}
			}
		}
	})
}

// A notification is marked as remote on the other servers only.
func TestRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, one, two, _ := pair(t, &clustertest.Wire{})
		here, there := subscribe(t, one, "a"), subscribe(t, two, "a")
		one.Publish(core.Notification{Topic: "a", Place: 7})
		if got, _ := next(t, here, time.Second); len(got) != 1 || got[0].Remote || got[0].Place != 7 {
			t.Errorf("the same server got %+v", got)
		}
		if got, took := next(t, there, time.Second); len(got) != 1 || !got[0].Remote || got[0].Place != 7 || took > 2*time.Millisecond {
			t.Errorf("the other server got %+v after %v", got, took)
		}
	})
}

// An event that is published to several topics is carried once.
func TestEventOfSeveralTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, one, two, _ := pair(t, &clustertest.Wire{})
		sub := subscribe(t, two, "a", "b")
		event := bytes.Repeat([]byte("x"), 5000) // two of them do not fit into a frame
		one.Publish(core.Notification{Topic: "a", Event: event})
		one.Publish(core.Notification{Topic: "b", Event: event})
		got, _ := next(t, sub, time.Second)
		if len(got) != 2 || string(got[0].Event) != string(event) || string(got[1].Event) != string(event) {
			t.Errorf("got %d notifications", len(got))
		}
	})
}

// A subscriber that misses an event is notified of that: if a frame was lost, if the event is too large
// for a frame, and if there were too many.
func TestMissedEvents(t *testing.T) {
	for name, publish := range map[string]func(*clusterbus.Bus, *clustertest.Wire){
		"a lost frame": func(b *clusterbus.Bus, w *clustertest.Wire) {
			w.SetFault(func(from, to string, _ int) clustertest.Outcome {
				if from == to {
					return clustertest.Delivered
				}
				return clustertest.Lost
			})
			b.Publish(core.Notification{Topic: "a", Event: []byte("lost")})
			<-time.After(20 * time.Millisecond)
			w.SetFault(nil)
		},
		"a large event": func(b *clusterbus.Bus, _ *clustertest.Wire) {
			b.Publish(core.Notification{Topic: "a", Event: make([]byte, 9<<10)})
		},
		"too many events": func(b *clusterbus.Bus, _ *clustertest.Wire) {
			for range 10_000 {
				b.Publish(core.Notification{Topic: "other", Event: []byte("x")})
			}
			b.Publish(core.Notification{Topic: "a", Event: []byte("too much")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &clustertest.Wire{}
				_, one, two, _ := pair(t, w)
				sub := subscribe(t, two, "a")
				publish(one, w)
				if got, took := next(t, sub, time.Minute); !got[0].Missed || took > 1500*time.Millisecond {
					t.Errorf("got %+v after %v, want to be notified of a missed event within 1.5 s", got[0], took)
				}
			})
		})
	}
}

// While the bus is down, all subscribers are notified every two seconds, with the last place of
// their session; and once more when it is up again.
func TestDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, one, two, lines := pair(t, &clustertest.Wire{})
		c.SetPlace("shop", 42)
		sub := subscribe(t, two, "inbox/shop/ann")
		lines[1].SetCut(true)
		one.Publish(core.Notification{Topic: "inbox/shop/ann", Place: 42})
		for range 3 {
			if got, took := next(t, sub, time.Minute); len(got) != 1 || !got[0].Missed || got[0].Place != 42 || took > 2500*time.Millisecond {
				t.Errorf("got %+v after %v, want the last place every two seconds", got, took)
			}
		}
		if s := two.State(); s.Problem == "" {
			t.Error("the bus that is cut is up")
		}
		lines[1].SetCut(false)
		if got, took := next(t, sub, time.Minute); !got[0].Missed || took > 1500*time.Millisecond {
			t.Errorf("got %+v after %v, want to be notified once the bus is up", got, took)
		}
		<-time.After(time.Second)
		sub.Take()
		select {
		case <-sub.Ready():
		default:
		}
		<-time.After(10 * time.Second)
		if got := sub.Take(); len(got) > 0 {
			t.Errorf("got %+v, although the bus is up", got)
		}
	})
}

// A server that is alive, as the database says, and not heard makes the bus of the others down:
// it may be cut from them.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &clustertest.Wire{}
		_, _, two, _ := pair(t, w)
		sub := subscribe(t, two, "a")
		w.SetFault(func(from, _ string, _ int) clustertest.Outcome {
			if from == "one" {
				return clustertest.Lost
			}
			return clustertest.Delivered
		})
		if got, took := next(t, sub, time.Minute); !got[0].Missed || took > silenceNoticed {
			t.Errorf("got %+v after %v", got, took)
		}
		if s := two.State(); s.Problem != "this server does not hear the server one on it" {
			t.Errorf("got the problem %q", s.Problem)
		}
	})
}

// silenceNoticed is the time within which the silence of a server is noticed.
const silenceNoticed = 4 * time.Second

// Frames that are repeated or come late are delivered once, and in order.
func TestRepeatedFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &clustertest.Wire{}
		_, one, two, _ := pair(t, w)
		sub := subscribe(t, two, "a")
		w.SetFault(func(_, _ string, number int) clustertest.Outcome {
			if number%3 == 0 {
				return clustertest.Outcome{Times: 1, Later: 30 * time.Millisecond}
			}
			return clustertest.Doubled
		})
		last := -1
		for n := range 50 {
			one.Publish(core.Notification{Topic: "a", Event: fmt.Append(nil, n)})
			<-time.After(15 * time.Millisecond)
			for _, got := range sub.Take() {
				var now int
				if _, err := fmt.Sscan(string(got.Event), &now); got.Event == nil || err != nil {
					continue
				}
				if now <= last {
					t.Errorf("event %d arrived after %d", now, last)
				}
				last = now
			}
		}
		if last < 40 {
			t.Errorf("the last event that arrived was %d of 49", last)
		}
	})
}

// A server without others sends nothing but its beats.
func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &clustertest.Wire{}
		line := w.Open("one")
		b := clustertest.NewCluster().Start(t, "one", line)
		if b.Watched("a") {
			t.Error("a topic without subscribers is watched on a server without others")
		}
		before := line.Sent()
		for range 100 {
			b.Publish(core.Notification{Topic: "a"})
			<-time.After(100 * time.Millisecond)
		}
		if frames := line.Sent() - before; frames > 11 {
			t.Errorf("sent %d frames in ten seconds", frames)
		}
	})
}
