package mcpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi"
)

// hello is the body of an initialize of the older era.
func hello(version string) string {
	return rpcMethod(1, "initialize", map[string]any{"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "x", "version": "1"}})
}

// initialize opens a session and returns its id.
func (w *world) initialize(key string) string {
	w.t.Helper()
	status, h, text, err := w.post(w.t.Context(), key, hello(session))
	if err != nil || status != 200 || h.Get("Mcp-Session-Id") == "" {
		w.t.Fatalf("%d %v %s %v", status, h, text, err)
	}
	id := h.Get("Mcp-Session-Id")
	if status, _, text, err := w.post(w.t.Context(), key, rpcMethod(nil, "notifications/initialized", nil), "Mcp-Session-Id", id); err != nil || status != 202 {
		w.t.Fatalf("%d %s %v", status, text, err)
	}
	return id
}

// get opens the session's stream of notifications and returns its status and
// what comes over it.
func (w *world) get(ctx context.Context, key, id string) (int, chan string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/mcp", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", id)
	res, err := withKey(key).Do(r) //nolint:bodyclose // it is closed below, in the goroutine that reads it
	if err != nil {
		w.t.Fatal(err)
	}
	out := make(chan string, 100)
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		close(out)
		return res.StatusCode, out
	}
	go func() {
		defer res.Body.Close()
		defer close(out)
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			if s.Text() != "" {
				out <- s.Text()
			}
		}
	}()
	return 200, out
}

func (w *world) delete(key, id string) int {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodDelete, w.url+"/mcp", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Mcp-Session-Id", id)
	res, err := withKey(key).Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// A session is valid for its caller alone. For others, and once it is over, it is
// one that this server does not know.
func TestSessionBelongsToItsCaller(t *testing.T) {
	w := newWorld(t)
	ann, bob, second := w.key("ann"), w.key("bob"), w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann"})
	id := w.initialize(ann)
	for _, key := range []string{bob, second} {
		if status, _ := w.get(t.Context(), key, id); status != 404 {
			t.Errorf("another's GET: %d, want 404", status)
		}
		if status := w.delete(key, id); status != 404 {
			t.Errorf("another's DELETE: %d, want 404", status)
		}
		// A POST does not depend on sessions at all.
		status, _, text, err := w.post(t.Context(), key, rpcMethod(5, "tools/list", nil), "Mcp-Session-Id", id)
		if err != nil || status != 200 || !strings.Contains(text, "send_message") {
			t.Errorf("another's POST: %d %s %v", status, text, err)
		}
	}
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	status, lines := w.get(ctx, ann, id)
	if status != 200 || receive(t, lines) != ": ok" {
		t.Fatalf("GET: %d", status)
	}
	if status := w.delete(ann, id); status != 204 {
		t.Errorf("DELETE: %d, want 204", status)
	}
	for range lines { // ends with the session
	}
	if status, _ := w.get(t.Context(), ann, id); status != 404 {
		t.Errorf("GET after DELETE: %d, want 404", status)
	}
	// The client has ended the session, so it is not treated as one from before a restart.
	for _, body := range []string{rpc(6, "list_agents", nil), rpcMethod(6, "tools/list", nil)} {
		status, _, text, err := w.post(t.Context(), ann, body, "Mcp-Session-Id", id)
		if want := `{"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"not_found: MCP session not found. Initialize again."}}`; err != nil || status != 404 || text != want {
			t.Errorf("POST after DELETE: %d %s %v, want 404 %s", status, text, err, want)
		}
	}
	if status, _, text, err := w.post(t.Context(), bob, rpc(6, "list_agents", nil), "Mcp-Session-Id", id); err != nil || status != 200 {
		t.Errorf("another's POST after DELETE: %d %s %v", status, text, err)
	}
	if n := mcpapi.Sessions(w.api); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// A client that holds no stream open keeps the level that it has set: a session is at
// rest between two of its requests, and the SDK knows the level only while it is not.
func TestLogLevelOutlastsARest(t *testing.T) {
	w := newWorld(t, func(w *world) { w.make = fixture })
	ann := w.key("ann")
	id := w.initialize(ann)
	level := rpcMethod(2, "logging/setLevel", map[string]any{"level": "info"})
	if status, _, text, err := w.post(t.Context(), ann, level, "Mcp-Session-Id", id); err != nil || status != 200 {
		t.Fatalf("setting the level: %d %s %v", status, text, err)
	}
	_, _, text, err := w.post(t.Context(), ann, rpc(3, "test_tool_with_logging", inputs{}), "Mcp-Session-Id", id)
	if n := strings.Count(text, `"notifications/message"`); err != nil || n != 3 {
		t.Errorf("%d log messages, want 3: %s %v", n, text, err)
	}
}

// A caller that names another's session id, which it may have seen in a log, gets a
// session of its own under that id and ends nothing.
func TestAnIdOfAnothersSessionEndsNothing(t *testing.T) {
	w := newWorld(t)
	ann, bob, second := w.key("ann"), w.key("bob"), w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann"})
	id := w.initialize(ann)
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	status, lines := w.get(ctx, ann, id)
	if status != 200 || receive(t, lines) != ": ok" {
		t.Fatalf("GET: %d", status)
	}
	for _, key := range []string{bob, second} {
		body := rpcMethod(7, "resources/subscribe", map[string]any{"uri": "shoal://sessions/default/state"})
		if status, _, text, err := w.post(t.Context(), key, body, "Mcp-Session-Id", id); err != nil || status != 200 {
			t.Fatalf("another's subscription: %d %s %v", status, text, err)
		}
		if got := mcpapi.Sessions(w.api); got != 2 {
			t.Errorf("%d sessions, want 2", got)
		}
		if status := w.delete(key, id); status != 204 {
			t.Errorf("another's DELETE of its own: %d, want 204", status)
		}
		body = rpcMethod(8, "resources/subscribe", map[string]any{"uri": "shoal://sessions/default/state"})
		if status, _, _, err := w.post(t.Context(), key, body, "Mcp-Session-Id", id); err != nil || status != 404 {
			t.Errorf("a subscription in the session that it has ended: %d %v, want 404", status, err)
		}
		if got := mcpapi.Sessions(w.api); got != 1 {
			t.Errorf("%d sessions, want the first one alone", got)
		}
	}
	select {
	case line, open := <-lines:
		t.Errorf("the first stream brings %q, open %v", line, open)
	default:
	}
	if status := w.delete(ann, id); status != 204 {
		t.Errorf("DELETE of the first session: %d, want 204", status)
	}
}

// Only so many ended sessions are remembered; an older one is again one that
// this server does not know.
func TestEndedSessionsAreBounded(t *testing.T) {
	w := newWorld(t, func(w *world) { w.opts.MaxSessions = 2 })
	ann := w.key("ann")
	var ids []string
	for range 3 {
		ids = append(ids, w.initialize(ann))
		if status := w.delete(ann, ids[len(ids)-1]); status != 204 {
			t.Fatalf("DELETE: %d", status)
		}
	}
	for i, want := range []int{200, 404, 404} {
		if status, _, text, err := w.post(t.Context(), ann, rpc(6, "list_agents", nil), "Mcp-Session-Id", ids[i]); err != nil || status != want {
			t.Errorf("POST in the ended session %d: %d %s %v, want %d", i, status, text, err, want)
		}
	}
}

// Sessions are bounded: those that fail to initialise do not stay, one too many
// ends the oldest, and an idle one ends by itself.
func TestSessionsAreBounded(t *testing.T) {
	t.Run("failed initialise", func(t *testing.T) {
		w := newWorld(t)
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}`, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
			rpcMethod(1, "ping", nil), rpcMethod(1, "tools/list", nil), rpc(1, "list_agents", nil), rpc(1, "nothing", nil), "[" + hello("2025-03-26") + "]",
		} {
			if _, _, _, err := w.post(t.Context(), w.key("ann"), body); err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := w.post(t.Context(), w.key("ann"), body, "Mcp-Session-Id", "gone"); err != nil {
				t.Fatal(err)
			}
		}
		if n := mcpapi.Sessions(w.api); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
	t.Run("each", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.opts.MaxSessionsEach = 3 })
		bobs := w.initialize(w.key("bob"))
		inUse := w.initialize(w.key("ann"))
		if status, _ := w.get(t.Context(), w.key("ann"), inUse); status != 200 {
			t.Fatal(status)
		}
		oldest := w.initialize(w.key("ann"))
		for range 3 {
			w.initialize(w.key("ann"))
		}
		if n := mcpapi.Sessions(w.api); n != 4 {
			t.Errorf("%d sessions, want 3 of ann's and one of bob's", n)
		}
		if w.delete(w.key("ann"), oldest) != 404 || w.delete(w.key("ann"), inUse) != 204 || w.delete(w.key("bob"), bobs) != 204 {
			t.Error("it was not the oldest of ann's unused sessions that ended")
		}
	})
	t.Run("in total", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.opts.MaxSessions = 2 })
		first := w.initialize(w.key("ann"))
		w.initialize(w.key("bob"))
		w.initialize(w.key("cleo"))
		if n := mcpapi.Sessions(w.api); n != 2 || w.delete(w.key("ann"), first) != 404 {
			t.Errorf("%d sessions, want 2 without the first", n)
		}
	})
	t.Run("who has the most", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.opts.MaxSessions = 6 })
		anns, admins := w.initialize(w.key("ann")), w.initialize(w.key("root"))
		for range 6 {
			for _, greedy := range []shoal.EntityID{"mallory", "malvin"} {
				w.initialize(w.key(greedy))
			}
		}
		third := w.initialize(w.key("cleo"))
		for name, id := range map[shoal.EntityID]string{"ann": anns, "root": admins, "cleo": third} {
			if w.delete(w.key(name), id) != 204 {
				t.Errorf("the session of %s ended because of what others opened", name)
			}
		}
	})
	t.Run("idle", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.opts.SessionIdle = 30 * time.Millisecond })
		var streaming string
		w.until("a stream is open before its session has been idle for too long", func() bool {
			streaming = w.initialize(w.key("ann"))
			status, _ := w.get(t.Context(), w.key("ann"), streaming)
			return status == 200
		})
		idle := w.initialize(w.key("ann"))
		w.until("the idle session has ended", func() bool { return mcpapi.Sessions(w.api) == 1 })
		if w.delete(w.key("ann"), idle) != 404 || w.delete(w.key("ann"), streaming) != 204 {
			t.Error("it was not the session without a stream that ended")
		}
	})
}

// A session holds one of the SDK only while a stream or a subscription needs it, and every
// request in it is served as before.
func TestSessionsAtRestHoldNothingOfTheSDK(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	ann := w.key("ann")
	id := w.initialize(ann)
	holds := func(when string, want int) {
		t.Helper()
		w.until(fmt.Sprintf("%s, %d sessions of the SDK", when, want), func() bool { return mcpapi.SDKSessions(w.api) == want })
	}
	ask := func(method string, params map[string]any, want string) {
		t.Helper()
		if status, _, text, err := w.post(t.Context(), ann, rpcMethod(3, method, params), "Mcp-Session-Id", id); err != nil || status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s %v", method, status, text, err)
		}
	}
	holds("initialized", 0)
	ask("tools/list", nil, "send_message")
	ask("ping", nil, `"id":3,"result":{}`)
	holds("after two requests", 0)
	uri := map[string]any{"uri": "shoal://threads/shop"}
	ask("resources/subscribe", uri, `"id":3,"result":{}`)
	holds("subscribed", 1)
	ctx, cut := context.WithCancel(t.Context())
	status, lines := w.get(ctx, ann, id)
	if status != 200 || receive(t, lines) != ": ok" {
		t.Fatalf("GET: %d", status)
	}
	w.say("bob", "shop", "news")
	for !strings.Contains(receive(t, lines), "notifications/resources/updated") {
	}
	ask("resources/unsubscribe", uri, `"id":3,"result":{}`)
	holds("with a stream", 1)
	cut()
	holds("without stream and subscription", 0)
	ask("tools/list", nil, "send_message")
	if status := w.delete(ann, id); status != 204 {
		t.Errorf("DELETE: %d", status)
	}
}

// One principal may have twenty streams open.
func TestStreamsAreBounded(t *testing.T) {
	w := newWorld(t)
	var last string
	for range 20 {
		last = w.initialize(w.key("ann"))
		if status, _ := w.get(t.Context(), w.key("ann"), last); status != 200 {
			t.Fatal(status)
		}
	}
	status, _ := w.get(t.Context(), w.key("ann"), w.initialize(w.key("ann")))
	if status != http.StatusTooManyRequests {
		t.Errorf("the 21st stream: %d, want 429", status)
	}
	if status, _ := w.get(t.Context(), w.key("bob"), w.initialize(w.key("bob"))); status != 200 {
		t.Errorf("bob's first stream: %d, want 200", status)
	}
}

// A stream that is opened anew replaces the one whose client may have lost it.
func TestNewStreamReplacesTheOld(t *testing.T) {
	w := newWorld(t)
	id := w.initialize(w.key("ann"))
	_, old := w.get(t.Context(), w.key("ann"), id)
	receive(t, old)
	status, fresh := w.get(t.Context(), w.key("ann"), id)
	if status != 200 || receive(t, fresh) != ": ok" {
		t.Fatal(status)
	}
	for range old { // it has ended
	}
}

// Open streams say now and then that they are there, and keep their agent
// present.
func TestHeartbeat(t *testing.T) {
	w := newWorld(t, func(w *world) { w.opts.Heartbeat = 5 * time.Millisecond })
	id := w.initialize(w.key("ann"))
	_, lines := w.get(t.Context(), w.key("ann"), id)
	receive(t, lines)
	for range 3 {
		if got := receive(t, lines); got != ": still here" {
			t.Errorf("%q", got)
		}
	}
	before := w.seen("ann")
	w.until("ann was seen again", func() bool { return w.seen("ann").After(before) })
}

func (w *world) seen(id shoal.EntityID) time.Time {
	w.t.Helper()
	e, err := w.hub.Entities.Get(w.t.Context(), adminWho, shoal.DefaultSession, id)
	if err != nil || e.LastSeenAt == nil {
		w.t.Fatal(e, err)
	}
	return e.LastSeenAt.Time
}

// A stream ends soon after its key.
func TestStreamEndsWithItsKey(t *testing.T) {
	w := newWorld(t, func(w *world) { w.opts.Heartbeat = 20 * time.Millisecond })
	key := w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Name: "stolen"})
	_, lines := w.get(t.Context(), key, w.initialize(key))
	old := w.connect(key, "")
	receive(t, lines)
	w.revoke("stolen")
	for range lines { // ends
	}
	for range old.data { // ends
	}
	w.until("nothing is left open", func() bool { return mcpapi.Streams(w.api) == 0 })
}

// A restart breaks no client: what it has in its hands goes on working.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	key := w.key("ann")
	id := w.initialize(key)
	quiet := transport{"session", session, func(w *world, key string) mcp.Transport {
		s := w.streamable(key)
		s.DisableStandaloneSSE = true
		return s
	}}
	agents := []*agent{w.join(quiet, "ann"), w.join(transports[1], "ann")}
	w.restart()
	for _, a := range agents {
		sent := w.say("bob", "shop", "are you there?", "ann")
		got := a.do("wait_for_mentions", inputs{})
		if !strings.Contains(got.Text, string(sent.ID)) {
			t.Errorf("heard %s", got.Text)
		}
		a.do("send_message", inputs{"threadId": "shop", "content": "I am"})
		if n := len(a.tools()); n != len(toolNames) {
			t.Errorf("%d tools", n)
		}
		if _, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "shoal://me"}); err != nil {
			t.Error(err)
		}
	}
	in := []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", session}
	for method, want := range map[string]string{"ping": `"result":{}`, "tools/list": "send_message", "resources/list": "shoal://threads"} {
		status, _, text, err := w.post(t.Context(), key, rpcMethod(9, method, nil), in...)
		if err != nil || status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s %v", method, status, text, err)
		}
	}
	if status, _, text, err := w.post(t.Context(), key, rpcMethod(nil, "notifications/initialized", nil), in...); err != nil || status != 202 {
		t.Errorf("notification: %d %s %v", status, text, err)
	}
	if status, _ := w.get(t.Context(), key, id); status != 404 {
		t.Errorf("GET: %d, want 404, so that the client knows that its subscriptions are gone", status)
	}
	// A client that subscribes again gets notifications in its old session.
	status, _, text, err := w.post(t.Context(), key, rpcMethod(10, "resources/subscribe", map[string]any{"uri": "shoal://threads/shop"}), in...)
	if err != nil || status != 200 || !strings.Contains(text, `"result":{}`) {
		t.Fatalf("subscribe: %d %s %v", status, text, err)
	}
	status, lines := w.get(t.Context(), key, id)
	if status != 200 {
		t.Fatalf("GET after subscribe: %d", status)
	}
	receive(t, lines)
	w.say("bob", "shop", "news")
	wantUpdate(t, lines, "shoal://threads/shop")
}

// wantUpdate waits for one notifications/resources/updated.
func wantUpdate(t testing.TB, lines chan string, uri string) {
	t.Helper()
	for line := range lines {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var m struct {
			Method string
			Params struct{ URI string }
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Method, " ", m.Params.URI); got != "notifications/resources/updated "+uri {
			t.Errorf("%s", data)
		}
		return
	}
	t.Fatal("the stream ended")
}
