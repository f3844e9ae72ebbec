package inbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// batch is a batch that was delivered to a caller.
type batch struct {
	filter storage.InboxFilter
	upTo   int64

	once    sync.Once
	settled chan struct{} // closed when it is known whether the response was written
	written bool          // it was written completely; valid once settled is closed
}

// settle records whether the response with the batch was written completely. Only the first
// call has an effect, and returns true.
func (h *batch) settle(written bool) (first bool) {
	h.once.Do(func() {
		h.written, first = written, true
		close(h.settled)
	})
	return first
}

func (h *batch) isSettled() bool {
	select {
	case <-h.settled:
		return true
	default:
		return false
	}
}

func (h *batch) isWritten() bool { return h.isSettled() && h.written }

// writeGrace is how long a call that acknowledges implicitly waits until it is known whether the
// previous response was written: the client can call again before the server has recorded that,
// and on a busy machine long before. A response whose write takes longer counts as lost. Only a
// client that calls again without reading its previous response waits that long.
const writeGrace = 2 * time.Second

// isExplicit reports whether the mailbox knows that the key acknowledges explicitly. The
// key may do so without the mailbox knowing it: the transaction that acknowledges a batch
// checks again.
func (m *mailbox) isExplicit(key shoal.KeyID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.explicit[key]
}

func (m *mailbox) setExplicit(key shoal.KeyID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.explicit[key] = true
	delete(m.batches, key)
}

// recordBatch records the delivery of a batch to a key that acknowledges implicitly. It returns
// nil for a key that acknowledges explicitly.
func (m *mailbox) recordBatch(key shoal.KeyID, filter storage.InboxFilter, upTo int64) *batch {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.explicit[key] {
		return nil
	}
	h := &batch{filter: filter, upTo: upTo, settled: make(chan struct{})}
	m.batches[key] = append(m.batches[key], h)
	return h
}

// awaitResponses waits until it is known which responses with the batches that were delivered to
// a key were written, for at most writeGrace.
func (m *mailbox) awaitResponses(ctx context.Context, key shoal.KeyID) error {
	m.mu.Lock()
	pending := slices.DeleteFunc(slices.Clone(m.batches[key]), (*batch).isSettled)
	m.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	timer := time.NewTimer(writeGrace)
	defer timer.Stop()
	for _, h := range pending {
		select {
		case <-h.settled:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// takeBatches removes the batches that were delivered to a key and returns those that count
// as acknowledged: the completely written ones, or none if again is set.
func (m *mailbox) takeBatches(key shoal.KeyID, again bool) (done []*batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !again {
		done = slices.DeleteFunc(m.batches[key], func(h *batch) bool { return !h.isWritten() })
	}
	delete(m.batches, key)
	return done
}
