package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// moment reads a time, or a duration from now in which d are days: forward with
// sign 1, back with sign -1. flag is what it was given with.
func moment(flag, s string, now time.Time, sign int) (shoal.Time, error) {
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
	return shoal.Time{}, shoal.E("", kindUsage, fmt.Sprintf("%s %s is neither a duration such as 90m or 30d nor a time such as 2027-01-31T00:00:00Z", flag, s))
}
