package mcpapi_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi"
)

func (a *agent) read(uri string, into any) error {
	a.t.Helper()
	res, err := a.ReadResource(a.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return err
	}
	if a.version == modern && res.CacheScope != "private" {
		a.t.Errorf("%s may be cached as %q", uri, res.CacheScope)
	}
	if c := res.Contents[0]; len(res.Contents) != 1 || c.URI != uri || c.MIMEType != "application/json" {
		a.t.Errorf("%s: %+v", uri, res.Contents)
	}
	return json.Unmarshal([]byte(res.Contents[0].Text), into)
}

func TestResources(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			shop(w)
			ann := w.join(by, "ann")
			list, err := ann.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 2+4 { // those of ann, and the files of the skill
				t.Errorf("%v %v", list, err)
			}
			templates, err := ann.ListResourceTemplates(t.Context(), nil)
			if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "shoal://threads/{id}" {
				t.Errorf("%v %v", templates, err)
			}
			var me shoal.Entity
			if err := ann.read("shoal://me", &me); err != nil || me.ID != "ann" {
				t.Errorf("me: %v %v", me, err)
			}
			var threads struct{ Items []shoal.Space }
			if err := ann.read("shoal://threads", &threads); err != nil || len(threads.Items) != 1 || threads.Items[0].ID != "shop" || threads.Items[0].UnreadCount != 3 {
				t.Errorf("threads: %v %v", threads, err)
			}
			var thread struct {
				Space shoal.Space
				Items []shoal.Message
			}
			if err := ann.read("shoal://threads/shop", &thread); err != nil || len(thread.Items) != 3 || len(thread.Space.Members) != 2 || thread.Items[2].Text() != "third" {
				t.Errorf("thread: %v %v", thread, err)
			}
			for _, uri := range []string{"shoal://threads/hers", "shoal://threads/none", "shoal://other", "shoal://threads/"} {
				if err := ann.read(uri, &thread); err == nil || !strings.Contains(err.Error(), "Resource not found") {
					t.Errorf("%s: %v, want not found", uri, err)
				}
			}
		})
	}
}

// subscriber connects ann and returns a channel of the resources that changed.
func (w *world) subscriber(by transport) (*agent, chan string) {
	updates := make(chan string, 100)
	return w.join(by, "ann", &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updates <- r.Params.URI },
	}), updates
}

// uri is the thread that the tests subscribe to.
const uri = "shoal://threads/shop"

// subscribe subscribes, with resources/subscribe or subscriptions/listen as the
// era has it, and returns how to end it.
func (a *agent) subscribe() (end func()) {
	a.t.Helper()
	if err := a.Subscribe(a.t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		a.t.Fatal(err)
	}
	return func() {
		if err := a.Unsubscribe(a.t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
			a.t.Error(err)
		}
	}
}

// A subscriber gets notifications about messages of its thread only, and only while it may
// read it.
func TestSubscriptions(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			w.space("other", "ann", "bob")
			w.space("third", "ann", "bob")
			w.say("bob", "shop", "long ago")
			ann, updates := w.subscriber(by)
			end := ann.subscribe()
			w.until("somebody follows", func() bool { return mcpapi.Watches(w.api) == 1 })
			// Earlier messages cause no notification.
			if err := ann.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "shoal://threads/third"}); err != nil {
				t.Fatal(err)
			}
			w.until("both are followed", func() bool { return mcpapi.Watches(w.api) == 2 })
			w.say("bob", "third", "first of all")
			if got := receive(t, updates); got != "shoal://threads/third" {
				t.Errorf("got a notification about %s", got)
			}
			if err := ann.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "shoal://threads/third"}); err != nil {
				t.Fatal(err)
			}
			w.say("bob", "other", "not this one")
			w.say("bob", "shop", "hello")
			if got := receive(t, updates); got != uri {
				t.Errorf("got a notification about %s", got)
			}
			ann.do("send_message", inputs{"threadId": "shop", "content": "my own"})
			if got := receive(t, updates); got != uri {
				t.Errorf("got a notification about %s", got)
			}
			end()
			w.until("nobody follows", func() bool { return mcpapi.Watches(w.api) == 0 })
		})
	}
}

func TestSubscriptionEndsWithTheMembership(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			w.space("hers", "cleo")
			ann, updates := w.subscriber(by)
			ann.subscribe()
			w.until("somebody follows", func() bool { return mcpapi.Watches(w.api) == 1 })
			if _, err := w.hub.Spaces.Leave(t.Context(), adminWho, shoal.DefaultSession, "shop", "ann"); err != nil {
				t.Fatal(err)
			}
			receive(t, updates) // what it can read has changed: nothing any more
			w.until("nobody follows", func() bool { return mcpapi.Watches(w.api) == 0 })
			for _, other := range []string{uri, "shoal://threads/hers", "shoal://threads", "shoal://me"} {
				if by.version == modern {
					w.listenRefused(other)
				} else if err := ann.Subscribe(t.Context(), &mcp.SubscribeParams{URI: other}); err == nil {
					t.Errorf("ann may subscribe to %s", other)
				}
			}
		})
	}
}

// listenRefused checks that ann may not listen to a resource. The SDK's client
// does not report it.
func (w *world) listenRefused(resource string) {
	w.t.Helper()
	body := rpcMethod(1, "subscriptions/listen", map[string]any{
		"notifications": map[string]any{"resourceSubscriptions": []string{resource}},
		"_meta":         map[string]any{mcp.MetaKeyProtocolVersion: modern, mcp.MetaKeyClientCapabilities: map[string]any{}},
	})
	_, _, text, err := w.post(w.t.Context(), w.key("ann"), body, "Mcp-Protocol-Version", modern, "Mcp-Method", "subscriptions/listen")
	if err != nil || !strings.Contains(text, `"error":{`) {
		w.t.Errorf("listen to %s: %s %v", resource, text, err)
	}
}

// What a client is subscribed to ends with its session or stream.
func TestSubscriptionEndsWithTheClient(t *testing.T) {
	for _, by := range transports[:3] {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			ann, _ := w.subscriber(by)
			two, updates := w.subscriber(by)
			ann.subscribe()
			two.subscribe()
			w.until("somebody follows", func() bool { return mcpapi.Watches(w.api) == 1 })
			ann.Close()
			w.say("bob", "shop", "hello")
			receive(t, updates)
			two.Close()
			w.until("nobody follows", func() bool { return mcpapi.Watches(w.api) == 0 })
		})
	}
}

// Stop ends followers and streams without help.
func TestStopEndsEverything(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	for _, by := range transports[:3] {
		ann, _ := w.subscriber(by)
		ann.subscribe()
	}
	w.until("somebody follows", func() bool { return mcpapi.Watches(w.api) > 0 })
	w.api.Stop()
	if n := mcpapi.Streams(w.api) + mcpapi.Sessions(w.api); n != 0 {
		t.Errorf("%d streams and sessions are left", n)
	}
	status, _, _, err := w.post(t.Context(), w.key("ann"), hello(session))
	if err != nil || status != 503 {
		t.Errorf("a session begins after Stop: %d %v", status, err)
	}
}
