package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/archive"
	"github.com/shoal-dev/shoal/internal/hub/inbox"
	"github.com/shoal-dev/shoal/internal/hub/spaces"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/shoaltest/postgrestest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

var admin = shoal.Principal{Role: shoal.RoleAdmin}

// openHub returns a hub on a database. The hub is not started.
func openHub(t *testing.T, url string) (*hub.Hub, *sqlstore.Store) {
	t.Helper()
	store, err := sqlstore.Open(context.Background(), sqlstore.Options{URL: url, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	bus := localbus.New()
	h := hub.New(hub.Options{Store: store, Bus: bus})
	t.Cleanup(func() {
		h.Stop()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h, store
}

func sqlite(t *testing.T) string { return "sqlite://" + t.TempDir() + "/shoal.db" }

func exported(t *testing.T, h *hub.Hub, id shoal.SessionID) string {
	t.Helper()
	var b bytes.Buffer
	if err := h.Archive.Export(t.Context(), admin, id, "test", &b); err != nil {
		t.Fatalf("export: %v", err)
	}
	return b.String()
}

func imported(t *testing.T, h *hub.Hub, id shoal.SessionID, text string, o archive.ImportOptions) shoal.Imported {
	t.Helper()
	done, err := h.Archive.Import(t.Context(), admin, id, strings.NewReader(text), o)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	return done
}

// body returns an export without its head.
func body(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// Exporting an imported session returns the same export, across databases.
func TestExportRoundTrip(t *testing.T) {
	first, store := openHub(t, sqlite(t))
	shoaltest.Fill(t, store, "lab")
	text := exported(t, first, "lab")
	for _, of := range storage.RecordTypes {
		if !of.Old && !strings.Contains(text, `{"type":"`+of.Name+`",`) {
			t.Errorf("the session has no %s, so this test does not cover it", of.Name)
		}
	}
	for _, url := range []string{postgrestest.Database(t), sqlite(t)} {
		h, _ := openHub(t, url)
		done := imported(t, h, "lab", text, archive.ImportOptions{})
		if done.Session.ID != "lab" || done.Session.Name != "The lab" || done.Records["message"] != 8 {
			t.Errorf("imported: %+v", done)
		}
		again := exported(t, h, "lab")
		if body(again) != body(text) {
			t.Fatalf("the export of the import differs:\n%s", difference(body(text), body(again)))
		}
		text = again
	}
}

// difference returns the first line in which two texts differ.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("%.600s\n%.600s", x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

// A session that is imported under another id has its own files and is otherwise the same.
func TestImportUnderAnotherID(t *testing.T) {
	h, store := openHub(t, sqlite(t))
	shoaltest.Fill(t, store, "lab")
	text := exported(t, h, "lab")
	imported(t, h, "copy", text, archive.ImportOptions{PausePlans: true})
	copied := exported(t, h, "copy")
	if strings.Contains(copied, "/v1/sessions/lab/files/") || !strings.Contains(copied, "/v1/sessions/copy/files/fil_1") {
		t.Error("the copy names files of the other session")
	}
	if strings.Contains(copied, `"status":"pending"`) {
		t.Error("a plan of the copy is not paused")
	}
	if body(exported(t, h, "lab")) != body(text) {
		t.Error("the original has changed")
	}
}

// An import replaces a session only if it is empty or if the options allow it. The keys of
// the session remain, and so do the entities that they act for.
func TestImportReplacesSession(t *testing.T) {
	h, store := openHub(t, sqlite(t))
	shoaltest.Fill(t, store, "lab")
	shoaltest.Fill(t, store, "full")
	text := exported(t, h, "lab")
	_, err := h.Archive.Import(t.Context(), admin, "full", strings.NewReader(text), archive.ImportOptions{})
	if !errors.Is(err, shoal.Conflict) {
		t.Errorf("import into a full session: got %v, want Conflict", err)
	}
	if _, err := h.Sessions.Create(t.Context(), admin, shoal.NewSession{ID: "empty"}, ""); err != nil {
		t.Fatal(err)
	}
	session := shoal.SessionID("empty")
	operator := shoal.EntityID("operator")
	if _, _, err := h.Keys.Create(t.Context(), admin, shoal.NewKey{Role: shoal.RoleEntity, SessionID: session, EntityID: operator, Kind: shoal.Human}, "hash", ""); err != nil {
		t.Fatal(err)
	}
	imported(t, h, "empty", text, archive.ImportOptions{})
	if _, err := h.Entities.Get(t.Context(), admin, "empty", "operator"); err != nil {
		t.Errorf("the entity of a key: %v", err)
	}
	before := exported(t, h, "full")
	imported(t, h, "full", text, archive.ImportOptions{Replace: true})
	want := shoaltest.InboxesBehind(before, strings.ReplaceAll(body(text), "/sessions/lab/", "/sessions/full/"))
	if a, b := want, body(exported(t, h, "full")); withoutEnd(a) != withoutEnd(b) {
		t.Errorf("the replaced session differs from the export:\n%s", difference(a, b))
	}
	for at, want := range map[shoal.EventType]bool{"": true} {
		err := store.View(t.Context(), func(tx storage.Tx) error {
			end, err := tx.EventEnd("full")
			floor, failed := tx.EventFloor("full", storage.EventFilter{Space: "shop"})
			if (floor == end && end > 3) != want {
				t.Errorf("events %q: floor %d, end %d", at, floor, end)
			}
			return errors.Join(err, failed)
		})
		if err != nil {
			t.Error(err)
		}
	}
	if err := h.Sessions.Delete(t.Context(), admin, "empty"); err != nil {
		t.Fatal(err)
	}
	_, err = h.Archive.Import(t.Context(), admin, "empty", strings.NewReader(text), archive.ImportOptions{Replace: true})
	if !errors.Is(err, shoal.AlreadyExists) {
		t.Errorf("import under the id of a deleted session: got %v, want AlreadyExists", err)
	}
}

// A batch that was delivered from a session is not acknowledged in the session that
// replaces it, in which the same positions belong to other messages.
func TestImportDropsDeliveredBatches(t *testing.T) {
	h := shop(t, nil)
	wait := func(caller shoal.Principal, ack string) shoal.WaitResult {
		t.Helper()
		d, err := h.Inbox.Wait(t.Context(), caller, &inbox.WaitRequest{Session: shoal.DefaultSession, Kind: shoal.WaitMessages, Ack: ack})
		must(t, err)
		d.Settle(true)
		return d.Result
	}
	phone := bot
	phone.KeyID = "phone"
	_, err := h.Messages.Post(t.Context(), ann, shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("unread")}}, "")
	must(t, err)
	text := exported(t, h, shoal.DefaultSession)
	cursor := *wait(phone, "").Cursor
	wait(bot, "")
	imported(t, h, shoal.DefaultSession, text, archive.ImportOptions{Replace: true})
	if len(wait(bot, "").Items) == 0 {
		t.Error("a batch of the old session acknowledged messages of the new one")
	}
	if len(wait(phone, cursor).Items) == 0 {
		t.Error("a cursor of the old session acknowledged messages of the new one")
	}
}

// withoutEnd returns an export without its last line.
func withoutEnd(text string) string {
	return text[:strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")]
}

// Runs that were in progress are canceled; suspended runs can be answered.
func TestImportOfActiveRuns(t *testing.T) {
	h, store := openHub(t, sqlite(t))
	shoaltest.Fill(t, store, "lab")
	err := store.Update(t.Context(), storage.Global, func(tx storage.Tx) error {
		for id, status := range map[shoal.RunID]shoal.RunStatus{"queued": shoal.RunQueued, "running": shoal.RunRunning} {
			r, err := tx.Run("lab", "r1")
			if err != nil {
				return err
			}
			lease := shoal.Now()
			r.ID, r.Status, r.Awake, r.Owner, r.LeaseUntil = id, status, true, "somebody", &lease
			if err := tx.InsertRun(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text := exported(t, h, "lab")
	imported(t, h, "copy", text, archive.ImportOptions{})
	err = store.View(t.Context(), func(tx storage.Tx) error {
		queued, err := tx.Run("copy", "queued")
		running, failed := tx.Run("copy", "running")
		if queued.Status != shoal.RunCanceled || !running.Cancel || !running.Awake || running.LeaseUntil != nil || running.Owner != "" {
			t.Errorf("queued: %+v\nrunning: %+v", queued, running)
		}
		return errors.Join(err, failed)
	})
	if err != nil {
		t.Fatal(err)
	}
	ann := shoal.Principal{Role: shoal.RoleEntity, SessionID: "copy", EntityID: "ann"}
	if _, err := h.Pending.Answer(t.Context(), ann, "copy", "pnd_open", shoal.PendingAnswer{Result: json.RawMessage(`1`)}); err != nil {
		t.Errorf("answer a suspended run: %v", err)
	}
}

// For every kind of invalid file, the error names the line, and nothing of the file is
// stored.
func TestImportRejectsInvalidFiles(t *testing.T) {
	h, store := openHub(t, sqlite(t))
	shoaltest.Fill(t, store, "lab")
	text := exported(t, h, "lab")
	lines := strings.SplitAfter(text, "\n")
	at := func(kind string) int {
		for i, line := range lines {
			if strings.HasPrefix(line, `{"type":"`+kind+`"`) {
				return i
			}
		}
		t.Fatalf("no line of the type %s", kind)
		return 0
	}
	put := func(i int, line string) string {
		return strings.Join(lines[:i], "") + line + strings.Join(lines[i+1:], "")
	}
	change := func(kind, from, to string) string {
		line := lines[at(kind)]
		if !strings.Contains(line, from) {
			t.Fatalf("%s has no %s: %s", kind, from, line)
		}
		return put(at(kind), strings.Replace(line, from, to, 1))
	}
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for name, c := range map[string]struct {
		text string
		line int // from 1; 0 means any
		says string
	}{
		"nothing":                {"", 1, "cut off"},
		"no export":              {"hello\n", 1, "not an export"},
		"another version":        {strings.Replace(text, `"version":1`, `"version":2`, 1), 1, "version 2"},
		"no session":             {lines[0] + lines[at("end")], 2, "no session"},
		"cut off in a line":      {text[:len(text)/2], 0, "cut off"},
		"cut off after a line":   {strings.Join(lines[:at("run")], ""), at("run") + 1, "cut off"},
		"a line is missing":      {put(at("usage"), ""), 0, "digest"},
		"a line is changed":      {change("goal", "DROP", "KEEP"), len(lines) - 1, "digest"},
		"another line":           {text + "{}\n", len(lines), "another line"},
		"no JSON":                {put(at("space"), "{\"type\":\"space\",\n"), at("space") + 1, "not JSON"},
		"no UTF-8":               {change("space", `"name":"`, "\"name\":\"\xff"), at("space") + 1, "UTF-8"},
		"an unknown type":        {put(at("space"), "{\"type\":\"key\"}\n"), at("space") + 1, `unknown type "key"`},
		"no type first":          {put(at("space"), "{\"id\":\"x\",\"type\":\"space\"}\n"), at("space") + 1, "begin"},
		"a field is missing":     {change("space", `"lastSeq":2,`, ``), at("space") + 1, `"lastSeq" is missing`},
		"a field too many":       {change("space", `"lastSeq":2,`, `"lastSeq":2,"sessionId":"default",`), at("space") + 1, `no field "sessionId"`},
		"a field twice":          {change("space", `"lastSeq":2,`, `"lastSeq":2,"lastSeq":2,`), at("space") + 1, "twice"},
		"a wrong number":         {change("space", `"lastSeq":2,`, `"lastSeq":1.5,`), at("space") + 1, "whole number"},
		"a wrong time":           {change("space", `"createdAt":"2026`, `"createdAt":"x026`), at("space") + 1, "not a time"},
		"no id":                  {change("space", `"id":"attic"`, `"id":"../attic"`), at("space") + 1, "not an id"},
		"a word of another kind": {change("space", `"status":"closed"`, `"status":"ajar"`), at("space") + 1, "one of"},
		"control characters":     {change("space", `"name":"Attic"`, `"name":"At\u001btic"`), at("space") + 1, "control"},
		"a NUL":                  {change("entity", `"description":"`, `"description":"\u0000`), at("entity") + 1, "U+0000"},
		"nested too deep":        {change("entity", `"metadata":{}`, `"metadata":{"a":`+deep+`}`), at("entity") + 1, "deeper"},
		"an array for an object": {change("entity", `"metadata":{}`, `"metadata":[]`), at("entity") + 1, "cannot be read"},
		"a reference to nowhere": {change("member", `"entityId":"bob"`, `"entityId":"eve"`), at("member") + 1, `"eve"`},
		"the wrong order":        {put(at("space"), lines[at("run")]), at("space") + 2, "order"},
		"the same twice":         {put(at("space"), lines[at("space")]+lines[at("space")]), at("space") + 2, "twice"},
		"a huge line":            {put(at("space"), `{"type":"space","id":"`+strings.Repeat("x", 33<<20)+"\"}\n"), at("space") + 1, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Archive.Import(t.Context(), admin, "copy", strings.NewReader(c.text), archive.ImportOptions{})
			if err == nil || !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			var e *shoal.Error
			if want := fmt.Sprintf("line %d", c.line); c.line > 0 && (!errors.As(err, &e) || len(e.Fields) != 1 || e.Fields[0].Location != want) {
				t.Errorf("got %+v, want %s", e, want)
			}
		})
	}
	t.Run("nothing is left", func(t *testing.T) {
		imported(t, h, "copy", text, archive.ImportOptions{})
		if got := strings.ReplaceAll(body(exported(t, h, "copy")), "/sessions/copy/", "/sessions/lab/"); withoutEnd(got) != withoutEnd(body(text)) {
			t.Error(difference(body(text), got))
		}
	})
}

// Only admins may export and import.
func TestExportRequiresAdmin(t *testing.T) {
	h, store := openHub(t, sqlite(t))
	shoaltest.Fill(t, store, "lab")
	for _, caller := range []shoal.Principal{{Role: shoal.RoleService, SessionID: "lab"}, {Role: shoal.RoleEntity, SessionID: "lab", EntityID: "ann"}} {
		if err := h.Archive.Export(t.Context(), caller, "lab", "", &bytes.Buffer{}); !errors.Is(err, shoal.Forbidden) {
			t.Errorf("export: %v", err)
		}
		if _, err := h.Archive.Import(t.Context(), caller, "lab", strings.NewReader(""), archive.ImportOptions{}); !errors.Is(err, shoal.Forbidden) {
			t.Errorf("import: %v", err)
		}
	}
}

// An export holds the current text of an edited message and its versions, and an import restores
// both: people read the new text, search finds nothing but it, and the versions stay readable. Of
// a deleted message an export holds no text.
func TestExportOfEditedMessages(t *testing.T) {
	h := shop(t, nil)
	post := func(text string) shoal.MessageID {
		t.Helper()
		m, err := h.Messages.Post(t.Context(), ann, shoal.DefaultSession, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}}, "")
		must(t, err)
		return m.ID
	}
	edit := func(id shoal.MessageID, text string) {
		t.Helper()
		_, err := h.Messages.Edit(t.Context(), ann, shoal.DefaultSession, id, shoal.MessageEdit{Parts: []shoal.Part{shoal.Text(text)}})
		must(t, err)
	}
	kept, gone := post("green tea"), post("Elmstreet seventy")
	edit(kept, "black tea")
	edit(gone, "Elmstreet eighty")
	_, err := h.Messages.React(t.Context(), bot, shoal.DefaultSession, kept, "👍")
	must(t, err)
	must(t, h.Messages.Delete(t.Context(), ann, shoal.DefaultSession, gone))

	text := exported(t, h, shoal.DefaultSession)
	if n := strings.Count(text, `"type":"messageVersion"`); n != 1 || !strings.Contains(text, "green tea") || !strings.Contains(text, "black tea") || strings.Contains(text, "Elmstreet") {
		t.Errorf("%d versions in the export:\n%s", n, text)
	}
	imported(t, h, "copy", text, archive.ImportOptions{})
	m, err := h.Messages.Get(t.Context(), admin, "copy", kept)
	if err != nil || m.Text() != "black tea" || m.EditedAt == nil || len(m.Reactions) != 1 {
		t.Errorf("the imported message is %+v, %v", m, err)
	}
	versions, err := h.Messages.Versions(t.Context(), admin, "copy", kept, 0, 10)
	if err != nil || len(versions) != 1 || versions[0].Parts[0].Text != "green tea" {
		t.Errorf("its versions are %+v, %v", versions, err)
	}
	tombstone, err := h.Messages.Get(t.Context(), admin, "copy", gone)
	if err != nil || tombstone.DeletedAt == nil || len(tombstone.Parts) != 0 {
		t.Errorf("the imported tombstone is %+v, %v", tombstone, err)
	}
	for query, want := range map[string]int{"green": 0, "black": 1, "elmstreet": 0} {
		found, err := h.Messages.Search(t.Context(), admin, "copy", spaces.Search{Query: query, Limit: 10})
		if err != nil || len(found.Hits) != want {
			t.Errorf("a search for %s has %d hits, %v; want %d", query, len(found.Hits), err, want)
		}
	}
}
