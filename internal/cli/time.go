package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/doctor"
)

// ParseTime reads a time, or a duration from now in which d are days: forward with
// sign 1, back with sign -1. flag is what it was given with.
func ParseTime(flag, s string, now time.Time, sign int) (shoal.Time, error) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return shoal.At(at), nil
	}
	if days, found := strings.CutSuffix(s, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return shoal.At(now.AddDate(0, 0, sign*n)), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return shoal.At(now.Add(time.Duration(sign) * d)), nil
	}
	return shoal.Time{}, shoal.E("", KindUsage, fmt.Sprintf("%s %s is neither a duration such as 90m or 30d nor a time such as 2027-01-31T00:00:00Z", flag, s))
}

// FormatTime shows a time: to a person how far away it is, to a program the time itself.
func (o *Output) FormatTime(t *shoal.Time, none string) string {
	if t == nil || !o.Terminal {
		return TimeOr(t, none)
	}
	return relativeTime(time.Until(t.Time))
}

// away says how far away a moment is that comes after d, or is past if d is negative.
func relativeTime(d time.Duration) string {
	if d > time.Minute {
		d = d.Round(time.Minute) // what is just given 30 days has 30 days
	}
	if d > 0 {
		return "in " + doctor.Roughly(d)
	}
	return doctor.Roughly(-d) + " ago"
}
