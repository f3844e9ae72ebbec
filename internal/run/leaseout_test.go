package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// A store that does not answer for longer than a lease lasts costs no second call of a
// model: the only server goes on with its runs instead of claiming them from itself.
func TestOwnExpiredLeaseIsNotClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
		w.shopkeeper(model, "")
		id := w.says("Hm?")
		<-model.reached
		for range 3 { // whichever of claim and renewal comes first
			w.store.refuses(shoal.E("", shoal.Busy, "The database is busy."), 0)
			<-time.After(17 * time.Second)
			w.store.refuses(nil, 0)
			w.says("And now?") // something to claim
			<-model.reached
		}
		if n := len(model.reached); n > 0 {
			t.Errorf("%d more models were called", n)
		}
		if r := w.run(id); r.Generation != 1 {
			t.Errorf("the run was claimed %d times", r.Generation)
		}
		close(model.release)
		w.reaches(id, shoal.RunCompleted)
	})
}
