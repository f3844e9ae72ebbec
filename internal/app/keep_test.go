package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

func TestKeptTimesAreOfTheirFlags(t *testing.T) {
	c := Config{KeepMessages: "1d", KeepRuns: "12h", KeepRequests: "forever"}
	if got, err := c.keep(); err != nil || got != (shoal.Retention{MessagesForMs: 86_400_000, RunsForMs: 43_200_000}) {
		t.Errorf("got %+v, %v", got, err)
	}
	c.KeepRuns = "30"
	if _, err := c.keep(); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "--keep-runs 30 is not a duration") {
		t.Errorf("got %v", err)
	}
}
