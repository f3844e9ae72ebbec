package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// Limits of retries and of reconnects.
const (
	attempts   = 5
	callFirst  = 100 * time.Millisecond
	watchFirst = 250 * time.Millisecond
	watchMost  = 8 * time.Second
	callMost   = 2 * time.Second
	// mostAfter is the longest Retry-After that a call respects.
	mostAfter = 30 * time.Second
	// defaultRetryFor is the default of Options.RetryFor.
	defaultRetryFor = 10 * time.Second
)

// backoff computes the delay before the next attempt: it about doubles each time, from
// first to most. Half of it is random, so that many clients of one server do not
// reconnect at the same moment.
type backoff struct {
	first, most time.Duration
	step        time.Duration
}

func (b *backoff) next() time.Duration {
	b.step = min(max(2*b.step, b.first), b.most)
	return b.step/2 + rand.N(b.step/2+1)
}

func (b *backoff) reset() { b.step = 0 }

// pause waits for d and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
