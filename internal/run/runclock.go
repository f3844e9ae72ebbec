package run

import (
	"sync"
	"time"
)

// runClock measures how long a run executes, without the time in which it waits for the store.
type runClock struct {
	mu      sync.Mutex
	waits   int           // for the store, at the same time
	ran     time.Duration // until resumed
	resumed time.Time
	limit   time.Duration // of ran
	timer   *time.Timer   // nil without a limit
}

// stopAfter calls over when the run has executed for d from now.
func (c *runClock) stopAfter(d time.Duration, over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = c.elapsed() + d
	c.timer = time.AfterFunc(d, over)
}

// pause stops the time until resume is called as often as pause.
func (c *runClock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits++; c.waits > 1 {
		return
	}
	c.ran += time.Since(c.resumed)
	if c.timer != nil {
		c.timer.Stop()
	}
}

func (c *runClock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits--; c.waits > 0 {
		return
	}
	c.resumed = time.Now()
	if c.timer != nil {
		c.timer.Reset(max(c.limit-c.ran, 0))
	}
}

// total returns how long the run has executed.
func (c *runClock) total() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed()
}

// elapsed is total for callers that hold mu.
func (c *runClock) elapsed() time.Duration {
	if c.waits > 0 {
		return c.ran
	}
	return c.ran + time.Since(c.resumed)
}

// end ends the limit for good.
func (c *runClock) end() { c.pause() }
