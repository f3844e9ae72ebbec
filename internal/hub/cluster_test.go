package hub_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/clustertest"
)

// cluster returns the hubs of servers on one store, with a bus between them, and the end of the
// wire at each. They stop when the test ends.
func cluster(t *testing.T, w *clustertest.Wire, n int) (hubs []*hub.Hub, lines []*clustertest.End) {
	t.Helper()
	store := shoaltest.OpenSQLite(t)
	for i := range n {
		h, line := joinCluster(t, w, store, fmt.Sprint("server", i), func(bus core.Bus) *hub.Hub {
			if i == 0 {
				return shop(t, func(o *hub.Options) { o.Store, o.Bus = store, bus })
			}
			return nil
		})
		hubs, lines = append(hubs, h), append(lines, line)
	}
	return hubs, lines
}

// joinCluster returns the hub of a server that joins others, and its end of the wire. first, unless it returns
// nil, makes the hub.
func joinCluster(t *testing.T, w *clustertest.Wire, store storage.Store, name string, first func(core.Bus) *hub.Hub) (*hub.Hub, *clustertest.End) {
	t.Helper()
	line := w.Open(name)
	bus := clusterbus.New(clusterbus.Options{Transport: line, Name: name})
	t.Cleanup(bus.Stop)
	h := first(bus)
	if h == nil {
		h = hub.New(hub.Options{Store: store, Bus: bus})
		must(t, h.Start(context.Background()))
		t.Cleanup(h.Stop)
	}
	must(t, bus.Start(context.Background(), h.Nodes))
	return h, line
}

// waiting starts a wait of bot and returns where its response arrives.
func waiting(t *testing.T, h *hub.Hub, timeout time.Duration) <-chan *inbox.Delivery {
	answer := make(chan *inbox.Delivery, 1)
	go func() {
		got, err := h.Inbox.Wait(context.Background(), bot, mentions(timeout, ""))
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	synctest.Wait()
	return answer
}

// A message on one server wakes a wait on another: at once over a bus that works, and within
// 4.5 seconds over one that has lost the notification or is down.
func TestWakesOnAnotherServer(t *testing.T) {
	for name, c := range map[string]struct {
		harm   func(*clustertest.Wire, []*clustertest.End)
		within time.Duration
	}{
		"the bus works": {func(*clustertest.Wire, []*clustertest.End) {}, 5 * time.Millisecond},
		"a frame is lost": {func(w *clustertest.Wire, _ []*clustertest.End) {
			lost := false
			w.SetFault(func(from, to string, _ int) clustertest.Outcome {
				if from == "server0" && to == "server1" && !lost {
					lost = true
					return clustertest.Lost
				}
				return clustertest.Delivered
			})
		}, 1500 * time.Millisecond},
		"the line of the sender is cut":   {func(_ *clustertest.Wire, lines []*clustertest.End) { lines[0].SetCut(true) }, 4500 * time.Millisecond},
		"the line of the receiver is cut": {func(_ *clustertest.Wire, lines []*clustertest.End) { lines[1].SetCut(true) }, 4500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w clustertest.Wire
				hubs, lines := cluster(t, &w, 2)
				answer := waiting(t, hubs[1], shoal.MaxWait)
				c.harm(&w, lines)
				began := time.Now()
				_, err := say(hubs[0], "hello")
				must(t, err)
				got := <-answer
				if texts := textsOf(got); len(texts) != 1 || texts[0] != "hello" || time.Since(began) > c.within {
					t.Errorf("got %q after %v, want \"hello\" within %v", texts, time.Since(began), c.within)
				}
			})
		})
	}
}

// What an entity is doing on one server is known on the others: that it has come at once, that
// it waits within a second, and that its server is gone within half a minute.
func TestPresenceOnOtherServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		hubs, lines := cluster(t, &w, 2)
		state := func() shoal.State {
			t.Helper()
			e, err := hubs[0].Entities.Get(context.Background(), ann, shoal.DefaultSession, bot.EntityID)
			must(t, err)
			return e.State
		}
		if got := state(); got != shoal.Offline {
			t.Fatalf("bot is %s before it came", got)
		}
		answer := waiting(t, hubs[1], 20*time.Second)
		<-time.After(20 * time.Millisecond)
		if got := state(); got == shoal.Offline {
			t.Error("bot has come, and the other server does not know it")
		}
		<-time.After(2 * time.Second)
		if got := state(); got != shoal.Waiting {
			t.Errorf("bot is %s, want waiting", got)
		}
		m, err := say(hubs[0], "hello")
		must(t, err)
		if len(m.Reach) != 1 || m.Reach[0].State != shoal.ReachListening {
			t.Errorf("the sender reads that bot is %+v, want listening", m.Reach)
		}
		(<-answer).Settle(true)
		<-time.After(2 * time.Second)
		if got := state(); got != shoal.Connected {
			t.Errorf("bot is %s after its wait, want connected", got)
		}
		waiting(t, hubs[1], shoal.MaxWait)
		<-time.After(2 * time.Second)
		lines[1].SetCut(true)
		<-time.After(40 * time.Second)
		if got := state(); got != shoal.Offline {
			t.Errorf("bot is %s, want offline: its server is not heard any more", got)
		}
		lines[1].SetCut(false)
		<-time.After(3 * time.Second)
		if got := state(); got != shoal.Waiting {
			t.Errorf("bot is %s, want waiting: its server is heard again", got)
		}
	})
}

// A wait for agents ends when one comes to another server.
func TestAgentComesToAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		hubs, _ := cluster(t, &w, 2)
		done := make(chan *inbox.Delivery, 1)
		go func() {
			d, err := hubs[0].Inbox.Wait(context.Background(), ann, &inbox.WaitRequest{
				Session: shoal.DefaultSession, Timeout: time.Minute, Agents: &inbox.AgentsRequest{IDs: []shoal.EntityID{bot.EntityID}},
			})
			if err != nil {
				t.Error(err)
			}
			done <- d
		}()
		synctest.Wait()
		began := time.Now()
		waiting(t, hubs[1], 30*time.Second)
		if d := <-done; d == nil || d.Result.TimedOut || time.Since(began) > time.Second {
			t.Errorf("the wait ended after %v with %+v", time.Since(began), d)
		}
	})
}

// A right that ends on one server ends open calls on another at once.
func TestRevocationOnAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		hubs, _ := cluster(t, &w, 2)
		eve := lab(t, hubs[0], "eve")
		revocations := hubs[1].Keys.Revocations()
		calls := openCalls(t, hubs[1], eve, "lab")
		synctest.Wait()
		began := time.Now()
		must(t, hubs[0].Keys.Revoke(context.Background(), root, eve.KeyID))
		wantEnded(t, calls, began, shoal.Unauthenticated)
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("the calls ended after %v, want at most 200ms", took)
		}
		if hubs[1].Keys.Revocations() == revocations {
			t.Error("the other server still trusts the keys that it knows")
		}
	})
}

// A caller that acknowledges by calling again does so on any server, unless it asks for the
// batch again.
func TestImplicitAcknowledgmentOnAnotherServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w clustertest.Wire
		hubs, _ := cluster(t, &w, 3)
		settle := func() { <-time.After(5 * time.Millisecond) } // the client's way to another server
		for n := range 6 {
			text := fmt.Sprint("message ", n)
			_, err := say(hubs[n%2], text)
			must(t, err)
			settle()
			if got, _ := waitNow(t, hubs[n%3], ""); len(got) != 1 || got[0] != text {
				t.Errorf("the wait on server %d returned %q, want %q", n%3, got, text)
			}
			settle()
		}
		again := mentions(0, "")
		again.Redeliver = true
		got, err := hubs[1].Inbox.Wait(context.Background(), bot, again)
		must(t, err)
		if texts := textsOf(got); len(texts) != 1 || texts[0] != "message 5" {
			t.Errorf("asked for the last batch again, got %q", texts)
		}
		got.Settle(false) // the connection broke
		settle()
		if got, _ := waitNow(t, hubs[2], ""); len(got) != 1 || got[0] != "message 5" {
			t.Errorf("the response with the batch was lost, and the next wait returned %q", got)
		}
		settle()
		if got, _ := waitNow(t, hubs[0], ""); len(got) != 0 {
			t.Errorf("everything is acknowledged, and the next wait returned %q", got)
		}
	})
}
