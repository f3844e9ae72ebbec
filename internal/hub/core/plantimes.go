package core

import (
	"time"

	"github.com/shoal-dev/shoal"
)

// NotifyPlans has the timer of the plans look when the next one is due.
func (c *Core) NotifyPlans() {
	select {
	case c.PlansChanged <- struct{}{}:
	default: // it will look anyhow
	}
}

// NextTime returns the first time behind after that a cron expression names in a
// time zone. InvalidArgument when either means nothing, or no time follows.
type NextTime func(cron, timeZone string, after time.Time) (time.Time, error)

// NextRunTime returns the first time after a moment at which a plan with a cron expression
// fires.
func (c *Core) NextRunTime(p shoal.Plan, after shoal.Time) (shoal.Time, error) {
	if c.nextTime == nil {
		return after, shoal.Invalid("cron", "cannot be read by this server; give scheduledAt")
	}
	next, err := c.nextTime(*p.Cron, p.TimeZone, after.Time)
	return shoal.At(next), err
}
