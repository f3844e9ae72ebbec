package agent

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// turnClock measures the time of a turn and ends the turn at its limit. Pauses, in
// which the turn waits for a person or the store, do not count. Sub-agents also pause
// the clocks of their callers, several at the same time.
type turnClock struct {
	mu      sync.Mutex
	pauses  int
	began   time.Time
	limit   time.Duration // negative: none
	left    time.Duration
	resumed time.Time
	timer   *time.Timer
	fired   atomic.Bool
}

func newTurnClock(limit time.Duration, over func()) *turnClock {
	c := &turnClock{began: time.Now(), limit: limit, left: limit}
	c.resumed = c.began
	if limit > 0 {
		c.timer = time.AfterFunc(limit, func() { c.fired.Store(true); over() })
	}
	return c
}

func (c *turnClock) stop() {
	if c.timer != nil {
		c.pause() // permanently: an abandoned sub-agent cannot resume it
	}
}

// over reports whether the turn's time is over.
func (c *turnClock) over() bool { return c.fired.Load() }

// elapsed is the time since the turn began, pauses included.
func (c *turnClock) elapsed() time.Duration { return time.Since(c.began) }

// remaining is the time that the turn has left, negative for no limit.
func (c *turnClock) remaining() time.Duration {
	if c.timer == nil {
		return -1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.left-time.Since(c.resumed), 0)
}

// paused calls f without counting its time.
func (c *turnClock) paused(f func() error) error {
	if c.timer == nil {
		return f()
	}
	c.pause()
	defer c.resume()
	return f()
}

func (c *turnClock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses++; c.pauses == 1 && c.timer.Stop() {
		c.left -= time.Since(c.resumed)
	}
}

func (c *turnClock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses--; c.pauses == 0 && !c.over() {
		c.resumed = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

// watch calls over when a model does not begin to answer within first, or sends
// nothing for stall (at most a quarter longer, so that a delta need not read the
// clock). The time that the consumer of the events takes does not count, nor what
// happens before the model is called. Negative times never elapse.
type watch struct {
	first, stall    time.Duration
	over            func()
	began, checking bool
	state           atomic.Int32 // one of those below
	quiet           int          // consecutive checks that found the model silent

	mu    sync.Mutex // a middleware may call the model on another goroutine
	timer *time.Timer
	ended bool // the model has begun to answer, or the call has ended
}

// The states of a watch.
const (
	silent int32 = iota // nothing arrived since the last check
	spoke               // something arrived since the last check
	held                // the consumer is handling an event
)

// checksPerStall is the number of checks within the time of a stall.
const checksPerStall = 4

func newWatch(first, stall time.Duration, over func()) *watch {
	return &watch{first: first, stall: stall, over: over}
}

// called records that the model is called.
func (w *watch) called() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.first < 0 || w.ended:
	case w.timer == nil:
		w.timer = time.AfterFunc(w.first, w.over)
	default:
		w.timer.Reset(w.first) // a middleware calls it again
	}
}

// hold records that the model sent something, and stops the time until listen is called.
func (w *watch) hold() {
	w.state.Store(held)
	if !w.began {
		w.began = true
		w.stop()
	}
}

// listen starts the time within which the model has to send something.
func (w *watch) listen() {
	w.state.Store(spoke)
	if w.stall < 0 || w.checking {
		return
	}
	w.checking = true
	w.mu.Lock()
	defer w.mu.Unlock()
	// Create the timer before it can fire, because check uses the field.
	w.timer = time.AfterFunc(time.Hour, w.check)
	w.timer.Reset(w.stall / checksPerStall)
}

// check counts the consecutive checks without anything new from the model.
func (w *watch) check() {
	if w.state.Load() != silent {
		w.state.CompareAndSwap(spoke, silent)
		w.quiet = 0
	} else if w.quiet++; w.quiet == checksPerStall {
		w.over()
		return
	}
	w.timer.Reset(w.stall / checksPerStall)
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// writeTimeout limits a write of a turn, which continues when the turn is canceled.
const writeTimeout = 30 * time.Second

// pendingWrite is the one write that may be in progress while the turn continues.
type pendingWrite struct {
	done chan error // nil if no write is in progress
	err  error      // the first failure
}

// begin waits for the previous write and starts the next one unless that failed.
func (w *pendingWrite) begin(ctx context.Context, f func(context.Context) error) {
	if w.wait() != nil {
		return
	}
	done := make(chan error, 1)
	w.done = done
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	go func() {
		defer cancel()
		done <- guarded("store", func() error { return f(ctx) })
	}()
}

// wait waits for the write in progress and returns the first failure.
func (w *pendingWrite) wait() error {
	if w.done != nil {
		w.keep(<-w.done)
	}
	return w.err
}

// failed returns the first failure without waiting.
func (w *pendingWrite) failed() error {
	select {
	case err := <-w.done:
		w.keep(err)
	default:
	}
	return w.err
}

func (w *pendingWrite) keep(err error) {
	w.done = nil
	if w.err == nil {
		w.err = err
	}
}
