package run

import (
	"context"
	"errors"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

const (
	// attemptTimeout bounds how long one attempt waits for the store. A server that stops
	// waits that long for a store that does not answer.
	attemptTimeout = 20 * time.Second
	// firstRetry and lastRetry are the shortest and the longest pause between two attempts.
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Second
	// reportAfter is how long an operation is retried before the operator reads of it.
	reportAfter = 10 * time.Second
)

// retry repeats an operation of the store that has done nothing and may succeed later, with
// pauses. It gives up when until ends, when the server stops, and when the execution must not
// write any more. ctx is the context of each attempt. The time does not count as running time.
func (x *execution) retry(until, ctx context.Context, do func(context.Context) error) error {
	x.clock.Pause()
	defer x.clock.Resume()
	began, reported := time.Now(), false
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		err := attempt(ctx, do)
		if !isTemporary(err) || x.once || until.Err() != nil || x.stopCause() != nil {
			return err
		}
		if !reported && time.Since(began) >= reportAfter {
			reported = true
			x.log.Warn("the store cannot do what the run needs; the run waits", "error", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			continue
		case <-until.Done():
		case <-x.e.ctx.Done():
		}
		timer.Stop()
		return err
	}
}

func attempt(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	return do(ctx)
}

// isTemporary reports whether err says that the store did nothing and may do it later: it is
// busy, cannot be reached or is full, or the time of the attempt was up. A write that may have
// been stored must not be repeated.
func isTemporary(err error) bool {
	if errors.Is(err, storage.ErrUnknownOutcome) {
		return false
	}
	return errors.Is(err, shoal.Busy) || errors.Is(err, shoal.StorageFull) || errors.Is(err, context.DeadlineExceeded)
}
