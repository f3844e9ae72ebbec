package clusterbus

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/metrics"
)

// Options configure a bus.
type Options struct {
	// Transport is started and stopped by the bus.
	Transport Transport
	// Name and Version describe this server to people.
	Name, Version string
	Log           *slog.Logger // nil discards
	Metrics       *metrics.Set // nil is allowed
}

// Cluster is what the bus needs of the database.
type Cluster interface {
	// Key returns the secret that all servers of the database share.
	Key(ctx context.Context) (string, error)
	// Beat records that this server is alive and returns all servers that are, itself
	// included.
	Beat(ctx context.Context, self shoal.Node) ([]shoal.Node, error)
	// Leave removes this server.
	Leave(ctx context.Context, id shoal.NodeID) error
	// LastPlaces returns the last place of each of the sessions. One that does not exist may
	// be missing.
	LastPlaces(ctx context.Context, sessions []shoal.SessionID) (map[shoal.SessionID]int64, error)
}

// Bus is a [core.Bus]. It is safe for concurrent use.
type Bus struct {
	*localbus.Bus // the subscribers of this server

	o       Options
	node    shoal.Node
	self    sender
	key     []byte
	out     *outbox
	cluster Cluster
	metrics busMetrics

	// hasPeers reports that another server may be alive. Without one, nothing but beats
	// is sent.
	hasPeers atomic.Bool
	heal     chan struct{} // contains a value when frames were missed
	greet    chan struct{} // contains a value when the next frame must be sent at once

	mu    sync.Mutex
	peers *peers
	up    bool // the transport is connected
	nodes []shoal.Node
	why   string // why the bus is down; empty if it is not
	since time.Time

	cancel  context.CancelFunc
	running sync.WaitGroup
}

var _ core.Bus = (*Bus)(nil)

// New returns a bus that works within this server only until it is started.
func New(o Options) *Bus {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	b := &Bus{Bus: localbus.New(), o: o, out: newOutbox(), heal: make(chan struct{}, 1), greet: make(chan struct{}, 1), why: "it is not connected yet", since: time.Now(), cancel: func() {}}
	_, _ = rand.Read(b.self[:]) // never fails
	b.node = shoal.Node{ID: b.self.nodeID(), Name: o.Name, Version: o.Version, StartedAt: shoal.Now()}
	b.peers = newPeers(b.self)
	b.metrics = newMetrics(o.Metrics, b)
	return b
}

// startLimit is how long Start waits for the other servers.
const startLimit = 4 * time.Second

// Start connects the bus to the other servers. It returns when this server hears all of them
// and itself, or after four seconds: then it works, but notifications are late until the bus
// is up. It fails if the database cannot be used.
func (b *Bus) Start(ctx context.Context, c Cluster) error {
	b.cluster = c
	key, err := c.Key(ctx)
	if err != nil {
		return err
	}
	b.key = []byte(key)
	if err := b.beat(ctx); err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel = cancel
	b.o.Transport.Start(clusterName(b.key), b.receive, b.setUp)
	b.running.Go(func() { b.sendLoop(running) })
	b.running.Go(func() { b.watch(running) })
	b.running.Go(func() { b.beatLoop(running) })
	return b.awaitOthers(ctx)
}

// awaitOthers waits until this server hears itself and all others, or startLimit has passed.
func (b *Bus) awaitOthers(ctx context.Context) error {
	check, late := time.NewTicker(10*time.Millisecond), time.NewTimer(startLimit)
	defer check.Stop()
	defer late.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late.C:
			return nil
		case <-check.C:
		}
		if now := time.Now(); b.problem(now) == "" {
			b.setProblem("", now)
			return b.beat(ctx) // the others read that this server hears them
		}
	}
}

// Stop sends what is still in the outbox, disconnects and removes this server from the list of
// those that are alive. The bus then works within this server only.
func (b *Bus) Stop() {
	b.cancel()
	b.running.Wait()
	if b.cluster == nil {
		return
	}
	b.o.Transport.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := b.cluster.Leave(ctx, b.node.ID); err != nil {
		b.o.Log.Warn("this server could not remove itself from the list of servers; it disappears there in a minute", "error", err)
	}
}

// Publish implements [core.Bus].
func (b *Bus) Publish(n core.Notification) {
	b.Bus.Publish(n)
	if b.hasPeers.Load() {
		b.out.add(n)
	}
}

// Shared implements [core.Bus].
func (b *Bus) Shared() bool { return true }

// Watched implements [core.Bus]. Other servers may watch any topic.
func (b *Bus) Watched(topic string) bool { return b.hasPeers.Load() || b.Bus.Watched(topic) }

// receive handles a frame from the transport.
func (b *Bus) receive(raw []byte) {
	f, err := decodeFrame(b.key, raw)
	if err != nil {
		b.metrics.refused.Add(1)
		return
	}
	b.mu.Lock()
	known := b.peers.knows(f.from)
	fresh, gap := b.peers.receive(f, time.Now())
	b.mu.Unlock()
	if f.from != b.self {
		b.hasPeers.Store(true)
	}
	if !known {
		signal(b.greet) // a server that starts waits until it hears this one
	}
	if gap {
		b.metrics.gaps.Add(1)
		signal(b.heal)
	}
	if !fresh {
		return
	}
	b.metrics.received.Add(1)
	if err := f.decodeItems(b.Bus.Publish); err != nil {
		b.metrics.refused.Add(1)
		signal(b.heal)
	}
}

// setUp records whether the transport is connected.
func (b *Bus) setUp(up bool) {
	b.mu.Lock()
	b.up = up
	b.mu.Unlock()
	if up {
		signal(b.greet)
	}
}

// State is the state of a bus.
type State struct {
	// Nodes are the servers that the database says are alive, this one included.
	Nodes []shoal.Node
	// Problem is why the bus is down, as a clause, or empty. Since is when that began.
	Problem string
	Since   time.Time
}

// State returns the current state.
func (b *Bus) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return State{Nodes: b.nodes, Problem: b.why, Since: b.since}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
