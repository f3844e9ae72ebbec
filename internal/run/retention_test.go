package run_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/archive"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// keepsAnHour makes the session keep everything for an hour.
func (w *world) keepsAnHour() {
	w.t.Helper()
	ms := time.Hour.Milliseconds()
	_, err := w.hub.Sessions.Change(w.t.Context(), admin, session, shoal.SessionChange{Retention: &shoal.RetentionChange{MessagesForMs: &ms, RunsForMs: &ms, PromptsForMs: &ms}})
	w.must(err)
}

// What a session no longer keeps is in no column of any table, although agents have read it. What is
// younger, and everything that a run needs that waits, is there, and the run goes on with it.
func TestRetentionLeavesNoText(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, on database) {
		w := newWorldOn(t, on.open(t))
		_, err := w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "bob", Kind: shoal.Human, Name: "Bob"}, "")
		w.must(err)
		var resumed string
		w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
			last := req.Messages[len(req.Messages)-1]
			switch {
			case strings.Contains(last.Text(), "danger"):
				return calls(call("d", "danger", `{}`))
			case strings.Contains(last.Text(), "Look"):
				return calls(call("b", "readSpaceMessages", `{"spaceId":"shop"}`))
			case strings.Contains(last.Text(), "Repeat"):
				return calls(send("r", "You want the marsupial of Wellington."))
			}
			for _, m := range req.Messages {
				resumed += m.Text() + "\n"
			}
			return silent
		}), cards)
		w.join("shop", "bob")
		bob := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "bob"}
		quiet := false
		say := func(space shoal.SpaceID, text string) shoal.Message {
			m, err := w.hub.Messages.Post(t.Context(), ann, session, space, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, TriggerAgents: &quiet}, "")
			w.must(err)
			return m
		}
		edited := say("shop", "Numbats were mentioned here first")
		_, err = w.hub.Messages.Edit(t.Context(), ann, session, edited.ID, shoal.MessageEdit{Parts: []shoal.Part{shoal.Text("Bandicoots are written here now")}})
		w.must(err)
		w.reaches(w.says(`Repeat: Quokka <lives> at "Elmstreet" 77 & more`), shoal.RunCompleted)
		w.reaches(w.says("Look."), shoal.RunCompleted)
		// In a conversation of its own: a run needs what it sees of the earlier ones.
		danger, err := w.hub.Messages.Post(t.Context(), ann, session, "attic", shoal.Draft{Parts: []shoal.Part{shoal.Text("Do the danger with the Wombat of Osnabrueck.")}}, "")
		w.must(err)
		waits := danger.Runs[0].RunID
		w.reaches(waits, shoal.RunWaitingTool)
		unread := func() int64 {
			s, err := w.hub.Spaces.Get(t.Context(), bob, session, "shop")
			w.must(err)
			return s.UnreadCount
		}
		between := shoal.Now()
		young := say("shop", "The Potoroo is younger")
		old := []string{"Numbats", "Bandicoots", "Quokka", "quokka", "Elmstreet", "elmstreet", "marsupial", "Wellington"}
		waiting := []string{"Wombat of Osnabrueck", "Potoroo"}
		before, count := on.text(t), unread()
		for limit := time.Now().Add(20 * time.Second); has(before, "elmstreet") < 0; before = on.text(t) { // the index follows the messages
			if time.Now().After(limit) {
				t.Fatal("the index does not have the first message")
			}
		}
		for _, text := range append(waiting, old...) {
			if has(before, text) < 0 {
				t.Errorf("the database does not have %q before, so that this test shows nothing of it", text)
			}
		}

		w.keepsAnHour()
		var both sync.WaitGroup
		for range 2 { // as two servers do of which one has lost its lease
			both.Go(func() {
				if err := w.hub.Retention.Sweep(t.Context(), shoal.At(between.Add(time.Hour))); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		w.hasNothingOf(on, old)
		for _, text := range waiting {
			if has(on.text(t), text) < 0 {
				t.Errorf("the database does not have %q any more", text)
			}
		}
		if now := unread(); now != count {
			t.Errorf("bob has %d unread messages, before %d", now, count)
		}
		messages, err := w.hub.Messages.Read(t.Context(), bob, session, "shop", storage.Page{Limit: 200})
		w.must(err)
		for i, m := range messages {
			if m.Seq != int64(i+1) {
				t.Errorf("message %d has seq %d", i, m.Seq)
			}
		}
		if all := w.runs(); len(all) != 1 || all[0].ID != waits {
			t.Errorf("the runs are %+v, want the one that waits", all)
		}
		if _, err := w.hub.Runs.Request(t.Context(), admin, session, waits, 0); err != nil {
			t.Errorf("what the model of the run that waits was sent: %v", err)
		}

		// The session can be moved, and the run goes on.
		var export bytes.Buffer
		w.must(w.hub.Archive.Export(t.Context(), admin, session, "test", &export))
		imported, err := w.hub.Archive.Import(t.Context(), admin, "copy", bytes.NewReader(export.Bytes()), archive.ImportOptions{})
		w.must(err)
		if imported.Session.Retention.MessagesForMs != time.Hour.Milliseconds() {
			t.Errorf("the imported session keeps %+v", imported.Session.Retention)
		}
		w.must(w.hub.Sessions.Delete(t.Context(), admin, "copy"))
		w.answers(waits, "d", `{"approved":false,"reason":"no"}`)
		w.reaches(waits, shoal.RunCompleted)
		if !strings.Contains(resumed, "Wombat of Osnabrueck") {
			t.Errorf("the run that waited went on with %s", resumed)
		}
		if m, err := w.hub.Messages.Get(t.Context(), bob, session, young.ID); err != nil || m.DeletedAt != nil {
			t.Errorf("the younger message is %+v, %v", m, err)
		}

		w.must(w.hub.Retention.Sweep(t.Context(), shoal.At(time.Now().Add(2*time.Hour))))
		w.hasNothingOf(on, append(waiting, old...))
		if _, err := w.hub.Runs.Get(t.Context(), admin, session, waits); !errors.Is(err, shoal.NotFound) {
			t.Errorf("the run is found: %v", err)
		}
		w.reaches(w.says("Go on."), shoal.RunCompleted)
	})
}
