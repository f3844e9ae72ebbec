package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// realServer starts a server and returns its URL and its admin.
func realServer(t *testing.T) (string, *client.Client) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	server, key := apptest.Run(t, app.Config{Data: data})
	return server.URL(), as(t, server.URL(), key, "")
}

func as(t *testing.T, url, key string, entity shoal.EntityID) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: url, Key: key, As: entity})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// must returns v, or ends the test.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newer is a transport of a client that was built for a later version of the API.
type newer struct{}

func (newer) RoundTrip(req *http.Request) (*http.Response, error) {
	if got := req.Header.Get("X-Shoal-Api"); got != shoal.APIVersion {
		return nil, fmt.Errorf("the client names the version %q", got)
	}
	req.Header.Set("X-Shoal-Api", "1.9")
	req.URL.Path = strings.Replace(req.URL.Path, "/v1/keys", "/v1/of-a-newer-server", 1)
	return http.DefaultTransport.RoundTrip(req)
}

// A client that is newer than the server works, and says so when it calls what the server does not
// have. One that is older says so when it cannot read a response.
func TestOtherVersions(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	server, key := apptest.Run(t, app.Config{Data: data})
	c := must[*client.Client](t)(client.New(client.Options{URL: server.URL(), Key: key, HTTP: &http.Client{Transport: newer{}}}))
	must[shoal.Session](t)(c.Session(shoal.DefaultSession).Get(t.Context()))
	want := "This server speaks version " + shoal.APIVersion + " of the API, and the client was built for 1.9. Upgrade the server"
	for _, err := range c.Keys(t.Context()) {
		if shoal.KindOf(err) != shoal.ServerTooOld || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v", err)
		}
	}

	later := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Shoal-Api", "2.0")
		_, _ = w.Write([]byte(`{"id": {"of": "a later form"}}`))
	}))
	defer later.Close()
	_, err := as(t, later.URL, "k", "").Session(shoal.DefaultSession).Get(t.Context())
	if shoal.KindOf(err) != shoal.ClientTooOld || !strings.Contains(err.Error(), "speaks version 2.0 of the API, and this client, built for "+shoal.APIVersion) {
		t.Errorf("the error is %v", err)
	}
}

// Everything that an administrator does, in the words of this package, against
// the real server.
func TestAdministrationOfARealServer(t *testing.T) {
	ctx := t.Context()
	url, admin := realServer(t)
	if err := errors.Join(admin.Health(ctx), admin.Ready(ctx)); err != nil {
		t.Fatal(err)
	}
	if s := must[shoal.Session](t)(admin.CreateSession(ctx, shoal.NewSession{ID: "lab"})); s.Name != "lab" {
		t.Errorf("session = %+v", s)
	}
	lab := admin.Session("lab")
	made := must[shoal.Entity](t)(lab.CreateEntity(ctx, shoal.NewEntity{ID: "ann", Kind: shoal.Human}))
	name := "Ann"
	changed := must[shoal.Entity](t)(lab.ChangeEntity(ctx, "ann", shoal.EntityChange{Name: &name}))
	if read := must[shoal.Entity](t)(lab.Entity(ctx, "ann")); made.Name != "ann" || changed.Name != "Ann" || read.Name != "Ann" {
		t.Errorf("entity = %+v, then %+v, then %+v", made, changed, read)
	}
	key := must[shoal.Key](t)(admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, SessionID: "lab", EntityID: "bot"}))
	if key.Secret == nil || !strings.HasPrefix(*key.Secret, "shoal_") {
		t.Fatalf("key = %+v", key)
	}
	must[shoal.Space](t)(lab.CreateSpace(ctx, shoal.NewSpace{ID: "bench", Name: "Bench", Members: []shoal.EntityID{"ann"}}))
	space := must[shoal.Space](t)(lab.AddMember(ctx, "bench", "bot"))
	if len(space.Members) != 2 {
		t.Errorf("members = %+v", space.Members)
	}
	title := "The bench"
	if space = must[shoal.Space](t)(lab.ChangeSpace(ctx, "bench", shoal.SpaceChange{Name: &title})); space.Name != title {
		t.Errorf("space = %+v", space)
	}
	bot := as(t, url, *key.Secret, "").Session("lab")
	if space = must[shoal.Space](t)(bot.Space(ctx, "bench")); space.Name != title {
		t.Errorf("space = %+v", space)
	}
	if space = must[shoal.Space](t)(lab.RemoveMember(ctx, "bench", "bot")); len(space.Members) != 1 {
		t.Errorf("members = %+v", space.Members)
	}
	if _, err := bot.Space(ctx, "bench"); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a space that the bot has left: %v", err)
	}
	if err := admin.RevokeKey(ctx, key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Get(ctx); !errors.Is(err, shoal.Unauthenticated) {
		t.Errorf("a revoked key: %v", err)
	}
	if err := lab.DeleteEntity(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	if s := must[shoal.Session](t)(lab.Close(ctx)); s.Status != shoal.SessionStatusClosed {
		t.Errorf("session = %+v", s)
	}
	if err := lab.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Get(ctx); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a deleted session: %v", err)
	}
}

// A conversation of two, in the words of this package, against the real server.
func TestAConversationOnARealServer(t *testing.T) {
	ctx := t.Context()
	url, admin := realServer(t)
	secret := func(id shoal.EntityID) string {
		return *must[shoal.Key](t)(admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, EntityID: id})).Secret
	}
	ann, bot := as(t, url, secret("ann"), "ann").Session("default"), as(t, url, secret("bot"), "").Session("default")
	must[shoal.Space](t)(ann.CreateSpace(ctx, shoal.NewSpace{ID: "shop", Name: "Shop", Members: []shoal.EntityID{"bot"}}))

	inbox := bot.Inbox("bot", client.InboxOptions{})
	asked := make(chan shoal.WaitResult, 1)
	go func() {
		r, err := inbox.Next(ctx)
		if err != nil {
			t.Error(err)
		}
		asked <- r
	}()
	draft := shoal.Draft{
		Parts: []shoal.Part{
			shoal.Text("Two laptops?"),
			{Type: shoal.FilePart, Name: "a.png", MediaType: "image/png", URL: "https://x.example/a.png"},
			{Type: shoal.DataPart, Name: "list", Data: []byte(`{"n":2}`)},
		},
		Mentions: []shoal.EntityID{"bot", "nobody"},
	}
	first := must[shoal.Message](t)(ann.Post(ctx, "shop", draft, client.IdempotencyKey("once")))
	again := must[shoal.Message](t)(ann.Post(ctx, "shop", draft, client.IdempotencyKey("once")))
	if first.Seq != 1 || again.ID != first.ID || len(first.Parts) != 3 || len(first.DroppedMentions) != 1 {
		t.Errorf("posted %+v, then %+v", first, again)
	}
	if _, err := ann.Post(ctx, "shop", hello, client.IdempotencyKey("once")); !errors.Is(err, shoal.IdempotencyMismatch) {
		t.Errorf("another message under a used key: %v", err)
	}
	got := <-asked
	if len(got.Items) != 1 || got.Items[0].Messages[0].ID != first.ID || got.Items[0].Messages[0].Delivery != 1 {
		t.Fatalf("the bot got %+v", got)
	}

	// The bot dies here; its next life gets the question again, and settles it.
	inbox = bot.Inbox("bot", client.InboxOptions{})
	if r := must[shoal.WaitResult](t)(inbox.Next(ctx)); r.Items[0].Messages[0].Delivery != 2 {
		t.Errorf("the second life got %+v", r)
	}
	if err := inbox.Ack(ctx); err != nil {
		t.Fatal(err)
	}
	if r := must[shoal.WaitResult](t)(bot.Wait(ctx, "bot", client.WaitRequest{Redeliver: true})); !r.TimedOut {
		t.Errorf("after the acknowledgement the bot got %+v", r)
	}

	must[shoal.Message](t)(bot.Post(ctx, "shop", hello))
	if s := must[shoal.Space](t)(ann.Space(ctx, "shop")); s.UnreadCount != 1 {
		t.Errorf("unread = %d", s.UnreadCount)
	}
	if err := ann.MarkRead(ctx, "shop", 2); err != nil {
		t.Fatal(err)
	}
	if s := must[shoal.Space](t)(ann.Space(ctx, "shop")); s.UnreadCount != 0 {
		t.Errorf("unread = %d after reading", s.UnreadCount)
	}
	for h, err := range ann.Search(ctx, "lapt", client.SearchOptions{Space: "shop"}) {
		if err != nil || h.Message.ID != first.ID || len(h.Matches) != 1 {
			t.Errorf("found %+v, %v", h, err)
		}
	}
	if all := must[[]shoal.Message](t)(ann.Messages(ctx, "shop", client.MessagesOptions{Before: 2})); len(all) != 1 || all[0].Text() != "Two laptops?" {
		t.Errorf("messages before 2: %+v", all)
	}
	question := must[shoal.Message](t)(ann.Post(ctx, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("And monitors?")}, Mentions: []shoal.EntityID{"bot"}}))
	batch := must[shoal.WaitResult](t)(bot.Wait(ctx, "bot", client.WaitRequest{Timeout: time.Minute, Redeliver: true}))
	receipts := must[[]shoal.Receipt](t)(ann.Receipts(ctx, question.ID))
	if len(receipts) != 1 || receipts[0].EntityID != "bot" || receipts[0].State != shoal.ReceiptDelivered || receipts[0].Final() {
		t.Errorf("receipts after the wait: %+v", receipts)
	}
	if err := bot.Resumed(ctx, "bot", *batch.Cursor); err != nil {
		t.Error(err)
	}
	answer := must[shoal.Message](t)(bot.Post(ctx, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("Two.")}, Mentions: []shoal.EntityID{"ann"}}))
	receipts = must[[]shoal.Receipt](t)(ann.Receipts(ctx, question.ID))
	if r := receipts[0]; !r.Final() || r.ResumedAt == nil || *r.AnsweredBy != answer.ID {
		t.Errorf("receipts after the answer: %+v", receipts)
	}
	var seqs []int64
	for m, err := range bot.Timeline(ctx, "shop", 0) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, m.Seq)
	}
	if len(seqs) != 4 || seqs[0] != 1 {
		t.Errorf("timeline %v", seqs)
	}
}

// Followers of the real server see what happens while it happens, and end with
// the refusal once they may not look any more.
func TestFollowingARealServer(t *testing.T) {
	ctx := t.Context()
	url, admin := realServer(t)
	key := *must[shoal.Key](t)(admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, EntityID: "bot"})).Secret
	session := admin.Session("default")
	must[shoal.Space](t)(session.CreateSpace(ctx, shoal.NewSpace{ID: "shop", Name: "Shop", Members: []shoal.EntityID{"bot", "operator"}}))
	operator := must[*client.Client](t)(client.New(client.Options{URL: url, Key: adminKey(t, admin), As: shoal.Operator})).Session("default")

	var seen []shoal.EventType
	var end error
	for e, err := range as(t, url, key, "").Session("default").Follow(ctx, client.FollowOptions{Space: "shop"}) {
		if err != nil {
			end = err
			break
		}
		switch e.Type {
		case shoal.EventEntityUpdated:
			continue
		case shoal.EventSnapshot:
			must[shoal.Message](t)(operator.Post(ctx, "shop", hello))
		case shoal.EventMessageCreated:
			must[shoal.Space](t)(session.RemoveMember(ctx, "shop", "bot"))
		}
		seen = append(seen, e.Type)
	}
	if !errors.Is(end, shoal.NotFound) || len(seen) != 3 || seen[2] != shoal.EventMemberLeft {
		t.Errorf("saw %v, then %v", seen, end)
	}
}

// adminKey makes one more admin key.
func adminKey(t *testing.T, admin *client.Client) string {
	t.Helper()
	return *must[shoal.Key](t)(admin.CreateKey(t.Context(), shoal.NewKey{Role: shoal.RoleAdmin})).Secret
}
