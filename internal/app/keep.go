package app

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// keepFor reads how long something is kept: 0 is for ever.
func keepFor(text string) (time.Duration, error) {
	if text == "forever" {
		return 0, nil
	}
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("--keep-requests %s is no time: write it as 30d or 12h, or forever.", text))
}
