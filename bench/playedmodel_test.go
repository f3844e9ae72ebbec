package main

import (
	"slices"
	"testing"
	"time"
)

// However many streams there are and whenever they begin, their deltas come at about
// even distances.
func TestStreamsAreSpreadOverThePeriod(t *testing.T) {
	const period = 20 * time.Millisecond
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	for _, streams := range []int{1, 20, 200} {
		var p pacer
		var places []time.Duration
		for n := range streams {
			at := now.Add(time.Duration(n*n) * time.Millisecond / 3)
			first := p.first(at, period)
			if early := first.Sub(at); early < 0 || early >= period {
				t.Errorf("the first delta comes %v later; the period is %v", early, period)
			}
			places = append(places, first.Sub(now.Truncate(period))%period)
		}
		slices.Sort(places)
		places = append(places, places[0]+period)
		for i, place := range places[1:] {
			if gap, even := place-places[i], period/time.Duration(streams); gap < even/3 || gap > 2*even {
				t.Errorf("of %d streams two are %v apart; even would be %v", streams, gap, even)
			}
		}
	}
}
