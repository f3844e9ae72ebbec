package hub_test

import (
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/archive"
	"github.com/shoal-dev/shoal/internal/hub/pending"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
)

// A permission that no run waits for is exported while it is open, and goes on in the session that is imported:
// its program keeps it open and reads the decision.
func TestExportOfAPermissionWithoutARun(t *testing.T) {
	first, store := openHub(t, sqlite(t))
	shoaltest.Fill(t, store, "lab")
	err := store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
		bot, err := tx.Entity("lab", "bot")
		if err != nil {
			return err
		}
		owner := shoal.EntityID("ann")
		bot.Kind, bot.OwnerID = shoal.Agent, &owner
		return tx.UpdateEntity(bot)
	})
	if err != nil {
		t.Fatal(err)
	}
	bot := shoal.Principal{Role: shoal.RoleEntity, SessionID: "lab", EntityID: "bot"}
	ann := shoal.Principal{Role: shoal.RoleEntity, SessionID: "lab", EntityID: "ann"}
	open, err := first.Pending.Ask(t.Context(), bot, "lab", "bot", pending.Ask{ToolName: "Bash", Args: json.RawMessage(`{"command":"make <all>"}`)})
	if err != nil {
		t.Fatal(err)
	}
	text := exported(t, first, "lab")
	for _, url := range []string{postgrestest.Database(t), sqlite(t)} {
		h, _ := openHub(t, url)
		imported(t, h, "lab", text, archive.ImportOptions{})
		if again := exported(t, h, "lab"); body(again) != body(text) {
			t.Errorf("the export of the import differs:\n%s", difference(body(text), body(again)))
		}
		kept, err := h.Pending.Ask(t.Context(), bot, "lab", "bot", pending.Ask{ID: open.ID})
		if err != nil || kept.Status != shoal.PendingOpen || kept.ArgsHash != open.ArgsHash || kept.RunID != "" {
			t.Errorf("imported it is %+v, %v", kept, err)
		}
		yes := true
		if _, err := h.Pending.Answer(t.Context(), ann, "lab", open.ID, shoal.PendingAnswer{Approved: &yes, ArgsHash: &open.ArgsHash}); err != nil {
			t.Errorf("its answer: %v", err)
		}
		read, err := h.Pending.Ask(t.Context(), bot, "lab", "bot", pending.Ask{ID: open.ID})
		if err != nil || read.Decision == nil || !read.Decision.Approved || read.Decision.By == nil || *read.Decision.By != "ann" {
			t.Errorf("the program reads %+v, %v", read, err)
		}
	}
}
