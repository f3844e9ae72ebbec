package timing

import (
	"sync"
	"time"
)

// Clock measures how long a run executes, without the time in which it waits for the store.
type Clock struct {
	mu      sync.Mutex
	waits   int           // for the store, at the same time
	ran     time.Duration // until resumed
	resumed time.Time
	limit   time.Duration // of ran
	timer   *time.Timer   // nil without a limit
}

// Start starts the time. It is called once, first.
func (c *Clock) Start() { c.resumed = time.Now() }

// StopAfter calls over when the run has executed for d from now.
func (c *Clock) StopAfter(d time.Duration, over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = c.elapsed() + d
	c.timer = time.AfterFunc(d, over)
}

// Pause stops the time until Resume is called as often as Pause.
func (c *Clock) Pause() {
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

// Resume continues the time.
func (c *Clock) Resume() {
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

// Total returns how long the run has executed.
func (c *Clock) Total() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed()
}

// elapsed is total for callers that hold mu.
func (c *Clock) elapsed() time.Duration {
	if c.waits > 0 {
		return c.ran
	}
	return c.ran + time.Since(c.resumed)
}

// End ends the limit for good.
func (c *Clock) End() { c.Pause() }
