package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/compose"
)

// What is relayed behind a transaction never says again what a part lost in it.
func TestDeltasSurviveNoReset(t *testing.T) {
	mine, other := &compose.Place{Part: "mine"}, &compose.Place{Part: "other"}
	open := compose.OpenPart{Place: mine}
	grown := func(p *compose.Place, offset int, text string) compose.Effect {
		return compose.AppendPart{Place: p, Offset: offset, Delta: text}
	}
	for _, c := range []struct {
		name          string
		effects       []compose.Effect
		before, after []compose.Effect
		countStored   int
	}{
		{
			name:    "a reset in the same batch",
			effects: []compose.Effect{open, grown(mine, 0, "dead"), compose.ResetPart{Place: mine}, grown(mine, 0, "alive")},
			after:   []compose.Effect{grown(mine, 0, "alive")}, countStored: 2,
		},
		{
			name:    "a reset in the middle of a delta",
			effects: []compose.Effect{open, grown(mine, 0, "kept and dead"), grown(other, 0, "other"), compose.ResetPart{Place: mine, Offset: 4}},
			after:   []compose.Effect{grown(mine, 0, "kept"), grown(other, 0, "other")}, countStored: 2,
		},
		{
			name:    "a withdrawn part",
			effects: []compose.Effect{grown(other, 3, "first"), open, grown(mine, 0, "dead"), compose.RemovePart{Place: mine}},
			before:  []compose.Effect{grown(other, 3, "first")}, countStored: 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, stored, after := split(c.effects)
			if d := cmp.Diff(c.before, before); d != "" {
				t.Errorf("before: %s", d)
			}
			if d := cmp.Diff(c.after, after); d != "" {
				t.Errorf("after: %s", d)
			}
			if len(stored) != c.countStored {
				t.Errorf("stored are %v", stored)
			}
		})
	}
}
