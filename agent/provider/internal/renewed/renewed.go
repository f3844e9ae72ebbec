// Package renewed keeps a value that expires, such as a token, and replaces it in time.
package renewed

import (
	"context"
	"time"
)

const (
	// early is how long before its end a value is replaced. Google's metadata server
	// returns the same token until about four minutes before its end.
	early = 3 * time.Minute
	// settled is the age at which a value that was refused is replaced: a younger one was
	// most likely made after the call that was refused with another.
	settled = 10 * time.Second
)

// Value is a value of which fetch returns the next one, and when it expires. One that expires
// at the zero time is used once. A Value is safe for concurrent use: fetch is called by one
// caller at a time, and the others wait for it or for the end of their context.
type Value[T any] struct {
	fetch func(ctx context.Context) (T, time.Time, error)
	lock  chan struct{} // holds one element while somebody reads or writes what follows
	value T
	until time.Time // zero for no value
	since time.Time // when the value was received
}

// New returns a Value that has none yet.
func New[T any](fetch func(ctx context.Context) (T, time.Time, error)) *Value[T] {
	return &Value[T]{fetch: fetch, lock: make(chan struct{}, 1)}
}

// Get returns the value. It is replaced three minutes before it expires, or when a tenth of
// its life is left if that is later, and if it was refused, unless it is younger than ten
// seconds. If fetch fails while the value is still valid, that value is returned.
func (v *Value[T]) Get(ctx context.Context, refused bool) (T, error) {
	var none T
	select {
	case v.lock <- struct{}{}:
		defer func() { <-v.lock }()
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	now := time.Now()
	if refused && now.Sub(v.since) >= settled {
		v.value, v.until = none, time.Time{}
	}
	left := v.until.Sub(now)
	if left > min(early, v.until.Sub(v.since)/10) {
		return v.value, nil
	}
	value, until, err := v.fetch(ctx)
	switch {
	case err == nil:
		v.value, v.until, v.since = value, until, now
		return value, nil
	case left > 0:
		return v.value, nil
	}
	return none, err
}
