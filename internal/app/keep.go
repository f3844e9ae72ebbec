package app

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
)

// keepFor parses a retention time: days such as 30d, a Go duration, or forever, for
// which it returns 0.
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
	return 0, shoal.E("app.Config", shoal.InvalidArgument, fmt.Sprintf("--keep-requests %s is not a duration: use 30d or 12h, or forever.", text))
}
