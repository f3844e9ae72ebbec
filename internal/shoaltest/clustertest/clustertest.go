// Package clustertest tests transports of a cluster's bus.
package clustertest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/clusterbus"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/shoaltest/bustest"
)

// Cluster is the list of servers of a cluster whose database is memory. It implements
// [clusterbus.Cluster] and is safe for concurrent use.
type Cluster struct {
	mu     sync.Mutex
	nodes  map[shoal.NodeID]shoal.Node
	places map[shoal.SessionID]int64
}

// NewCluster returns a cluster without servers.
func NewCluster() *Cluster {
	return &Cluster{nodes: map[shoal.NodeID]shoal.Node{}, places: map[shoal.SessionID]int64{}}
}

// Key implements [clusterbus.Cluster].
func (c *Cluster) Key(context.Context) (string, error) { return "the secret of the cluster", nil }

// Beat implements [clusterbus.Cluster].
func (c *Cluster) Beat(_ context.Context, n shoal.Node) ([]shoal.Node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[n.ID] = n
	return slices.Collect(maps.Values(c.nodes)), nil
}

// Leave implements [clusterbus.Cluster].
func (c *Cluster) Leave(_ context.Context, id shoal.NodeID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.nodes, id)
	return nil
}

// LastPlaces implements [clusterbus.Cluster].
func (c *Cluster) LastPlaces(context.Context, []shoal.SessionID) (map[shoal.SessionID]int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.places), nil
}

// SetPlace sets the last place of a session.
func (c *Cluster) SetPlace(s shoal.SessionID, place int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places[s] = place
}

// Start starts a bus of the cluster that is stopped when the test ends.
func (c *Cluster) Start(t testing.TB, name string, transport clusterbus.Transport) *clusterbus.Bus {
	t.Helper()
	b := clusterbus.New(clusterbus.Options{Transport: transport, Name: name})
	if err := b.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b
}

// between publishes on one server and subscribes on another.
type between struct {
	publisher  core.Bus
	subscriber core.Bus
}

// Publish implements [core.Bus].
func (b between) Publish(n core.Notification) { b.publisher.Publish(n) }

// Subscribe implements [core.Bus].
func (b between) Subscribe() core.Subscription { return b.subscriber.Subscribe() }

// Shared implements [core.Bus].
func (b between) Shared() bool { return true }

// Watched implements [core.Bus].
func (b between) Watched(topic string) bool { return b.publisher.Watched(topic) }

// Exercise runs the conformance suite of [core.Bus] within one server and between two, over
// transports that open returns.
func Exercise(t *testing.T, open func(t *testing.T) clusterbus.Transport) {
	t.Run("one server", func(t *testing.T) {
		bustest.Exercise(t, func(t *testing.T) core.Bus { return NewCluster().Start(t, "one", open(t)) })
	})
	t.Run("between servers", func(t *testing.T) {
		bustest.Exercise(t, func(t *testing.T) core.Bus {
			c := NewCluster()
			one := c.Start(t, "one", open(t))
			two := c.Start(t, "two", open(t))
			if p := two.State().Problem; p != "" {
				t.Fatalf("the bus between two servers is down: %s", p)
			}
			return between{publisher: one, subscriber: two}
		})
	})
}

// patience is the time within which a bus must be up or down again, on a busy machine.
const patience = 30 * time.Second

// AwaitUp waits until a bus is up.
func AwaitUp(t testing.TB, b *clusterbus.Bus) {
	t.Helper()
	await(t, "the bus is up", func() bool { return b.State().Problem == "" })
}

func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited %v until %s", patience, what)
		}
	}
}

// Recovers tests that a notification which is published on one server while the transport is
// stopped reaches another server, and one that is published after its start, too.
func Recovers(t *testing.T, one, two *clusterbus.Bus, stop, start func()) {
	t.Helper()
	sub := two.Subscribe()
	defer sub.Close()
	sub.Add("a")
	AwaitUp(t, two)
	stop()
	await(t, "the bus is down", func() bool { return two.State().Problem != "" })
	one.Publish(core.Notification{Topic: "a"})
	receive(t, sub)
	start()
	AwaitUp(t, one)
	AwaitUp(t, two)
	event := core.Notification{Topic: "a", Event: []byte("after")}
	one.Publish(event)
	for {
		for _, n := range receive(t, sub) {
			if string(n.Event) == "after" {
				return
			}
		}
	}
}

// receive returns what a subscription receives next.
func receive(t testing.TB, sub core.Subscription) []core.Notification {
	t.Helper()
	select {
	case <-sub.Ready():
	case <-time.After(patience):
		t.Fatalf("nothing arrived within %v", patience)
	}
	return sub.Take()
}
