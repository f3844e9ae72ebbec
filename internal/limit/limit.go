// Package limit limits callers: the rate of their calls and their concurrency.
//
//	rates := limit.NewRates[shoal.KeyID](100, 500, 10_000)
//	if wait := rates.Take(key); wait > 0 {
//		return shoal.RateLimited // again after wait
//	}
//
//	streams := limit.NewOpen(20, 10_000)
//	switch streams.Enter(caller) { … }
//	defer streams.Leave(caller)
//
// Guarantees:
//   - Requests over a limit are refused immediately. Nothing here blocks.
//   - A key that exceeds its limit does not affect other keys.
//   - The last quarter of every global limit is reserved for callers that use less than an
//     eighth of it, and the last 2 % for admins ([Fits]). Every global limit of the server is
//     decided here.
//   - Memory is bounded for any behavior of the callers. A caller that is forgotten starts
//     with a full allowance, so forgetting only ever permits more.
package limit

import (
	"sync"
	"time"
)

// Rates limits the rate of calls by key: a burst, and after that a constant rate. It is a
// token bucket for each key. It is safe for concurrent use.
type Rates[K comparable] struct {
	every time.Duration // interval of calls at the constant rate
	burst time.Duration // how far a key may be ahead of that rate
	most  int

	mu    sync.Mutex
	start time.Time
	// The times, since start, at which the buckets of the keys are full again. When there
	// are many young ones they replace the old ones, which are forgotten.
	young, old map[K]time.Duration
}

// NewRates permits each key burst calls at once and perSecond calls per second continuously.
// It remembers at least most keys and at most twice as many. For a rate that is not positive
// it returns nil, which permits everything.
func NewRates[K comparable](perSecond float64, burst, most int) *Rates[K] {
	if perSecond <= 0 {
		return nil
	}
	every := time.Duration(float64(time.Second) / perSecond)
	return &Rates[K]{
		every: every, burst: every * time.Duration(max(burst, 1)), most: most,
		start: time.Now(), young: map[K]time.Duration{},
	}
}

// Take counts one call of key and returns 0. Over the limit it counts nothing and returns the
// time until the next call is permitted.
func (r *Rates[K]) Take(key K) time.Duration {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	full, now := r.full(key), time.Since(r.start)
	full = max(full, now) + r.every
	if wait := full - now - r.burst; wait > 0 {
		return wait
	}
	if len(r.young) >= r.most {
		r.young, r.old = make(map[K]time.Duration, r.most), r.young
	}
	r.young[key] = full
	return 0
}

// Peek returns the same as Take without counting a call.
func (r *Rates[K]) Peek(key K) time.Duration {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Since(r.start)
	return max(0, max(r.full(key), now)+r.every-now-r.burst)
}

// full returns when the bucket of key will be full again. It must be called with mu held.
func (r *Rates[K]) full(key K) time.Duration {
	if at, ok := r.young[key]; ok {
		return at
	}
	return r.old[key]
}
