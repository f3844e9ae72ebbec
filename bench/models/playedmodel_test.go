package models

import (
	"slices"
	"testing"
	"time"
)

// The deltas of any number of streams are spread almost evenly, regardless of when the
// streams start.
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
				t.Errorf("the first delta is %v later, want at least 0 and less than the period %v", early, period)
			}
			places = append(places, first.Sub(now.Truncate(period))%period)
		}
		slices.Sort(places)
		places = append(places, places[0]+period)
		for i, place := range places[1:] {
			if gap, even := place-places[i], period/time.Duration(streams); gap < even/3 || gap > 2*even {
				t.Errorf("%d streams: got a gap of %v, want about %v", streams, gap, even)
			}
		}
	}
}
