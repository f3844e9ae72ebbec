package run_test

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/shoal-dev/shoal/internal/hub"
)

// watchedStore tells when something was stored, and refuses what it is told to.
type watchedStore struct {
	hub.Store
	updates atomic.Int64 // that were tried
	mu      sync.Mutex
	changed chan struct{}
	refuse  error
	after   int           // changes that are let through before
	said    chan struct{} // closed when it refused
	once    bool          // only the next change is refused
}

// refused is closed when the store has refused something since it was told to.
func (s *watchedStore) refused() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

func (s *watchedStore) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// refuses lets so many changes through and then refuses all; nil ends that.
func (s *watchedStore) refuses(err error, after int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse, s.after, s.said, s.once = err, after, make(chan struct{}), false
}

// refusesOne refuses the next change alone.
func (s *watchedStore) refusesOne(err error) {
	s.refuses(err, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once = true
}

func (s *watchedStore) Update(ctx context.Context, fn func(hub.Tx) error) error {
	s.updates.Add(1)
	s.mu.Lock()
	refuse := s.refuse
	if s.after--; s.after >= 0 {
		refuse = nil
	}
	if refuse != nil {
		select {
		case <-s.said:
		default:
			close(s.said)
		}
		if s.once {
			s.refuse = nil
		}
	}
	s.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	err := s.Store.Update(ctx, fn)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return err
}
