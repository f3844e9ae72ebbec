package mcpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/mcpapi"
)

// detached blocks until so many waits hold their connections without a handler.
func (w *world) detached(n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d waits are detached", n), func() bool { return w.pool.Count() == n })
}

// withProgress is the body of a wait whose client requests progress notifications.
func withProgress(id int, in inputs) string {
	return rpcMethod(id, "tools/call", map[string]any{"name": "wait_for_mentions", "arguments": in, "_meta": map[string]any{"progressToken": "p"}})
}

// detachedWaits are the forms of a wait that is detached from its handler.
var detachedWaits = []struct {
	name string
	body func(id int, in inputs) string
}{
	{"as JSON", func(id int, in inputs) string { return rpc(id, "wait_for_mentions", in) }},
	{"with progress", withProgress},
}

// A long wait leaves its handler. It is answered like any other, the answer counts as
// delivered, and the connection serves further calls and waits.
func TestLongWaitsAreDetached(t *testing.T) {
	for _, how := range detachedWaits {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t, func(w *world) { w.opts.ProgressEvery = 10 * time.Millisecond })
			w.space("shop", "ann", "bob")
			c := dial(t, w.url, w.key("ann"), "")
			for round := range 3 {
				c.send(how.body(10*round, inputs{"timeoutMs": 600000}))
				w.detached(1)
				m := w.say("bob", "shop", "wake up", "ann")
				got, header := c.receive()
				if strings.Count(got, string(m.ID)) == 0 || !strings.Contains(got, fmt.Sprintf(`"id":%d,"result"`, 10*round)) {
					t.Fatalf("round %d: the wait was answered %s", round, got)
				}
				if how.name == "with progress" && (header.Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(got, ": still here\n\n")) {
					t.Errorf("the stream begins %.60q with %v", got, header)
				}
				c.send(rpc(10*round+1, "list_agents", nil))
				if got, _ := c.receive(); !strings.Contains(got, "ID: bob") {
					t.Fatalf("round %d: the next call was answered %s", round, got)
				}
				c.send(how.body(10*round+2, inputs{"timeoutMs": 0}))
				if got, _ := c.receive(); !strings.Contains(got, "No new messages") {
					t.Errorf("round %d: the message was delivered twice: %s", round, got)
				}
				w.detached(0)
			}
			w.until("no wait can be cancelled any more", func() bool { return mcpapi.OpenWaits(w.api) == 0 })
		})
	}
}

// A long wait for agents leaves its handler as well, and its connection serves further calls.
func TestLongWaitsForAgentsAreDetached(t *testing.T) {
	w := newWorld(t)
	c := dial(t, w.url, w.key("ann"), "")
	c.send(rpc(1, "wait_for_agents", inputs{"agentIds": []string{"late"}, "timeoutMs": 600000}))
	w.detached(1)
	if _, _, text, err := w.post(t.Context(), w.key("late"), rpc(2, "register_agent", inputs{})); err != nil || strings.Contains(text, `"isError":true`) {
		t.Fatalf("late registers: %v %s", err, text)
	}
	if got, _ := c.receive(); !strings.Contains(got, `"id":1,"result"`) || !strings.Contains(got, `"timedOut":false`) || !strings.Contains(got, `"missing":[]`) {
		t.Errorf("the wait was answered %s", got)
	}
	c.send(rpc(3, "wait_for_agents", inputs{"agentIds": []string{"nobody"}, "timeoutMs": 50}))
	if got, _ := c.receive(); !strings.Contains(got, `"timedOut":true`) || !strings.Contains(got, `"missing":["nobody"]`) {
		t.Errorf("the second wait was answered %s", got)
	}
	w.detached(0)
}

// A detached wait continues to send progress, from where it was.
func TestDetachedWaitsSendProgress(t *testing.T) {
	w := newWorld(t, func(w *world) { w.opts.ProgressEvery = 5 * time.Millisecond })
	c := dial(t, w.url, w.key("ann"), "")
	c.send(withProgress(1, inputs{"timeoutMs": 150}))
	w.detached(1)
	got, _ := c.receive()
	last := 0.0
	for _, e := range eventsOf(got) {
		var at float64
		_, rest, found := strings.Cut(e, `"progress":`)
		if !found {
			continue
		}
		if _, err := fmt.Sscanf(rest, "%g", &at); err != nil || at <= last {
			t.Errorf("progress %v after %v, %v", at, last, err)
		}
		last = at
	}
	if last < .05 || !strings.Contains(got, `"id":1,"result"`) {
		t.Errorf("the last progress is %v in %s", last, got)
	}
}

// notifications/cancelled ends a detached wait, whose connection stays open.
func TestDetachedWaitIsCancelled(t *testing.T) {
	for _, how := range detachedWaits {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			id := w.initialize(w.key("ann"))
			c := dial(t, w.url, w.key("ann"), id)
			c.send(how.body(7, inputs{"timeoutMs": 600000}))
			w.detached(1)
			status, _, _, err := w.post(t.Context(), w.key("ann"), rpcMethod(nil, "notifications/cancelled", map[string]any{"requestId": 7}), "Mcp-Session-Id", id)
			if err != nil || status != http.StatusAccepted {
				t.Fatalf("%d %v", status, err)
			}
			if got, _ := c.receive(); !strings.Contains(got, `"id":7,"error":{"code":0,`) {
				t.Errorf("the cancelled wait answered %s", got)
			}
			w.waiting("ann", false)
			m := w.say("bob", "shop", "one", "ann")
			c.send(how.body(8, inputs{"timeoutMs": 600000}))
			if got, _ := c.receive(); !strings.Contains(got, string(m.ID)) {
				t.Errorf("the next wait on the connection answered %s", got)
			}
		})
	}
}

// A client that disconnects from a detached wait ends it and takes nothing with it, and so does
// one whose wait has stayed in its handler.
func TestDisconnectEndsDetachedWait(t *testing.T) {
	for _, held := range []bool{false, true} {
		for _, how := range detachedWaits {
			t.Run(fmt.Sprint(how.name, ", held: ", held), func(t *testing.T) {
				w := newWorld(t, func(w *world) { w.held = held })
				w.space("shop", "ann", "bob")
				c := dial(t, w.url, w.key("ann"), "")
				c.send(how.body(1, inputs{"timeoutMs": 600000}))
				w.waiting("ann", true)
				if !held {
					w.detached(1)
				}
				c.conn.Close()
				w.waiting("ann", false)
				w.until("nothing is left open", func() bool { return mcpapi.OpenWaits(w.api) == 0 && w.pool.Count() == 0 })
				one := w.say("bob", "shop", "one", "ann")
				wantHeard(t, w.join(transports[0], "ann").do("wait_for_mentions", inputs{}), times(1, one))
			})
		}
	}
}

// When the server stops, detached waits are answered as timed out. When a key is revoked, its
// detached waits get an error and no message.
func TestStopAndRevokedKeysEndDetachedWaits(t *testing.T) {
	for _, how := range detachedWaits {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			c, stolen := dial(t, w.url, w.key("bob"), ""), dial(t, w.url, w.key("ann"), "")
			c.send(how.body(1, inputs{"timeoutMs": 600000}))
			stolen.send(how.body(2, inputs{"timeoutMs": 600000}))
			w.detached(2)
			keys, err := w.hub.Keys.List(t.Context(), adminWho, "", 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				if k.EntityID != nil && *k.EntityID == "ann" {
					if err := w.hub.Keys.Revoke(t.Context(), adminWho, k.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got, _ := stolen.receive(); !strings.Contains(got, "unauthenticated: ") {
				t.Errorf("the wait of the revoked key was answered %s", got)
			}
			done := make(chan string, 1)
			go func() {
				got, _ := c.receive()
				done <- got
			}()
			w.stop()
			if got := receive(t, done); !strings.Contains(got, "No new messages") {
				t.Errorf("the wait was answered %s", got)
			}
		})
	}
}
