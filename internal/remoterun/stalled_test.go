package remoterun_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
)

// A program that is alive but reports nothing has stalled after a minute, as a hosted run has; the next
// line ends that. A run that waits for a person has not stalled.
func TestSilenceIsStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 30*time.Second, remote)
		id := w.ask("go")
		p := w.program(w.one)
		p.report(`{"type": "turn.started"}`)
		alive := func(d time.Duration) {
			t.Helper()
			tick, end := time.NewTicker(7*time.Second), time.After(d)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					p.report("")
				case <-end:
					return
				}
			}
		}
		alive(50 * time.Second)
		if r := w.run(id); r.StalledSince != nil {
			t.Errorf("after less than a minute: %+v", r)
		}
		alive(20 * time.Second)
		r := w.run(id)
		if r.StalledSince == nil || r.Activity == nil || !r.StalledSince.Equal(r.Activity.At.Time) {
			t.Errorf("after more than a minute: %+v", r)
		}
		p.report(`{"type": "text", "delta": "Still here."}`)
		alive(8 * time.Second)
		if r := w.run(id); r.StalledSince != nil || r.Activity.Kind != shoal.ActivityDelta {
			t.Errorf("after a word: %+v", r)
		}
		p.report(`{"type": "question", "callId": "q", "text": "Red or blue?"}`)
		alive(90 * time.Second)
		if r := w.run(id); r.StalledSince != nil || r.Status != shoal.RunWaitingTool {
			t.Errorf("while it waits for a person: %+v", r)
		}
	})
}
