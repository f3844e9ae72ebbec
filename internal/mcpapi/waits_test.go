package mcpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi"
)

// heard lists what a wait brought, as id*delivery.
func heard(t testing.TB, a answer) []string {
	t.Helper()
	var r shoal.WaitResult
	a.into(t, &r)
	out := []string{}
	for _, item := range r.Items {
		for _, m := range item.Messages {
			out = append(out, fmt.Sprintf("%s*%d", m.ID, m.Delivery))
		}
	}
	return out
}

func times(n int, ids ...shoal.Message) (out []string) {
	for _, m := range ids {
		out = append(out, fmt.Sprintf("%s*%d", m.ID, n))
	}
	return out
}

func wantHeard(t testing.TB, a answer, want ...[]string) {
	t.Helper()
	if got, want := heard(t, a), slices.Concat(want...); !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// A caller in the seed's shape acknowledges by waiting again, what it got over a
// transport that knows whether it got it.
func TestWaitingAgainAcknowledges(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			ann := w.join(by, "ann")
			one := w.say("bob", "shop", "one", "ann")
			wantHeard(t, ann.do("wait_for_mentions", inputs{}), times(1, one))
			wantHeard(t, ann.do("wait_for_mentions", inputs{"redeliver": true}), times(2, one))
			two := w.say("bob", "shop", "two", "ann")
			if by.name == "memory" {
				// Nobody knows whether the answer arrived, so it comes again.
				wantHeard(t, ann.do("wait_for_mentions", inputs{}), times(3, one), times(1, two))
				return
			}
			wantHeard(t, ann.do("wait_for_mentions", inputs{}), times(1, two))
			wantHeard(t, ann.do("wait_for_messages", inputs{"timeoutMs": 0}), nil)
		})
	}
}

// A caller that passes a cursor acknowledges exactly what came with it, and
// nothing else from then on.
func TestAckAcknowledges(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			ann := w.join(by, "ann")
			one := w.say("bob", "shop", "one", "ann")
			first := ann.do("wait_for_mentions", inputs{})
			wantHeard(t, first, times(1, one))
			var r shoal.WaitResult
			first.into(t, &r)
			two := w.say("bob", "shop", "two", "ann")
			wantHeard(t, ann.do("wait_for_mentions", inputs{"ack": *r.Cursor}), times(1, two))
			wantHeard(t, ann.do("wait_for_mentions", inputs{}), times(2, two))
			wantHeard(t, ann.do("wait_for_mentions", inputs{"ack": *r.Cursor}), times(3, two))
		})
	}
}

type rawWait struct {
	name string
	post func(id int, in inputs) (body string, header []string)
}

// rawWaits are ways to wait over a connection that a test can cut.
var rawWaits = []rawWait{
	{"session", func(id int, in inputs) (string, []string) { return rpc(id, "wait_for_mentions", in), nil }},
	{"modern", func(id int, in inputs) (string, []string) { return modernRPC(id, "wait_for_mentions", in) }},
	{"session with progress", func(id int, in inputs) (string, []string) {
		return rpcMethod(id, "tools/call", map[string]any{"name": "wait_for_mentions", "arguments": in, "_meta": map[string]any{"progressToken": "p"}}), nil
	}},
	{"batch", func(id int, in inputs) (string, []string) {
		return "[" + rpc(id, "wait_for_mentions", in) + "]", []string{"Mcp-Protocol-Version", "2025-03-26"}
	}},
}

// A wait ends with the request that would carry its answer, and takes nothing
// with it.
func TestCutConnectionEndsTheWait(t *testing.T) {
	for _, how := range rawWaits {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			ctx, cut := context.WithCancel(t.Context())
			body, header := how.post(1, inputs{"timeoutMs": 600000})
			done := make(chan error, 1)
			go func() {
				_, _, _, err := w.post(ctx, w.key("ann"), body, header...)
				done <- err
			}()
			w.waiting("ann", true)
			cut()
			if err := receive(t, done); err == nil {
				t.Error("the request that was cut was answered")
			}
			w.waiting("ann", false)
			one := w.say("bob", "shop", "one", "ann")
			wantHeard(t, w.join(transports[0], "ann").do("wait_for_mentions", inputs{}), times(1, one))
			w.until("nothing is left open", func() bool { return mcpapi.OpenWaits(w.api) == 0 && mcpapi.Carriers(w.api) == 0 })
		})
	}
}

// A response that was not written completely does not count as delivered: the next wait
// returns the batch again.
func TestAnswerThatIsCutOffIsDeliveredAgain(t *testing.T) {
	for _, how := range rawWaits[:3] {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t, func(w *world) { w.tight = true })
			w.space("shop", "ann", "bob")
			var sent []shoal.Message
			for range 3 { // twice this, as text and as JSON, does not fit between two such sockets
				sent = append(sent, w.say("bob", "shop", strings.Repeat("x", 250<<10), "ann"))
			}
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
				t.Fatal(err)
			}
			body, header := how.post(1, inputs{})
			request := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: %d\r\n", w.key("ann"), len(body))
			for i := 0; i < len(header); i += 2 {
				request += header[i] + ": " + header[i+1] + "\r\n"
			}
			if _, err := io.WriteString(conn, request+"\r\n"+body); err != nil {
				t.Fatal(err)
			}
			var head strings.Builder
			for part := make([]byte, 100); !strings.Contains(head.String(), `"jsonrpc"`); {
				n, err := conn.Read(part)
				if err != nil {
					t.Fatalf("%v after %s", err, head.String())
				}
				head.Write(part[:n])
			}
			conn.Close() // the rest was never read
			w.until("the handler has ended", func() bool { return mcpapi.OpenWaits(w.api) == 0 })
			wantHeard(t, w.join(transports[0], "ann").do("wait_for_mentions", inputs{}), times(2, sent...))
		})
	}
}

func TestProgressKeepsAWaitAlive(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t, func(w *world) { w.opts.ProgressEvery = 10 * time.Millisecond })
			w.space("shop", "ann", "bob")
			progress := make(chan *mcp.ProgressNotificationParams, 1000)
			ann := w.join(by, "ann", &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params },
			})
			done := make(chan answer, 1)
			go func() {
				p := &mcp.CallToolParams{Name: "wait_for_mentions", Arguments: inputs{"timeoutMs": 600000}}
				p.SetProgressToken("token-1")
				res, err := ann.CallTool(t.Context(), p)
				if err != nil {
					t.Error(err)
					close(done)
					return
				}
				a, _ := answerOf(res)
				done <- a
			}()
			last := 0.0
			for range 3 {
				p := receive(t, progress)
				if p.ProgressToken != "token-1" || p.Progress <= last {
					t.Errorf("progress %v after %v", p, last)
				}
				last = p.Progress
			}
			one := w.say("bob", "shop", "one", "ann")
			wantHeard(t, receive(t, done), times(1, one))
			if by.name != "memory" {
				wantHeard(t, ann.do("wait_for_mentions", inputs{"timeoutMs": 0}), nil)
			}
		})
	}
}

// On the wire such a wait is a stream from the beginning: its headers leave at
// once, then progress, then the answer.
func TestProgressOnTheWire(t *testing.T) {
	w := newWorld(t, func(w *world) { w.opts.ProgressEvery = 5 * time.Millisecond })
	w.space("shop", "ann", "bob")
	for _, token := range []string{`"p"`, `7`} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_mentions","arguments":{"timeoutMs":100},"_meta":{"progressToken":` + token + `}}}`
		status, h, text, err := w.post(t.Context(), w.key("ann"), body)
		if err != nil || status != 200 || h.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%d %v %v", status, h, err)
		}
		events := eventsOf(text)
		if len(events) < 3 {
			t.Fatalf("%d events: %s", len(events), text)
		}
		for _, e := range events[:len(events)-1] {
			if !strings.HasPrefix(e, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+token+`,"progress":0.`) {
				t.Errorf("event %s", e)
			}
		}
		if last := events[len(events)-1]; !strings.Contains(last, `"id":1,"result":{"content":[{"type":"text","text":"No new messages`) {
			t.Errorf("the last event is %s", last)
		}
	}
	// A call that cannot last is answered as JSON whatever it sent.
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agents","_meta":{"progressToken":1}}}`
	if _, h, text, err := w.post(t.Context(), w.key("ann"), body); err != nil || h.Get("Content-Type") != "application/json" || h.Get("Content-Length") != fmt.Sprint(len(text)) {
		t.Errorf("%v %v", h, err)
	}
}

// eventsOf returns the data of server-sent events.
func eventsOf(text string) (data []string) {
	for line := range strings.Lines(text) {
		if d, ok := strings.CutPrefix(line, "data: "); ok {
			data = append(data, strings.TrimSuffix(d, "\n"))
		}
	}
	return data
}

func TestClientCancelsAWait(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			ann := w.join(by, "ann")
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := ann.try(ctx, "wait_for_mentions", inputs{"timeoutMs": 600000})
				done <- err
			}()
			w.waiting("ann", true)
			cancel()
			if err := receive(t, done); err == nil {
				t.Error("the cancelled call succeeded")
			}
			w.waiting("ann", false)
			one := w.say("bob", "shop", "one", "ann")
			wantHeard(t, ann.do("wait_for_mentions", inputs{}), times(1, one))
		})
	}
}

// notifications/cancelled ends the wait of that id: of the same caller, in the
// same session, and without a session only if it is clear which is meant.
func TestCancelledNotification(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	type reply struct {
		status int
		text   string
	}
	minutes := 0
	wait := func(key string, id any, header ...string) chan reply {
		out := make(chan reply, 1)
		minutes++
		body := rpc(id, "wait_for_mentions", inputs{"timeoutMs": minutes * 60000})
		go func() {
			status, _, text, err := w.post(t.Context(), key, body, header...)
			if err != nil {
				text = err.Error()
			}
			out <- reply{status, text}
		}()
		w.waitingFor("ann", minutes)
		return out
	}
	cancel := func(key string, id any, header ...string) {
		t.Helper()
		status, _, text, err := w.post(t.Context(), key, rpcMethod(nil, "notifications/cancelled", map[string]any{"requestId": id}), header...)
		if err != nil || status != http.StatusAccepted || text != "" {
			t.Fatalf("%d %q %v", status, text, err)
		}
	}
	ann, bob, inA, inB := w.key("ann"), w.key("bob"), []string{"Mcp-Session-Id", "a"}, []string{"Mcp-Session-Id", "b"}

	one := wait(ann, 1, inA...)
	cancel(bob, 1, inA...)   // another caller
	cancel(ann, 1, inB...)   // another session
	cancel(ann, 1)           // no session
	cancel(ann, "1", inA...) // another id: a string is not a number
	if n := mcpapi.OpenWaits(w.api); n != 1 {
		t.Fatalf("%d waits are open, want 1", n)
	}
	cancel(ann, 1, inA...)
	if got := receive(t, one); got.status != 200 || !strings.Contains(got.text, `"id":1,"error":{"code":0,`) {
		t.Errorf("the cancelled wait answered %d %s", got.status, got.text)
	}

	// Two clients of ann without a session both call it "x": neither is meant.
	two, three := wait(ann, "x"), wait(ann, "x")
	cancel(ann, "x")
	if n := mcpapi.OpenWaits(w.api); n != 2 {
		t.Fatalf("%d waits are open, want 2", n)
	}
	sent := w.say("bob", "shop", "both wake", "ann")
	for _, c := range []chan reply{two, three} {
		if got := receive(t, c); !strings.Contains(got.text, string(sent.ID)) {
			t.Errorf("%d %s", got.status, got.text)
		}
	}

	// In a session an id can be open once.
	four := wait(ann, 4, inA...)
	status, _, text, err := w.post(t.Context(), ann, rpc(4, "wait_for_mentions", nil), inA...)
	if err != nil || status != 400 || !strings.Contains(text, `"code":-32600,"message":"duplicate in-flight request ID 4"`) {
		t.Errorf("%d %s %v", status, text, err)
	}
	cancel(ann, 4, inA...)
	receive(t, four)
}

// When the server stops, waits are answered as timed out, over every transport.
func TestStopAnswersWaits(t *testing.T) {
	const says = `"text":"No new messages received within the timeout period"`
	stop := func(t *testing.T, how rawWait, inSession bool) {
		w := newWorld(t)
		key := w.key("ann")
		body, header := how.post(1, inputs{"timeoutMs": 600000})
		if inSession {
			header = append(header, "Mcp-Session-Id", w.initialize(key))
		}
		done := make(chan string, 1)
		go func() {
			_, _, text, err := w.post(context.WithoutCancel(t.Context()), key, body, header...)
			done <- fmt.Sprint(text, err)
		}()
		w.waiting("ann", true)
		w.stop()
		if got := receive(t, done); !strings.Contains(got, says) {
			t.Errorf("the wait was answered %s", got)
		}
	}
	for _, how := range rawWaits {
		t.Run(how.name, func(t *testing.T) { stop(t, how, false) })
		t.Run(how.name+", its session open", func(t *testing.T) { stop(t, how, true) })
	}
	t.Run("sse", func(t *testing.T) {
		w := newWorld(t)
		var open []*sse
		for i := range 10 {
			id := shoal.EntityID(fmt.Sprint("agent-", i))
			c := w.connect(w.key(id), "")
			c.send(w.key(id), hello("2024-11-05"))
			receive(t, c.data)
			c.send(w.key(id), rpc(2, "wait_for_mentions", inputs{"timeoutMs": 600000}))
			w.waiting(id, true)
			open = append(open, c)
		}
		w.stop()
		for _, c := range open {
			if got := receive(t, c.data); !strings.Contains(got, says) {
				t.Errorf("the wait was answered %q", got)
			}
		}
	})
}

// A key that is revoked while its wait is open brings nothing any more.
func TestRevokedKeyHearsNothing(t *testing.T) {
	for _, how := range rawWaits {
		t.Run(how.name, func(t *testing.T) {
			w := newWorld(t)
			w.space("shop", "ann", "bob")
			stolen := w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: "ann", Name: "stolen"})
			body, header := how.post(1, inputs{"timeoutMs": 600000})
			done := make(chan string, 1)
			go func() {
				status, _, text, err := w.post(t.Context(), stolen, body, header...)
				done <- fmt.Sprintln(status, text, err)
			}()
			w.waiting("ann", true)
			w.revoke("stolen")
			one := w.say("bob", "shop", "one", "ann")
			if got := receive(t, done); strings.Contains(got, string(one.ID)) || !strings.Contains(got, "unauthenticated: ") {
				t.Errorf("the revoked key got %s", got)
			}
			wantHeard(t, w.join(transports[0], "ann").do("wait_for_mentions", inputs{}), times(1, one))
		})
	}
}

// revoke revokes the key of that name.
func (w *world) revoke(name string) {
	w.t.Helper()
	keys, err := w.hub.Keys.List(w.t.Context(), adminWho, "", 100)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, k := range keys {
		if k.Name == name {
			if err := w.hub.Keys.Revoke(w.t.Context(), adminWho, k.ID); err != nil {
				w.t.Fatal(err)
			}
			return
		}
	}
	w.t.Fatalf("no key %q", name)
}

// sse is a connection of the older transport.
type sse struct {
	w        *world
	endpoint string
	data     chan string
	cut      func()
}

func (w *world) connect(key, query string) *sse {
	w.t.Helper()
	ctx, cut := context.WithCancel(context.WithoutCancel(w.t.Context()))
	w.t.Cleanup(cut)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/sse"+query, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := withKey(key).Do(r) //nolint:bodyclose // it is closed in the goroutine that reads it
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("%v %v", res, err)
	}
	out := &sse{w: w, data: make(chan string, 10), cut: cut}
	go func() {
		defer res.Body.Close()
		defer close(out.data)
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			if d, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				out.data <- d
			}
		}
	}()
	out.endpoint = receive(w.t, out.data)
	return out
}

func (c *sse) send(key, body string) int {
	c.w.t.Helper()
	r, err := http.NewRequestWithContext(c.w.t.Context(), http.MethodPost, c.w.url+c.endpoint, strings.NewReader(body))
	if err != nil {
		c.w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := withKey(key).Do(r)
	if err != nil {
		c.w.t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// The older transport: its waits hold no POST, end with its stream, and two
// connections of one agent are two sessions.
func TestSSE(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	ann := w.key("ann")
	one, two := w.connect(ann, "?agent=ann&x=y"), w.connect(ann, "")
	if !strings.HasPrefix(one.endpoint, "/sse?agent=ann&sessionid=") || one.endpoint == two.endpoint {
		t.Errorf("endpoints %q and %q", one.endpoint, two.endpoint)
	}
	for i, c := range []*sse{one, two} {
		if status := c.send(ann, hello("2024-11-05")); status != http.StatusAccepted {
			t.Fatalf("initialize: %d", status)
		}
		if got := receive(t, c.data); !strings.Contains(got, `"protocolVersion":"2024-11-05"`) {
			t.Errorf("initialize: %s", got)
		}
		minutes := 5 * (i + 1)
		if status := c.send(ann, rpc(2, "wait_for_mentions", inputs{"timeoutMs": minutes * 60000})); status != http.StatusAccepted {
			t.Fatalf("a wait holds the POST: %d", status)
		}
		w.waitingFor("ann", minutes)
	}
	if status := one.send(w.key("bob"), rpc(3, "list_agents", nil)); status != http.StatusNotFound {
		t.Errorf("bob may post to ann's session: %d", status)
	}
	m := w.say("bob", "shop", "both", "ann")
	for _, c := range []*sse{one, two} {
		if got := receive(t, c.data); !strings.Contains(got, string(m.ID)) {
			t.Errorf("heard %s", got)
		}
	}
	one.send(ann, rpc(4, "wait_for_mentions", inputs{"timeoutMs": 600000}))
	w.waiting("ann", true)
	one.cut()
	w.waiting("ann", false)
	if status := two.send(ann, rpcMethod(5, "ping", nil)); status != http.StatusAccepted || !strings.Contains(receive(t, two.data), `"id":5`) {
		t.Errorf("the other connection has ended, too: %d", status)
	}
	for i := range 4 {
		two.send(ann, rpc(10+i, "wait_for_messages", inputs{"timeoutMs": 600000}))
	}
	w.waiting("ann", true)
	two.cut()
	w.until("nothing is left open", func() bool { return mcpapi.Streams(w.api) == 0 && mcpapi.Carriers(w.api) == 0 })
	if status := one.send(ann, hello("2024-11-05")); status != http.StatusNotFound {
		t.Errorf("a session that is over takes messages: %d", status)
	}
}

// A wait does not keep the body of its request in memory.
func TestWaitHoldsNothingOfItsBody(t *testing.T) {
	w := newWorld(t)
	large := strings.Repeat("x", 3<<20)
	used := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc >> 20)
	}
	before := used()
	for i := range 8 {
		id := shoal.EntityID(fmt.Sprint("agent-", i))
		key := w.key(id)
		body := rpcMethod(1, "tools/call", map[string]any{"name": "wait_for_mentions", "arguments": inputs{"timeoutMs": 600000}, "_meta": map[string]any{"x": large}})
		conn := dial(t, w.url, key, "")
		conn.send(body)
		w.waiting(id, true)
	}
	if grown := used() - before; grown > 8 {
		t.Errorf("8 waits with requests of 3 MiB hold %d MiB", grown)
	}
}

// All of a batch of the oldest revisions is answered at once, each call by its
// id.
func TestBatch(t *testing.T) {
	w := newWorld(t)
	w.space("shop", "ann", "bob")
	status, _, text, err := w.post(t.Context(), w.key("ann"), "["+rpc(1, "list_agents", nil)+","+rpc("b", "list_threads", nil)+"]")
	if err != nil || status != 200 {
		t.Fatal(status, err)
	}
	var ids []any
	for _, data := range eventsOf(text) {
		var m struct{ ID any }
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	if len(ids) != 2 || !slices.Contains(ids, any(1.0)) || !slices.Contains(ids, any("b")) {
		t.Errorf("ids %v in %s", ids, text)
	}
}
