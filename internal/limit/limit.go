// Package limit bounds what callers may do: how often, and how much at once.
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
//   - What is over a limit is refused at once: nothing here waits.
//   - One key that is over its limit takes nothing from another.
//   - Of every bound over all callers the last quarter is only for callers that
//     hold less than an eighth of it, and the last 2 % only for admins ([Fits]).
//     Every bound of the server over all callers is decided here.
//   - The memory of both is bounded, whatever callers do. Who is forgotten for it
//     starts anew, which only ever lets more through.
package limit

import (
	"sync"
	"time"
)

// Rates bounds how often each key may do something: a burst at once, and after
// that so many a second. It is a token bucket for each key. It is safe for
// concurrent use.
type Rates[K comparable] struct {
	every time.Duration // between two calls at the steady rate
	burst time.Duration // how far ahead of it a key may be
	most  int

	mu    sync.Mutex
	start time.Time
	// When the bucket of a key will be full again, since start. The young ones
	// become the old ones when they are many, and the old ones are forgotten.
	young, old map[K]time.Duration
}

// NewRates allows each key burst calls at once and perSecond for ever, and
// remembers at least most keys, at most twice as many. A rate that is not positive
// means no limit: NewRates then returns nil, which lets everything through.
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

// Take counts one call of key and returns 0, or counts nothing and returns after
// how long the next call will be let through.
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

// Look is Take that counts nothing.
func (r *Rates[K]) Look(key K) time.Duration {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Since(r.start)
	return max(0, max(r.full(key), now)+r.every-now-r.burst)
}

// full must be called with mu held.
func (r *Rates[K]) full(key K) time.Duration {
	if at, ok := r.young[key]; ok {
		return at
	}
	return r.old[key]
}
