package agent

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// turnClock measures a turn and ends it after its time. What is paused, because
// a person or the store is waited for, does not count. Sub-agents pause the
// clocks above theirs, too, several at once.
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
		c.pause() // for good: a sub-agent that was left behind cannot resume it
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

// paused calls f outside of the turn's time.
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

// watch calls over when a model does not begin within first, or falls silent for
// stall (at most a quarter longer: a delta must not cost a look at the clock).
// What the consumer of the events takes does not count. Negative times never
// pass.
type watch struct {
	stall           time.Duration
	over            func()
	timer           *time.Timer
	began, checking bool
	state           atomic.Int32 // one of those below
	quiet           int          // checksPerStall that found it silent, in a row
}

// What a watch sees.
const (
	silent int32 = iota // nothing came since the last look
	spoke               // something did
	held                // the consumer has the turn
)

// checksPerStall is how often a watch checksPerStall within the time of a stall.
const checksPerStall = 4

func newWatch(first, stall time.Duration, over func()) *watch {
	w := &watch{stall: stall, over: over}
	if first >= 0 {
		w.timer = time.AfterFunc(first, over)
	}
	return w
}

// hold says that the model said something, and that nobody listens until listen.
func (w *watch) hold() {
	w.state.Store(held)
	if !w.began {
		w.began = true
		w.stop()
	}
}

// listen says that the model has to say something now.
func (w *watch) listen() {
	w.state.Store(spoke)
	if w.stall < 0 || w.checking {
		return
	}
	w.checking = true
	// Made first and started then, because look uses the field.
	w.timer = time.AfterFunc(time.Hour, w.check)
	w.timer.Reset(w.stall / checksPerStall)
}

// look counts the checksPerStall in silence.
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
	if w.timer != nil {
		w.timer.Stop()
	}
}

// writeTimeout bounds a write of a turn, which goes on when the turn is
// canceled.
const writeTimeout = 30 * time.Second

// pendingWrite is the one write of a turn that may be under way while the turn
// goes on.
type pendingWrite struct {
	done chan error // nil when there is none
	err  error      // the first failure
}

// begin waits for the write before, and starts the next one unless that failed.
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

// wait returns when nothing is under way, with the first failure.
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
