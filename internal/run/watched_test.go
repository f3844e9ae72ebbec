package run_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// watchedStore reports when something was stored, and refuses what the test chooses.
type watchedStore struct {
	storage.Store
	updates atomic.Int64 // that were tried
	mu      sync.Mutex
	changed chan struct{}
	refuse  error
	after   int           // changes that are let through before
	said    chan struct{} // closed when it refused
	once    bool          // only the next change is refused
	unsure  int           // counts down to the change whose answer is lost, at 1

	claimsFail atomic.Bool
	claims     atomic.Int64 // that were tried

	texts    []storage.ModelText // that were handed in, in their order
	requests []storage.Request
}

// watchedTx notes what is stored of what models were sent.
type watchedTx struct {
	storage.Tx
	s *watchedStore
}

func (t watchedTx) ClaimableRuns(at shoal.Time, limit int) ([]storage.Run, error) {
	t.s.claims.Add(1)
	if t.s.claimsFail.Load() {
		return nil, shoal.E("", shoal.StorageFull, "The disk is full.")
	}
	return t.Tx.ClaimableRuns(at, limit)
}

func (t watchedTx) PutTexts(session shoal.SessionID, texts []storage.ModelText) error {
	t.s.mu.Lock()
	t.s.texts = append(t.s.texts, texts...)
	t.s.mu.Unlock()
	return t.Tx.PutTexts(session, texts)
}

func (t watchedTx) PutRequest(session shoal.SessionID, run shoal.RunID, r storage.Request) error {
	t.s.mu.Lock()
	t.s.requests = append(t.s.requests, r)
	t.s.mu.Unlock()
	return t.Tx.PutRequest(session, run, r)
}

// kept returns what was handed in so far of what models were sent.
func (s *watchedStore) kept() ([]storage.ModelText, []storage.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts), slices.Clone(s.requests)
}

// refused is closed when the store has refused something since the test chose it.
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

// losesAnswer loses the answer to a change after n others: it is stored, and says that
// it may not be.
func (s *watchedStore) losesAnswer(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsure = n + 1
}

// lostAnswer reports whether that has happened.
func (s *watchedStore) lostAnswer() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsure == 0
}

// refusesOne refuses the next change alone.
func (s *watchedStore) refusesOne(err error) {
	s.refuses(err, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once = true
}

func (s *watchedStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
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
	err := s.Store.Update(ctx, storage.Global, func(tx storage.Tx) error { return fn(watchedTx{tx, s}) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsure > 0 && err == nil {
		if s.unsure--; s.unsure == 0 {
			err = &shoal.Error{Kind: shoal.Busy, Msg: "The database went away before it answered.", Err: storage.ErrUnknownOutcome}
		}
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return err
}
