package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrTimeline ends a store whose database went on from another point of its history, as
// when a standby has taken over. What was committed last may be lost there, and places
// that this process gave belong to other messages. A new start is a new boot, which tells
// good cursors from lost ones.
var ErrTimeline = errors.New("the database went on from another point of its history")

// timelineWait bounds the question for the timeline.
const timelineWait = 10 * time.Second

// sameTimeline refuses a connection of the writer to a database that has gone another way
// than the one that was opened first, or that takes nothing, as a standby does. A database
// that does not say which way it went is believed.
func (c *conn) sameTimeline() error {
	if c.dialect.timeline == "" || c.reads {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), timelineWait)
	defer cancel()
	c.ctx = ctx
	defer func() { c.ctx = context.Background() }()
	now, _, err := one(c, func(r *rows) string { return r.text(0) }, c.dialect.timeline)
	c.failed = nil
	var failed *failure
	switch {
	case errors.As(err, &failed) && failed.fault == faultWrong:
		return nil
	case err != nil:
		return err
	case now == "":
		return newFailure(faultLost, c.dialect.timeline, errors.New("the database is a standby"))
	case c.timeline == "":
		c.timeline = now
	case c.timeline != now:
		return newFailure(faultTimeline, c.dialect.timeline, fmt.Errorf("%w: from timeline %s to %s", ErrTimeline, c.timeline, now))
	}
	return nil
}
