package agents

import (
	"slices"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// A list has relative times for a terminal and absolute ones for a pipe.
func TestListOfPlansShowsAges(t *testing.T) {
	at := shoal.At(time.Now().Add(-3 * time.Hour))
	plan := shoal.Plan{ID: "pln_1", ScheduledAt: &at}
	row := func(o *cli.Output) []string { return planRow(o, plan) }
	if got := row(&cli.Output{Terminal: true}); slices.Contains(got, at.String()) || !slices.Contains(got, "3 h ago") {
		t.Errorf("the row on a terminal is %q, want 3 h ago in it", got)
	}
	if got := row(&cli.Output{}); !slices.Contains(got, at.String()) {
		t.Errorf("the row for a program is %q, want %s in it", got, at)
	}
}
