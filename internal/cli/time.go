package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// ParseTime parses an RFC 3339 time, or a duration such as 90m or 30d relative to now: after
// now with sign 1, before now with sign -1. The error names the flag.
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

// FormatTime formats a time: relative to now for a terminal, such as "3 h ago", and in the
// format of the API otherwise. It returns none for nil.
func (o *Output) FormatTime(t *shoal.Time, none string) string {
	switch {
	case t == nil:
		return none
	case !o.Terminal:
		return t.String()
	}
	return relativeTime(time.Until(t.Time))
}

// Clock returns a time as a reader of a conversation wants it: the time of day, and before it
// the day unless that is today.
func Clock(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	switch {
	case at.Year() != now.Year():
		return at.Format("2006-01-02 15:04")
	case at.YearDay() != now.YearDay():
		return at.Format("Jan 2 15:04")
	}
	return at.Format("15:04:05")
}

// relativeTime returns "in …" for a positive d and "… ago" for a negative one.
func relativeTime(d time.Duration) string {
	if d > time.Minute {
		d = d.Round(time.Minute) // a key with a lifetime of 30 days expires in 30 days, not in 29
	}
	if d > 0 {
		return "in " + shoal.Roughly(d)
	}
	return shoal.Roughly(-d) + " ago"
}
