package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// When a model pauses, what it has written is stored within half a second.
func TestDraftsAreStoredWhenTheModelPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		model := gated(script.PerTurn(calls(send("c1", "The tide comes in at six, and then nobody can leave the island.")), silent))
		model.before = "island"
		w.shopkeeper(model, "")
		w.says("When?")
		<-model.reached
		<-time.After(500 * time.Millisecond)
		synctest.Wait()
		var open []shoal.Message
		w.must(w.store.View(t.Context(), func(tx storage.Tx) (err error) {
			open, err = tx.Streaming(session, "shop")
			return err
		}))
		const want = "The tide comes in at six, and then nobody can leave th" // the script writes eight bytes at once
		if len(open) != 1 || len(open[0].Parts) != 1 || strings.TrimSpace(open[0].Parts[0].Text) != want {
			t.Errorf("stored is %+v, want one message with %q", open, want)
		}
		close(model.release)
	})
}
