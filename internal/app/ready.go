package app

import (
	"context"
	"sync"
	"time"

	"github.com/shoal-dev/shoal"
)

// readiness tells whether the database can be used. It asks the database seldom and
// once at a time, since nobody needs a key to ask.
type readiness struct {
	reachable func(context.Context) error

	asking sync.Mutex // held by whoever asks the database
	mu     sync.Mutex // guards the rest
	begun  time.Time  // when that one began; zero: nobody asks
	asked  time.Time  // when the last answer came
	last   error
}

const (
	// readyFor is how long an answer of the database holds.
	readyFor = 200 * time.Millisecond
	// readySilence is how long the database may keep silent before it counts as gone.
	readySilence = 2 * time.Second
)

// check returns why the server cannot serve now, nil if it can. It waits for the
// database only if nobody else does.
func (r *readiness) check() error {
	if r.asking.TryLock() {
		defer r.asking.Unlock()
		return r.ask()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun.IsZero() && time.Since(r.begun) > readySilence {
		return shoal.E("app.ready", shoal.Busy, "The database does not answer.")
	}
	return r.last
}

func (r *readiness) ask() error {
	r.mu.Lock()
	fresh, last := time.Since(r.asked) < readyFor, r.last
	if !fresh {
		r.begun = time.Now()
	}
	r.mu.Unlock()
	if fresh {
		return last
	}
	err := r.reachable(context.Background()) // it gives up by itself
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.asked, r.last = time.Time{}, time.Now(), err
	return err
}
