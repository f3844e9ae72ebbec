package hub

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// readerState is what the mailbox knows of one key: how it acknowledges, and
// the batches it was handed since it last did.
type readerState struct {
	explicit bool
	handed   []*handed
}

// handed is a batch that was returned. written is closed when its answer went
// out whole.
type handed struct {
	filter  InboxFilter
	upTo    int64
	once    sync.Once
	written chan struct{}
}

func (h *handed) isWritten() bool {
	select {
	case <-h.written:
		return true
	default:
		return false
	}
}

// writingFor is how long a call that acknowledges implicitly grants the answer
// before it: its reader can be back before its writer has said that it is
// written. One that is not written then counts as lost.
const writingFor = 100 * time.Millisecond

// reader returns the state of a key; mu must be held.
func (m *mailbox) reader(key shoal.KeyID) *readerState {
	r := m.readers[key]
	if r == nil {
		r = &readerState{}
		m.readers[key] = r
	}
	return r
}

// isExplicit reports whether the key is known to acknowledge explicitly. It may do so
// without being known here: the transaction that acknowledges a batch checks again.
func (m *mailbox) isExplicit(key shoal.KeyID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reader(key).explicit
}

func (m *mailbox) setExplicit(key shoal.KeyID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.reader(key)
	r.explicit, r.handed = true, nil
}

// hand remembers that a batch goes to a key that acknowledges implicitly.
func (m *mailbox) hand(key shoal.KeyID, filter InboxFilter, upTo int64) *handed {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.reader(key)
	if r.explicit {
		return nil
	}
	h := &handed{filter: filter, upTo: upTo, written: make(chan struct{})}
	r.handed = append(r.handed, h)
	return h
}

// writing waits until the answers with the batches handed to a key are written,
// or have had time to be.
func (m *mailbox) writing(ctx context.Context, key shoal.KeyID) error {
	m.mu.Lock()
	pending := slices.DeleteFunc(slices.Clone(m.reader(key).handed), (*handed).isWritten)
	m.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	timer := time.NewTimer(writingFor)
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

// settle forgets the batches handed to a key and returns those that count as
// acknowledged: written whole, unless they are asked for again.
func (m *mailbox) settle(key shoal.KeyID, again bool) (done []*handed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.reader(key)
	if !again {
		for _, h := range r.handed {
			if h.isWritten() {
				done = append(done, h)
			}
		}
	}
	r.handed = nil
	return done
}
