package doors_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/hub/feed"
	"github.com/shoal-dev/shoal/internal/hub/storage"
)

// The agent and the spaces of the story, as the model names them.
const (
	seller  = "shop-agent"
	shop    = "shop"    // of ann and the agent
	finance = "finance" // of bob and the agent
	ops     = "ops"     // of the agent
)

// config is the agent of the story. The gaps are the addresses of the model and of the inventory.
const config = `{"version": "1.0", "agent": {"id": "shop-agent", "name": "Shop Agent", "system": "You sell laptops."},
"model": {"provider": "openai", "api": "chat", "name": "shopping", "baseURL": "%s/v1"},
"tools": [
	{"name": "showProductCard", "displayTool": true, "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}}},
	{"name": "showApprovalForm", "displayTool": true, "inputSchema": {"type": "object", "properties": {"amount": {"type": "number"}, "description": {"type": "string"}}}},
	{"name": "searchInventory", "displayTool": true, "executionType": "request", "execution": {"url": "%s/search?q={{query}}", "method": "POST"},
		"inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}
]}`

// world is the server of all doors.
type world struct {
	*app.Server
	admin  *client.Client
	config string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	stock := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header()["Date"] = nil                // the result of the call contains the header
		_, _ = io.WriteString(w, `{"stock":7}`) // a client that disconnected needs no answer
	}))
	t.Cleanup(stock.Close)
	s, key := apptest.Run(t, app.Config{AllowPrivate: []string{"127.0.0.0/8"}})
	admin, err := client.New(client.Options{URL: s.URL(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return &world{s, admin, fmt.Sprintf(config, vendor, stock.URL)}
}

// place is a session with the people, the spaces and the agent of the story.
type place struct {
	*world
	t       *testing.T
	session shoal.SessionID
	keys    map[shoal.EntityID]string
	watched map[shoal.SpaceID]*feed.Follower
}

// place creates a session of its own for a door.
func (w *world) place(t *testing.T, session shoal.SessionID) *place {
	t.Helper()
	p := &place{w, t, session, map[shoal.EntityID]string{}, map[shoal.SpaceID]*feed.Follower{}}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.admin.CreateSession(ctx, shoal.NewSession{ID: session})
	must(err)
	for _, id := range []shoal.EntityID{"ann", "bob"} {
		key, err := w.admin.CreateKey(ctx, shoal.NewKey{Role: shoal.RoleEntity, SessionID: session, EntityID: id, Kind: shoal.Human})
		must(err)
		p.keys[id] = *key.Secret
	}
	s := w.admin.Session(session)
	_, err = s.PutAgent(ctx, seller, client.ConfigJSON, []byte(w.config))
	must(err)
	for id, members := range map[shoal.SpaceID][]shoal.EntityID{shop: {"ann", seller}, finance: {"bob", seller}, ops: {seller}} {
		_, err := s.CreateSpace(ctx, shoal.NewSpace{ID: id, Name: string(id), Members: members})
		must(err)
	}
	for space, who := range map[shoal.SpaceID]shoal.EntityID{shop: "ann", finance: "bob"} {
		caller := shoal.Principal{Role: shoal.RoleEntity, SessionID: session, EntityID: who, KeyID: "test"}
		p.watched[space], err = w.Hub.Events.Follow(ctx, caller, feed.FollowRequest{Session: session, Space: space})
		must(err)
		t.Cleanup(p.watched[space].Close)
	}
	return p
}

// until returns once an event has happened so many times more in a space.
func (p *place) until(space shoal.SpaceID, what shoal.EventType, count int) {
	p.t.Helper()
	for count > 0 {
		events, err := p.watched[space].Next(p.t.Context(), time.Now().Add(patience))
		if err != nil || len(events) == 0 {
			p.t.Fatalf("%s does not happen %d times in %s: %v", what, count, space, err)
		}
		for _, e := range events {
			if e.Type == what {
				count--
			}
		}
	}
}

var (
	madeID  = regexp.MustCompile(`\b(msg|run|prt|pnd)_[A-Za-z0-9]+`)
	isoTime = regexp.MustCompile(`"20\d\d-\d\d-\d\dT[0-9:.]+Z"`)
)

// stored returns the messages of all spaces as they are stored, in the form that clients get, with ids and times
// replaced.
func (p *place) stored() string {
	p.t.Helper()
	spaces := map[shoal.SpaceID][]shoal.Message{}
	for _, space := range []shoal.SpaceID{shop, finance, ops} {
		messages, err := p.Hub.Messages.Read(p.t.Context(), shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test"}, p.session, space, storage.Page{Limit: shoal.MaxPage})
		if err != nil {
			p.t.Fatal(err)
		}
		for i := range messages {
			messages[i].SessionID = "SESSION"
		}
		spaces[space] = messages
	}
	text, err := json.MarshalIndent(spaces, "", "\t")
	if err != nil {
		p.t.Fatal(err)
	}
	names := map[string]string{}
	replaced := madeID.ReplaceAllStringFunc(string(text), func(id string) string {
		if names[id] == "" {
			kind, _, _ := strings.Cut(id, "_")
			names[id] = fmt.Sprintf("%s-%d", strings.ToUpper(kind), len(names)+1)
		}
		return names[id]
	})
	return isoTime.ReplaceAllString(replaced, `"TIME"`) + "\n"
}
