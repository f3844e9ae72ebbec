package inbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// readerState is the state of one key in a mailbox: how it acknowledges, and the batches
// that were delivered to it since it last acknowledged.
type readerState struct {
	explicit bool
	batches  []*batch
}

// batch is a batch that was delivered to a caller. written is closed once its response was
// written completely.
type batch struct {
	filter  storage.InboxFilter
	upTo    int64
	once    sync.Once
	written chan struct{}
}

func (h *batch) isWritten() bool {
	select {
	case <-h.written:
		return true
	default:
		return false
	}
}

// writeGrace is how long a call that acknowledges implicitly waits for the previous
// response to be recorded as written: the client can call again before the server has
// recorded it. A response that is not recorded by then counts as lost.
const writeGrace = 100 * time.Millisecond

// reader returns the state of a key. m.mu must be held.
func (m *mailbox) reader(key shoal.KeyID) *readerState {
	r := m.readers[key]
	if r == nil {
		r = &readerState{}
		m.readers[key] = r
	}
	return r
}

// isExplicit reports whether the mailbox knows that the key acknowledges explicitly. The
// key may do so without the mailbox knowing it: the transaction that acknowledges a batch
// checks again.
func (m *mailbox) isExplicit(key shoal.KeyID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reader(key).explicit
}

func (m *mailbox) setExplicit(key shoal.KeyID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.reader(key)
	r.explicit, r.batches = true, nil
}

// recordBatch records the delivery of a batch to a key that acknowledges implicitly. It returns
// nil for a key that acknowledges explicitly.
func (m *mailbox) recordBatch(key shoal.KeyID, filter storage.InboxFilter, upTo int64) *batch {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.reader(key)
	if r.explicit {
		return nil
	}
	h := &batch{filter: filter, upTo: upTo, written: make(chan struct{})}
	r.batches = append(r.batches, h)
	return h
}

// awaitWritten waits until the responses with the batches that were delivered to a key are
// written, for at most writeGrace.
func (m *mailbox) awaitWritten(ctx context.Context, key shoal.KeyID) error {
	m.mu.Lock()
	pending := slices.DeleteFunc(slices.Clone(m.reader(key).batches), (*batch).isWritten)
	m.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	timer := time.NewTimer(writeGrace)
	defer timer.Stop()
	for _, h := range pending {
		select {
		case <-h.written:
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
	r := m.reader(key)
	if !again {
		for _, h := range r.batches {
			if h.isWritten() {
				done = append(done, h)
			}
		}
	}
	r.batches = nil
	return done
}
