package run_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// A server that has lost the lease writes nothing, and the next server continues.
func TestLostLease(t *testing.T) {
	w := newWorld(t)
	model := gated(script.PerTurn(calls(send("c1", "One.")), silent))
	w.shopkeeper(model, "")
	id := w.says("Hm?")
	<-model.reached
	w.must(w.hub.Work.EndOtherLeases(t.Context(), "another server"))
	// The executor claims it back at once: as anybody else would, with a new lease.
	w.until("another lease is taken", func() bool { return w.run(id).Generation == 2 })
	<-model.reached
	close(model.release)
	w.reaches(id, shoal.RunCompleted)
	w.shows("shop", "bot completed | One.")
}

// What is stored and cannot be read ends the run, rather than being tried for ever.
func TestUnreadableStep(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(send("c1", "Pick:"), call("c2", "pick", `{"targetSpaceId":"shop"}`)), silent), cards)
	id := w.says("Hm?")
	w.reaches(id, shoal.RunWaitingTool)
	w.must(w.store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
		return tx.PutStep(session, id, storage.Step{Step: shoal.Step{Index: 0, ToolCalls: []shoal.StepCall{}}, Data: json.RawMessage(`[]`)})
	}))
	w.answers(id, "c2", `{"result":{"chosen":1}}`)
	r := w.reaches(id, shoal.RunFailed)
	if r.Error.Code != "internal" {
		t.Errorf("its error is %+v", r.Error)
	}
	if got := w.timeline("shop")[0]; !strings.HasPrefix(got, "bot failed | Pick:") {
		t.Errorf("the shop shows %s", got)
	}
}

// A configuration that does not work here is named in the run's error.
func TestUnusableConfiguration(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(silent), `"tools":[{"name":"find","executionType":"request","execution":{"url":"https://kb.example/","method":"GET","headers":{"Authorization":"Bearer ${env.KB}"}}}]`)
	r := w.reaches(w.says("Hm?"), shoal.RunFailed)
	if r.Error.Code != "internal" || !strings.Contains(r.Error.Message, "KB") {
		t.Errorf("its error is %+v", r.Error)
	}
}

// Only so many runs are executed at once; a run that waits holds no place.
func TestLimit(t *testing.T) {
	w := newWorld(t)
	w.exe.Stop()
	model := gated(script.PerTurn(silent))
	w.shopkeeper(model, "")
	w.limit = 2
	w.start()
	ids := []shoal.RunID{w.says("1"), w.says("2"), w.says("3")}
	<-model.reached
	<-model.reached
	select {
	case <-model.reached:
		t.Error("a third run is executed beside two")
	case <-time.After(50 * time.Millisecond):
	}
	close(model.release)
	for _, id := range ids {
		w.reaches(id, shoal.RunCompleted)
	}
}
