package run_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// Whichever change of a run is stored without anybody learning of it, the run comes to
// the same end, as it does after a crash: nothing is said twice, nothing fails.
func TestUnknownOutcomeOfEveryChange(t *testing.T) {
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost := true
			for n := 0; lost && !t.Failed(); n += dieEvery() {
				t.Run(fmt.Sprint(n), func(t *testing.T) { lost = s.playAndLose(t, n) })
			}
		})
	}
}

// playAndLose plays the story, loses the answer to a change after n others, and
// reports whether there were so many.
func (s story) playAndLose(t *testing.T, n int) (lost bool) {
	w := s.stage(t)
	w.exe.Stop()
	id := w.says("Hm?")
	w.lease = time.Second // a claim that nobody learned of lasts so long
	w.store.losesAnswer(n)
	if err := w.tryStart(); err != nil {
		w.must(w.tryStart())
	}
	for _, a := range s.acts {
		w.reaches(id, a.waits)
		if err := a.do(w, id); !errors.Is(err, storage.ErrUnknownOutcome) { // then it is stored
			w.must(err)
		}
	}
	w.reaches(id, shoal.RunCompleted)
	if got := w.timeline("shop"); !slices.Equal(got, s.want) {
		t.Errorf("the shop shows\n%s", strings.Join(got, "\n"))
	}
	return w.store.lostAnswer()
}

// A run that a server holds without knowing it, since the answer to its claim was
// lost, is taken up when its lease runs out, though the server renews others.
func TestClaimWithUnknownOutcome(t *testing.T) {
	w := newWorld(t)
	w.exe.Stop()
	w.shopkeeper(nil, "")
	first, second := w.says("1"), w.says("2")
	claimed, err := w.hub.Work.Claim(t.Context(), "me", 10, time.Second)
	w.must(err)
	if len(claimed) != 2 {
		t.Fatalf("%d runs were claimed", len(claimed))
	}
	known := runs.Lease{Session: session, Run: first, Generation: 1}
	held, err := w.hub.Work.Renew(t.Context(), "me", []runs.Progress{{Lease: known}}, time.Hour)
	w.must(err)
	if len(held) != 2 {
		t.Errorf("%d runs are held", len(held))
	}
	var again []storage.Run
	for began := time.Now(); len(again) == 0 && time.Since(began) < 10*time.Second; {
		again, err = w.hub.Work.Claim(t.Context(), "me", 10, time.Second)
		w.must(err)
	}
	if len(again) != 1 || again[0].ID != second || again[0].Generation != 2 {
		t.Errorf("claimed when the lease has run out is %+v, want %s alone", again, second)
	}
}
