package compose_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/internal/compose"
)

// A delta that is relayed after a transaction does not repeat text that a part lost in it.
func TestSplitDropsResetText(t *testing.T) {
	mine, other := &compose.PartRef{Part: "mine"}, &compose.PartRef{Part: "other"}
	open := compose.OpenPart{Place: mine}
	appended := func(p *compose.PartRef, offset int, text string) compose.Effect {
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
			effects: []compose.Effect{open, appended(mine, 0, "dead"), compose.ResetPart{Place: mine}, appended(mine, 0, "alive")},
			after:   []compose.Effect{appended(mine, 0, "alive")}, countStored: 2,
		},
		{
			name:    "a reset in the middle of a delta",
			effects: []compose.Effect{open, appended(mine, 0, "kept and dead"), appended(other, 0, "other"), compose.ResetPart{Place: mine, Offset: 4}},
			after:   []compose.Effect{appended(mine, 0, "kept"), appended(other, 0, "other")}, countStored: 2,
		},
		{
			name:    "a withdrawn part",
			effects: []compose.Effect{appended(other, 3, "first"), open, appended(mine, 0, "dead"), compose.RemovePart{Place: mine}},
			before:  []compose.Effect{appended(other, 3, "first")}, countStored: 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, stored, after := compose.Split(c.effects)
			if d := cmp.Diff(c.before, before); d != "" {
				t.Errorf("before: %s", d)
			}
			if d := cmp.Diff(c.after, after); d != "" {
				t.Errorf("after: %s", d)
			}
			if len(stored) != c.countStored {
				t.Errorf("%d effects are stored, want %d: %v", len(stored), c.countStored, stored)
			}
		})
	}
}

// Deltas before the first stored effect come before the transaction, the others after it.
func TestSplitKeepsTheOrder(t *testing.T) {
	a, b, c := compose.AppendPart{Delta: "a"}, compose.AppendPart{Delta: "b"}, compose.AppendPart{Delta: "c"}
	end, save := compose.EndText{Text: "ab"}, compose.SaveMessage{}
	before, stored, after := compose.Split([]compose.Effect{a, end, b, save, c})
	if len(before) != 1 || len(stored) != 2 || len(after) != 2 {
		t.Errorf("%d deltas before %d stored effects and %d after them, want 1, 2 and 2", len(before), len(stored), len(after))
	}
}
