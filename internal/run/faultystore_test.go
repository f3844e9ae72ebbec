package run_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// faultyStore fails writes of runs as a test chooses. All other changes are stored: claims,
// renewals, and those of people.
type faultyStore struct {
	*watchedStore

	mu     sync.Mutex
	fault  func() error // called for each attempt at a write; nil stores it
	writes int          // attempts since the fault was chosen
}

var (
	// errSlow makes the attempt wait until its time is up.
	errSlow   = errors.New("the store is slow")
	errUnsure = &shoal.Error{Kind: shoal.Busy, Msg: "The database went away before it answered.", Err: storage.ErrUnknownOutcome}
)

// choose sets the fault of the following writes.
func (s *faultyStore) choose(fault func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.writes = fault, 0
}

// attempt counts an attempt at a write and returns its fault.
func (s *faultyStore) attempt() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.fault == nil {
		return nil
	}
	return s.fault()
}

// attempts returns the number of attempts since the fault was chosen.
func (s *faultyStore) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// runReader records that a transaction reads one run, with which every write of a run begins.
type runReader struct {
	storage.Tx
	read bool
}

func (r *runReader) Run(session shoal.SessionID, id shoal.RunID) (storage.Run, error) {
	r.read = true
	return r.Tx.Run(session, id)
}

func (s *faultyStore) Update(ctx context.Context, at storage.At, fn func(storage.Tx) error) error {
	err := s.watchedStore.Update(ctx, at, func(tx storage.Tx) error {
		r := &runReader{Tx: tx}
		if err := fn(r); err != nil || !r.read {
			return err
		}
		return s.attempt()
	})
	if errors.Is(err, errSlow) {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// outages returns a fault that makes each write fail for a time before it succeeds.
func outages(err error, lasts time.Duration) func() error {
	var end time.Time
	return func() error {
		switch now := time.Now(); {
		case end.IsZero():
			end = now.Add(lasts)
			return err
		case now.Before(end):
			return err
		}
		end = time.Time{}
		return nil
	}
}

// onlyAt returns a fault of the nth write alone.
func onlyAt(n int, err error) func() error {
	return func() error {
		if n--; n == -1 {
			return err
		}
		return nil
	}
}
