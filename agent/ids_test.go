package agent

import (
	"regexp"
	"testing"
	"time"
)

func TestIDsSortByCreation(t *testing.T) {
	form := regexp.MustCompile(`^trn_[0-9a-hjkmnp-tv-z]{22}$`)
	last := ""
	for range 10_000 {
		id := newID("trn_")
		if id <= last || !form.MatchString(id) {
			t.Fatalf("%s follows %s", id, last)
		}
		last = id
	}
}

func TestIDsSortWhenTheClockGoesBack(t *testing.T) {
	var c idClock
	now := time.Now()
	first, second := c.next(now), c.next(now.Add(-time.Hour))
	if first != now.UnixMicro() || second != first+1 {
		t.Errorf("%d, then %d", first, second)
	}
}
