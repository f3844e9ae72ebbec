package sqlconn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrTimeline ends a store whose database continues from another point of its history, as
// when a standby takes over. The last commits may be lost there, and positions that this
// process assigned belong to other messages. A new start is a new boot, which distinguishes
// valid cursors from lost ones.
var ErrTimeline = errors.New("the database continues from another point of its history")

// timelineWait limits the duration of the query for the timeline.
const timelineWait = 10 * time.Second

// checkTimeline refuses a connection to a database that is on another timeline than at the first
// connection of a writer, or that is read-only, as a standby is. A reader is refused as well: what
// it read of the events would continue positions that this process knows from the other timeline.
// A database whose timeline cannot be read is accepted.
func (c *Conn) checkTimeline() error {
	if c.dialect.timeline == "" || c.reads && !c.origin.hasTimeline() {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, timelineWait)
	defer cancel()
	defer func(outer context.Context) { c.ctx = outer }(c.ctx)
	c.ctx = ctx
	now, _, err := One(c, func(r *Rows) string { return r.Text(0) }, c.dialect.timeline)
	c.failed = nil
	var failed *Failure
	switch {
	case errors.As(err, &failed) && failed.Fault == FaultWrong:
		return nil
	case err != nil:
		return err
	case now == "":
		return NewFailure(FaultLost, c.dialect.timeline, errors.New("the database is a standby"))
	}
	if first := c.origin.firstTimeline(now); first != now {
		return NewFailure(FaultTimeline, c.dialect.timeline, fmt.Errorf("%w: from timeline %s to %s", ErrTimeline, first, now))
	}
	return nil
}

// origin is what the connections of a store have in common: where they write and read.
type origin struct {
	boot atomic.Pointer[boot] // nil before the first

	mu       sync.Mutex
	timeline string // of the database when the first writer connected
}

// firstTimeline returns the timeline of the first call.
func (o *origin) firstTimeline(now string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timeline == "" {
		o.timeline = now
	}
	return o.timeline
}

// hasTimeline reports whether a writer has connected.
func (o *origin) hasTimeline() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.timeline != ""
}
