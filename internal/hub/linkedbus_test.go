package hub_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/localbus"
)

// linkFaults are what links between nodes do to notifications. Delays keep the order of a
// link, which is that of one sending node.
type linkFaults struct {
	drop, double float64
	delay        time.Duration // at most
	down         bool
}

// Times of the bus between servers: a node notices a gap at the latest with the next beat,
// and says every missedEvery that events were missed while it hears nothing.
const (
	beatEvery   = time.Second
	missedEvery = 2 * time.Second
)

// linkedBuses connects the buses of several nodes.
type linkedBuses struct {
	nodes []*nodeBus
	stop  chan struct{}
	tasks sync.WaitGroup

	mu     sync.Mutex
	rnd    *rand.Rand
	faults linkFaults
}

// nodeBus is the bus of one node.
type nodeBus struct {
	core.Bus
	all   *linkedBuses
	links []*link // to each other node two, or the same twice: for ephemeral events and for others

	mu     sync.Mutex
	topics map[string]int
}

// link carries notifications from one node to another.
type link struct {
	from, to *nodeBus
	mu       sync.Mutex
	queue    []frame
	last     time.Time // when the newest frame arrives
	ready    chan struct{}
	gap      bool
}

type frame struct {
	due  time.Time
	note core.Notification
	lost bool
}

// newLinkedBuses connects n nodes. With lanes, ephemeral events overtake what announces stored
// ones: only the order of each lane is kept.
func newLinkedBuses(n int, rnd *rand.Rand, lanes bool) *linkedBuses {
	all := &linkedBuses{rnd: rnd, stop: make(chan struct{})}
	for range n {
		all.nodes = append(all.nodes, &nodeBus{Bus: localbus.New(), all: all, topics: map[string]int{}})
	}
	for _, from := range all.nodes {
		for _, to := range all.nodes {
			if from == to {
				continue
			}
			for lane := range 2 {
				if lane == 1 && !lanes {
					from.links = append(from.links, from.links[len(from.links)-1])
					continue
				}
				l := &link{from: from, to: to, ready: make(chan struct{}, 1)}
				from.links = append(from.links, l)
				all.tasks.Go(l.run)
			}
		}
	}
	return all
}

func (b *linkedBuses) close() {
	close(b.stop)
	b.tasks.Wait()
}

func (b *linkedBuses) bus(node int, _ bool) core.Bus { return b.nodes[node] }

func (b *linkedBuses) started(int, *hub.Hub) error { return nil }

// healTime implements [network]: a loss is noticed with the next beat, and a draft may be
// half a second old.
func (b *linkedBuses) healTime() time.Duration { return beatEvery + 500*time.Millisecond }

// set changes the faults. A node knows at once that it is connected again.
func (b *linkedBuses) set(f linkFaults) {
	b.mu.Lock()
	back := b.faults.down && !f.down
	b.faults = f
	b.mu.Unlock()
	for _, n := range b.nodes {
		if back {
			n.missed()
		}
	}
}

// Publish implements [core.Bus].
func (b *nodeBus) Publish(n core.Notification) {
	b.Bus.Publish(n)
	for i, l := range b.links {
		if (i%2 == 0) == (n.Event != nil) {
			l.send(n)
		}
	}
}

// Shared implements [core.Bus].
func (b *nodeBus) Shared() bool { return true }

// Watched implements [core.Bus]: there may be subscribers on other nodes.
func (b *nodeBus) Watched(string) bool { return true }

// Subscribe implements [core.Bus].
func (b *nodeBus) Subscribe() core.Subscription {
	return &nodeSubscription{Subscription: b.Bus.Subscribe(), bus: b}
}

// missed says for every local topic that events may have been lost.
func (b *nodeBus) missed() {
	b.mu.Lock()
	topics := make([]string, 0, len(b.topics))
	for t := range b.topics {
		topics = append(topics, t)
	}
	b.mu.Unlock()
	slices.Sort(topics)
	for _, t := range topics {
		b.Bus.Publish(core.Notification{Topic: t, Remote: true, Missed: true})
	}
}

// nodeSubscription counts the topics of its node.
type nodeSubscription struct {
	core.Subscription
	bus *nodeBus
	has []string
}

func (s *nodeSubscription) Add(topics ...string) {
	s.bus.mu.Lock()
	for _, t := range topics {
		if !slices.Contains(s.has, t) {
			s.has = append(s.has, t)
			s.bus.topics[t]++
		}
	}
	s.bus.mu.Unlock()
	s.Subscription.Add(topics...)
}

func (s *nodeSubscription) Remove(topics ...string) {
	s.Subscription.Remove(topics...)
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.has = slices.DeleteFunc(s.has, func(t string) bool {
		gone := slices.Contains(topics, t)
		if gone {
			if s.bus.topics[t]--; s.bus.topics[t] == 0 {
				delete(s.bus.topics, t)
			}
		}
		return gone
	})
}

func (s *nodeSubscription) Close() {
	s.Remove(slices.Clone(s.has)...)
	s.Subscription.Close()
}

// send queues a notification, with what happens to it on the way.
func (l *link) send(n core.Notification) {
	l.from.all.mu.Lock()
	f, rnd := l.from.all.faults, l.from.all.rnd
	lost, twice := f.down || rnd.Float64() < f.drop, rnd.Float64() < f.double
	var delay time.Duration
	if f.delay > 0 {
		delay = time.Duration(rnd.Int64N(int64(f.delay)))
	}
	l.from.all.mu.Unlock()
	n.Remote = true
	l.mu.Lock()
	defer l.mu.Unlock()
	if due := time.Now().Add(delay); due.After(l.last) {
		l.last = due
	}
	l.queue = append(l.queue, frame{l.last, n, lost})
	if twice {
		l.queue = append(l.queue, frame{l.last, n, lost})
	}
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// run delivers what arrives, and notices gaps.
func (l *link) run() {
	beat := time.NewTimer(beatEvery)
	defer beat.Stop()
	lastMissed := time.Now()
	for {
		wait := l.deliver()
		timer := time.NewTimer(wait)
		select {
		case <-l.from.all.stop:
			timer.Stop()
			return
		case <-l.ready:
		case <-timer.C:
		case <-beat.C:
			beat.Reset(beatEvery)
			l.from.all.mu.Lock()
			down := l.from.all.faults.down
			l.from.all.mu.Unlock()
			if l.gap && !down || down && time.Since(lastMissed) >= missedEvery {
				lastMissed, l.gap = time.Now(), down
				l.to.missed()
			}
		}
		timer.Stop()
	}
}

// deliver delivers the frames that have arrived and returns the time until the next.
func (l *link) deliver() time.Duration {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.mu.Unlock()
			return time.Hour
		}
		head := l.queue[0]
		if wait := time.Until(head.due); wait > 0 {
			l.mu.Unlock()
			return wait
		}
		l.queue = l.queue[1:]
		l.mu.Unlock()
		if head.lost {
			l.gap = true
			continue
		}
		if l.gap {
			l.gap = false
			l.to.missed()
		}
		l.to.Bus.Publish(head.note)
	}
}
