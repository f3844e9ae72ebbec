package run_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// A store that refuses claims is asked about once a second, however many runs are
// queued meanwhile: a full disk must not fill the log, too.
func TestFailedClaimsBackOff(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(silent), "")
	w.store.claimsFail.Store(true)
	before, began := w.store.claims.Load(), time.Now()
	var last shoal.RunID
	for n := range 50 {
		last = w.says(fmt.Sprint(n))
	}
	if tried, most := w.store.claims.Load()-before, 2+int64(time.Since(began)/time.Second); tried > most {
		t.Errorf("claims were tried %d times, want %d at most", tried, most)
	}
	w.store.claimsFail.Store(false)
	w.reaches(last, shoal.RunCompleted)
}

// A store that refuses for good, as one whose disk failed does, keeps no executor from
// ending: what it could not store is done by the next one.
func TestStopDuringRefusedWrites(t *testing.T) {
	w := newWorld(t)
	model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
	w.shopkeeper(model, "")
	id := w.says("Hm?")
	<-model.reached
	w.store.refuses(shoal.E("", shoal.Busy, "The disk failed."), 0)
	close(model.release)
	<-w.store.refused()
	began := time.Now()
	w.exe.Stop()
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it stopped after %v", took)
	}
	w.store.refuses(nil, 0)
	w.start()
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", "bot completed | One.")
}
