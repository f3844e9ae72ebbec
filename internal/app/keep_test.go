package app

import (
	"errors"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
)

func TestKeepRequestsIsATime(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "1d": 24 * time.Hour, "12h": 12 * time.Hour, "90m": 90 * time.Minute, "forever": 0} {
		if got, err := keepFor(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "0d", "-1d", "30", "d", "1.5d", "99999999999d", "-12h", "always", "30 d"} {
		if got, err := keepFor(text); !errors.Is(err, shoal.InvalidArgument) {
			t.Errorf("%q is taken as %v (%v)", text, got, err)
		}
	}
}
