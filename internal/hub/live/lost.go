package live

import (
	"errors"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

type runKey struct {
	session shoal.SessionID
	run     shoal.RunID
}

// maxLost is the number of lost runs that are remembered. Their executors learn of the loss
// with their next write.
const maxLost = 1024

// Tx is what this package reads in a transaction.
type Tx interface {
	Run(session shoal.SessionID, run shoal.RunID) (storage.Run, error)
}

// Lose drops the parts of a run that generations below next have written, and ignores later
// deltas of those.
func (l *Parts) Lose(session shoal.SessionID, run shoal.RunID, next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loseLocked(session, run, next)
}

func (l *Parts) loseLocked(session shoal.SessionID, run shoal.RunID, next int64) {
	if len(l.lost) >= maxLost {
		clear(l.lost)
	}
	key := runKey{session, run}
	l.lost[key] = max(l.lost[key], next)
	for key, p := range l.parts {
		if key.Session == session && p.Run == run && p.generation < next {
			delete(l.parts, key)
		}
	}
}

// ObserveReset compares the reset of a part that was read from the store with what this
// server knows: if it has not made the reset itself, it has lost the run.
func (l *Parts) ObserveReset(key PartKey, position int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.parts[key]; p != nil && p.pendingChanges == 0 && p.base() < position {
		l.loseLocked(key.Session, p.Run, p.generation+1)
	}
}

// Confirm drops the parts of a message's run if another server has claimed the run since.
func (l *Parts) Confirm(tx Tx, session shoal.SessionID, owner string) error {
	run, generation := l.writer(session, owner)
	if run == "" {
		return nil
	}
	r, err := tx.Run(session, run)
	switch {
	case errors.Is(err, shoal.NotFound):
		l.Lose(session, run, generation+1)
		return nil
	case err == nil && r.Generation > generation:
		l.Lose(session, run, r.Generation)
	}
	return err
}

// writer returns the run that writes parts of owner here, and the lowest generation of it that
// has.
func (l *Parts) writer(session shoal.SessionID, owner string) (run shoal.RunID, generation int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, p := range l.parts {
		if key.Session == session && key.Owner == owner && (run == "" || p.generation < generation) {
			run, generation = p.Run, p.generation
		}
	}
	return run, generation
}
