// Package localbus is the [hub.Bus] of a single process.
//
//	bus := localbus.New()
//	sub := bus.Subscribe()
//	defer sub.Close()
//	sub.Add("space/default/shop")
//	<-sub.Ready()
//	for _, notification := range sub.Take() { … }
//
// Guarantees:
//   - Publish never blocks and never starts a goroutine: it appends to the
//     queues of the subscribers and wakes them.
//   - Messages of one topic arrive in the order of publishing.
//   - A subscription's queue is bounded. Pending notifications of the same topic are merged
//     into one; at most QueueSize ephemeral events are queued, and later ones are dropped.
//     That is safe because events are only ephemeral: a subscriber that misses one reads
//     the current state from the store.
package localbus

import (
	"maps"
	"slices"
	"sync"

	"github.com/shoal-dev/shoal/internal/hub/core"
)

// QueueSize is the maximum number of ephemeral events in the queue of a subscription.
const QueueSize = 1024

// Bus carries messages inside one process. The zero value is not usable; call New.
type Bus struct {
	mu     sync.RWMutex
	topics map[string]map[*subscription]struct{}
}

// New returns a bus without subscribers.
func New() *Bus { return &Bus{topics: map[string]map[*subscription]struct{}{}} }

// Publish delivers notification to all current subscribers of its topic.
func (b *Bus) Publish(notification core.Notification) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for s := range b.topics[notification.Topic] {
		s.enqueue(notification)
	}
}

// Shared implements [core.Bus].
func (b *Bus) Shared() bool { return false }

// Watched reports whether topic has subscribers.
func (b *Bus) Watched(topic string) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.topics[topic]) > 0
}

// Topics returns the topics that have subscribers, in no order.
func (b *Bus) Topics() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.Collect(maps.Keys(b.topics))
}

// Subscribe opens a subscription without topics.
func (b *Bus) Subscribe() core.Subscription {
	return &subscription{bus: b, ready: make(chan struct{}, 1)}
}

type subscription struct {
	bus    *Bus
	topics []string // guarded by bus.mu
	ready  chan struct{}

	mu     sync.Mutex
	queue  []core.Notification
	events int
}

// Add subscribes to topics.
func (s *subscription) Add(topics ...string) {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	for _, t := range topics {
		subs := s.bus.topics[t]
		if subs == nil {
			subs = map[*subscription]struct{}{}
			s.bus.topics[t] = subs
		}
		if _, have := subs[s]; !have {
			subs[s] = struct{}{}
			s.topics = append(s.topics, t)
		}
	}
}

// Remove unsubscribes from topics.
func (s *subscription) Remove(topics ...string) {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	gone := make(map[string]bool, len(topics))
	for _, t := range topics {
		gone[t] = true
		s.unsubscribe(t)
	}
	kept := s.topics[:0]
	for _, t := range s.topics {
		if !gone[t] {
			kept = append(kept, t)
		}
	}
	s.topics = kept
}

// unsubscribe removes the subscription from a topic. It must be called with bus.mu held.
func (s *subscription) unsubscribe(topic string) {
	subs := s.bus.topics[topic]
	delete(subs, s)
	if len(subs) == 0 {
		delete(s.bus.topics, topic)
	}
}

// Close ends the subscription.
func (s *subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	for _, t := range s.topics {
		s.unsubscribe(t)
	}
	s.topics = nil
}

// Ready returns a channel that receives a value when Take may return something.
func (s *subscription) Ready() <-chan struct{} { return s.ready }

// Take returns the queued messages and empties the queue.
func (s *subscription) Take() []core.Notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.queue
	s.queue, s.events = nil, 0
	return out
}

// enqueue queues a message within the limits and wakes the subscriber.
func (s *subscription) enqueue(notification core.Notification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if notification.Event == nil {
		for i, have := range s.queue {
			if have.Event == nil && have.Topic == notification.Topic {
				s.queue[i] = have.Join(notification)
				return
			}
		}
	} else {
		if s.events >= QueueSize {
			return
		}
		s.events++
	}
	s.queue = append(s.queue, notification)
	select {
	case s.ready <- struct{}{}:
	default:
	}
}
