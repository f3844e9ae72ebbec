package core

import (
	"time"

	"github.com/shoal-dev/shoal"
)

// NotifyPlans makes the plan scheduler compute again when the next plan is due.
func (c *Core) NotifyPlans() {
	select {
	case c.PlansChanged <- struct{}{}:
	default: // a notification is already waiting
	}
}

// NextTime returns the first time after the given one that a cron expression matches in a
// time zone. It fails with InvalidArgument when the expression or the time zone is invalid,
// or when no time follows.
type NextTime func(cron, timeZone string, after time.Time) (time.Time, error)

// NextRunTime returns the first time after the given one at which a plan with a cron
// expression fires.
func (c *Core) NextRunTime(p shoal.Plan, after shoal.Time) (shoal.Time, error) {
	if c.nextTime == nil {
		return after, shoal.Invalid("cron", "cannot be read by this server; give scheduledAt")
	}
	next, err := c.nextTime(*p.Cron, p.TimeZone, after.Time)
	return shoal.At(next), err
}
