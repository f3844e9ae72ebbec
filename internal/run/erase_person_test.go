package run_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/hub/archive"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// database is a database whose whole content can be read.
type database struct {
	url  string
	text func(t *testing.T) string
}

func onBothDatabases(t *testing.T, test func(t *testing.T, on database)) {
	t.Run("SQLite", func(t *testing.T) {
		path := shoaltest.EmptyDatabase(t)
		test(t, database{"sqlite://" + path, func(t *testing.T) string { return stored(t, path) }})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := postgrestest.Database(t)
		test(t, database{url, func(t *testing.T) string { return postgrestest.Everything(t, url) }})
	})
}

func (d database) open(t *testing.T) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{URL: d.url, Fatal: func(err error) { t.Errorf("the store failed: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// has reports whether the database has a text, as it is or as bytes in hexadecimal.
func has(all, text string) int {
	if i := strings.Index(all, text); i >= 0 {
		return i
	}
	return strings.Index(all, hex.EncodeToString([]byte(text)))
}

// What a person has said and is called is in no column of any table after the person is erased,
// although agents have read, quoted, remembered and asked.
func TestErasedPersonLeavesNoText(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, on database) {
		w := newWorldOn(t, on.open(t))
		w.personLeavesTraces()
		before := on.text(t)
		for limit := time.Now().Add(20 * time.Second); has(before, "elmstreet") < 0; before = on.text(t) { // the index follows the messages
			if time.Now().After(limit) {
				t.Fatal("the index does not have the first message")
			}
		}
		for _, text := range personal {
			if has(before, text) < 0 {
				t.Errorf("the database does not have %q before, so that this test shows nothing of it", text)
			}
		}
		others := w.othersSay()

		w.must(w.hub.Erasures.Erase(t.Context(), admin, session, "ann"))
		w.hasNothingOf(on, personal)
		var export bytes.Buffer
		w.must(w.hub.Archive.Export(t.Context(), admin, session, "test", &export))
		for _, text := range personal {
			if strings.Contains(export.String(), text) || strings.Contains(export.String(), base64.StdEncoding.EncodeToString([]byte(text))) {
				t.Errorf("the export has %q", text)
			}
		}

		messages, err := w.hub.Messages.Read(t.Context(), admin, session, "shop", storage.Page{Limit: 200})
		w.must(err)
		for i, m := range messages {
			if m.Seq != int64(i+1) {
				t.Errorf("message %d has seq %d", i, m.Seq)
			}
			if m.EntityID == "ann" && (m.DeletedAt == nil || len(m.Parts) != 0) {
				t.Errorf("a message of the person is %+v", m)
			}
		}
		if now := w.othersSay(); now != others {
			t.Errorf("others have said %s\nbefore %s", now, others)
		}
		if _, err := w.hub.Entities.Get(t.Context(), admin, session, "ann"); !errors.Is(err, shoal.NotFound) {
			t.Errorf("the person is found: %v", err)
		}
		w.must(w.hub.Erasures.Erase(t.Context(), admin, session, "ann")) // again
		bob := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "bob"}
		_, err = w.hub.Messages.Post(t.Context(), bob, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("Go on.")}, Mentions: []shoal.EntityID{"bot"}}, "")
		w.must(err)
		w.until("the agent goes on", func() bool {
			all := w.runs()
			return all[0].Status == shoal.RunCompleted && all[0].Requester == "bob"
		})
		w.hasNothingOf(on, personal)
	})
}

// personal are texts that only the person has brought into the database: words of messages, of an
// earlier version, of an answer, a reason, a file, of the name, as they are and as the index has
// them, and of what is known of the person.
var personal = []string{
	"Quokka", "quokka", "Elmstreet", "elmstreet", "Numbats", "ochre7", "marzipan8", "wombats-and-wallabies", "Bilbyfield",
	"bandicoot-metadata", "potoroo description", "issuer|quoll", "Dunnart is the file", "betong",
}

// personLeavesTraces has a person say, edit, upload and answer, and agents work with it.
func (w *world) personLeavesTraces() {
	t := w.t
	name, description, external := "Annabella Bilbyfield", "potoroo description", "issuer|quoll"
	_, err := w.hub.Entities.Update(t.Context(), admin, session, "ann", shoal.EntityChange{
		Name: &name, Description: &description, ExternalID: &external, Metadata: json.RawMessage(`{"a":"bandicoot-metadata"}`),
	})
	w.must(err)
	_, err = w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "bob", Kind: shoal.Human, Name: "Bob"}, "")
	w.must(err)
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		last := req.Messages[len(req.Messages)-1].Text()
		switch {
		case strings.Contains(last, "lamp"):
			return calls(call("q", "ask_user", `{"question":"Which color?","options":[]}`))
		case strings.Contains(last, "danger"):
			return calls(call("d", "danger", `{}`))
		case strings.Contains(last, "Look"):
			return calls(call("b", "readSpaceMessages", `{"spaceId":"shop"}`))
		case strings.Contains(last, "Repeat"):
			return calls(send("r", "Noted."), call("m", "setMemories", `{"memories":[{"topic":"home","content":"She said: Repeat: Quokka <lives> at \"Elmstreet\" 77 & more. That is all."}]}`))
		}
		return silent
	}), cards)
	w.join("shop", "bob")
	bob := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "bob"}
	w.reaches(w.says(`Repeat: Quokka <lives> at "Elmstreet" 77 & more`), shoal.RunCompleted)
	w.reaches(w.says("Look."), shoal.RunCompleted)
	w.reaches(w.says("betong"), shoal.RunCompleted) // a short text is a copy where it is a whole one
	asks := w.says("A lamp.")
	w.reaches(asks, shoal.RunWaitingTool)
	w.answers(asks, "q", `{"answer":"ochre7"}`)
	w.reaches(asks, shoal.RunCompleted)
	risky := w.says("Do the danger.")
	w.reaches(risky, shoal.RunWaitingTool)
	w.answers(risky, "d", `{"approved":false,"reason":"marzipan8"}`)
	w.reaches(risky, shoal.RunCompleted)
	w.reaches(w.says("Look."), shoal.RunCompleted)

	file, err := w.hub.Files.Upload(t.Context(), ann, session, shoal.File{Name: "wombats-and-wallabies.txt", MediaType: "text/plain"}, []byte("Dunnart is the file"), func(id shoal.FileID) string { return shoal.FilePath(session, id) }, "file-key")
	w.must(err)
	_, err = w.hub.Messages.Post(t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("See it."), {Type: shoal.FilePart, Name: file.Name, MediaType: file.MediaType, URL: file.URL}}}, "post-key")
	w.must(err)
	said, err := w.hub.Messages.Read(t.Context(), ann, session, "shop", storage.Page{Limit: 1, After: 0})
	w.must(err)
	_, err = w.hub.Messages.Post(t.Context(), bob, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("Right.")}, ReplyTo: said[0].ID}, "")
	w.must(err)
	numbats, err := w.hub.Messages.Post(t.Context(), ann, session, "attic", shoal.Draft{Parts: []shoal.Part{shoal.Text("Numbats were mentioned here first")}}, "")
	w.must(err)
	_, err = w.hub.Messages.Edit(t.Context(), ann, session, numbats.ID, shoal.MessageEdit{Parts: []shoal.Part{shoal.Text("Something else is written now")}})
	w.must(err)
	w.until("the runs have ended", func() bool {
		for _, r := range w.runs() {
			if !r.Status.Ended() {
				return false
			}
		}
		return true
	})
}

// An erasure that ends with its server is continued by the next one, wherever it was.
func TestErasureGoesOnAfterACrash(t *testing.T) {
	for _, writes := range []int{1, 4, 12} {
		if testing.Short() && writes != 4 {
			continue
		}
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			path := shoaltest.EmptyDatabase(t)
			on := database{"sqlite://" + path, func(t *testing.T) string { return stored(t, path) }}
			w := newWorldOn(t, on.open(t))
			w.personLeavesTraces()
			w.store.refuses(errors.New("the process is dead"), writes)
			if err := w.hub.Erasures.Erase(t.Context(), admin, session, "ann"); err == nil {
				t.Fatal("the erasure needs fewer writes")
			}
			w.crashes()
			w.until("the erasure is complete", func() bool {
				var left []storage.EntityRef
				w.read(func(tx storage.Tx) (err error) { left, err = tx.Erasures(1); return err })
				return len(left) == 0
			})
			w.hasNothingOf(on, personal)
		})
	}
}

// A run that has read what is erased is canceled, and what it stores at its end is erased too.
func TestErasureEndsRunsThatHaveReadIt(t *testing.T) {
	path := shoaltest.EmptyDatabase(t)
	on := database{"sqlite://" + path, func(t *testing.T) string { return stored(t, path) }}
	w := newWorldOn(t, on.open(t))
	_, err := w.hub.Entities.Create(t.Context(), admin, session, shoal.NewEntity{ID: "bob", Kind: shoal.Human, Name: "Bob"}, "")
	w.must(err)
	reads := make(chan struct{})
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		switch last := req.Messages[len(req.Messages)-1].Text(); {
		case strings.Contains(last, "Look"):
			return calls(call("b", "readSpaceMessages", `{"spaceId":"shop"}`))
		case strings.Contains(last, "Quokka lives"):
			return silent
		}
		close(reads)
		return script.Answer{Text: "So it is.", Delay: time.Minute} // the end of the run cuts it off
	}), "")
	w.join("shop", "bob")
	w.reaches(w.says("Quokka lives at Elmstreet 77 in Zanzibar"), shoal.RunCompleted)
	bob := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: "bob"}
	_, err = w.hub.Messages.Post(t.Context(), bob, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("Look.")}, Mentions: []shoal.EntityID{"bot"}}, "")
	w.must(err)
	<-reads
	w.must(w.hub.Erasures.Erase(t.Context(), admin, session, "ann"))
	w.hasNothingOf(on, []string{"Quokka", "quokka", "Elmstreet", "Zanzibar"})
	if r := w.runs()[0]; r.Status != shoal.RunCanceled || r.Requester != "bob" {
		t.Errorf("the run is %+v", r)
	}
}

// A session can be moved after runs are gone that its messages and its usage name.
func TestExportAfterAnAgentWasErased(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.Func(func(req *agent.Request) script.Answer {
		if strings.Contains(req.Messages[len(req.Messages)-1].Text(), "Repeat") {
			return calls(send("r", "Noted."))
		}
		return silent
	}), "")
	w.reaches(w.says("Repeat."), shoal.RunCompleted)
	w.must(w.hub.Erasures.Erase(t.Context(), admin, session, "bot"))
	var export bytes.Buffer
	w.must(w.hub.Archive.Export(t.Context(), admin, session, "test", &export))
	_, err := w.hub.Archive.Import(t.Context(), admin, "copy", bytes.NewReader(export.Bytes()), archive.ImportOptions{})
	w.must(err)
	messages, err := w.hub.Messages.Read(t.Context(), admin, "copy", "shop", storage.Page{Limit: 9})
	w.must(err)
	if len(messages) != 2 || messages[1].RunID == nil || messages[1].EntityID != "bot" {
		t.Errorf("the messages are %+v", messages)
	}
}

// othersSay returns what bob has said, with what it replies to.
func (w *world) othersSay() string {
	w.t.Helper()
	messages, err := w.hub.Messages.Read(w.t.Context(), admin, session, "shop", storage.Page{Limit: 200})
	w.must(err)
	out := ""
	for _, m := range messages {
		if m.EntityID == "bob" {
			text, err := json.Marshal(m)
			w.must(err)
			out += string(text)
		}
	}
	return out
}

func (w *world) hasNothingOf(on database, texts []string) {
	w.t.Helper()
	all := on.text(w.t)
	for _, text := range texts {
		if i := has(all, text); i >= 0 {
			w.t.Errorf("the database still has %q: …%.500q…", text, all[max(i-300, 0):])
		}
	}
}
