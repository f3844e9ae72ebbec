package run_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/sqlite"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// stored returns everything that the tables of a database hold.
func stored(t *testing.T, path string) string {
	t.Helper()
	c, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole.db")
	if err := errors.Join(c.Run("VACUUM INTO '"+whole+"'"), c.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What was said in a message that is deleted is in no table any more: not in the
// timeline, the events, the inboxes and the index, nor in the runs that it started, that
// read it with a tool or as history, or that wrote it. What models were sent goes with
// its own retention.
func TestDeletedMessagesLeaveNoCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shoal.db")
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: "sqlite://" + path, Fatal: func(err error) { t.Errorf("the store failed: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := newWorldOn(t, store)
	const secret, answer = `Quokka <lives> at "Elmstreet" 77 & pays in Zanzibar`, "Noted: the marsupial of Wellington will be moved to Osnabrueck."
	var sent []string
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		text, err := json.Marshal(req.Messages)
		if err != nil {
			t.Error(err)
		}
		sent = append(sent, string(text))
		last := req.Messages[len(req.Messages)-1].Text()
		switch {
		case strings.Contains(last, "Quokka"):
			return calls(call("a", "sendSpaceMessage", `{"spaceId":"shop","text":"`+answer+`"}`))
		case strings.Contains(last, "Look"):
			return calls(call("b", "readSpaceMessages", `{"spaceId":"shop"}`))
		}
		return silent
	}), "")
	_, err = w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "bob", Name: "Bob"}, "")
	w.must(err)
	w.join("shop", "bob")
	first := w.says(secret)
	w.reaches(first, shoal.RunCompleted)
	w.reaches(w.says("Look."), shoal.RunCompleted)
	for _, word := range []string{"elmstreet", "osnabrueck"} { // the index follows the messages
		for limit := time.Now().Add(20 * time.Second); !strings.Contains(stored(t, path), word); {
			if time.Now().After(limit) {
				t.Fatalf("the index does not hold %q", word)
			}
		}
	}
	before := stored(t, path)
	for _, word := range []string{"Quokka", "quokka", "Zanzibar", "Osnabrueck", "osnabrueck"} {
		if !strings.Contains(before, word) {
			t.Fatalf("the database does not hold %q before", word)
		}
	}

	messages, err := w.hub.Messages.Read(t.Context(), ann, session, "shop", storage.Page{Limit: 9})
	w.must(err)
	_, err = w.hub.Messages.Edit(t.Context(), ann, session, messages[0].ID, shoal.MessageEdit{Parts: []shoal.Part{shoal.Text("Numbats are nicer")}})
	w.must(err)
	if edited := stored(t, path); !strings.Contains(edited, "Numbats") || !strings.Contains(edited, "Quokka") {
		t.Fatal("the database does not hold what the message says and what it said before")
	}
	for _, m := range messages[:2] {
		w.must(w.hub.Messages.Delete(t.Context(), admin, session, m.ID))
		w.must(w.hub.Messages.Delete(t.Context(), admin, session, m.ID)) // again
	}
	hour := time.Hour.Milliseconds()
	_, err = w.hub.Sessions.Change(t.Context(), admin, session, shoal.SessionChange{Retention: &shoal.RetentionChange{PromptsForMs: &hour}})
	w.must(err)
	w.must(w.hub.Retention.Sweep(t.Context(), shoal.At(time.Now().Add(2*time.Hour))))
	after := stored(t, path)
	for _, word := range []string{"Numbats", "numbats", "Quokka", "quokka", "Elmstreet", "elmstreet", "Zanzibar", "zanzibar", "Osnabrueck", "osnabrueck", "marsupial"} {
		if i := strings.Index(after, word); i >= 0 {
			t.Errorf("the database still holds %q: …%.300q…", word, after[max(i-150, 0):])
		}
	}
	gone, err := w.hub.Messages.Get(t.Context(), ann, session, messages[0].ID)
	w.must(err)
	if gone.DeletedAt == nil || len(gone.Parts) != 0 || gone.Seq != messages[0].Seq || gone.EntityID != "ann" {
		t.Errorf("what is left of it is %+v", gone)
	}
	sent = nil
	w.reaches(w.says("Go on."), shoal.RunCompleted)
	if all := strings.Join(sent, "\n"); strings.Contains(all, "Quokka") || strings.Contains(all, "marsupial") || !strings.Contains(all, "[deleted]") || !strings.Contains(all, "Look.") {
		t.Errorf("the next run is sent %s", all)
	}
	found, err := w.hub.Messages.Search(t.Context(), ann, session, spaces.Search{Query: "from:ann", Limit: 9})
	w.must(err)
	for _, hit := range found.Hits {
		if hit.Message.ID == gone.ID {
			t.Error("a search finds it")
		}
	}
}
