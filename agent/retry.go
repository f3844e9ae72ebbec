package agent

import (
	"errors"
	"time"
)

// next reports whether to retry a model call after the failure of the given attempt, and
// after which delay.
func (r Retry) next(attempt int, err error, jitter float64) (time.Duration, bool) {
	if attempt >= r.Attempts {
		return 0, false
	}
	if r.Decide != nil {
		if delay, again, decided := r.Decide(attempt, err); decided {
			return delay, again
		}
	}
	var me *ModelError
	if !errors.As(err, &me) || !me.Class.retryable() {
		return 0, false
	}
	if limit, ok := r.PerClass[me.Class]; ok && attempt > limit {
		return 0, false
	}
	if me.RetryAfter > 0 {
		return me.RetryAfter, true
	}
	delay := r.Base
	for range attempt - 1 {
		if delay *= 2; delay >= r.Max {
			break
		}
	}
	delay = min(delay, r.Max)
	return delay - time.Duration(float64(delay)*jitter/4), true
}
