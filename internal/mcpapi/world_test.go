package mcpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/detach"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/mcpapi"
	"github.com/shoal-dev/shoal/internal/remoterun"
	"github.com/shoal-dev/shoal/internal/shoaltest"
	"github.com/shoal-dev/shoal/internal/sqlstore"
	"github.com/shoal-dev/shoal/internal/tool"
)

// The eras of the protocol, by a revision of each.
const (
	modern  = "2026-07-28"
	session = "2025-11-25"
)

// world is a server as it runs in production, on a database of its own: the
// store, the hub, the guard and this transport.
type world struct {
	t      testing.TB
	path   string
	opts   mcpapi.Options
	open   bool // without keys
	make   func(mcpapi.Options) *mcpapi.API
	tight  bool // a connection takes little that its other side does not read
	url    string
	hub    *hub.Hub
	auth   *auth.Authenticator
	api    *mcpapi.API
	server *httptest.Server
	pool   *detach.Pool
	remote *remoterun.Server
	held   bool          // waits stay with their handlers
	lease  time.Duration // of runs that are begun over MCP; 0 for the default
	store  *sqlstore.Store
	wrap   func(storage.Store) storage.Store // nil if the hub has the store itself
	keys   map[shoal.EntityID]string
}

// spaceFilter lists all spaces.
var spaceFilter storage.SpaceFilter

var adminWho = shoal.Principal{KeyID: "key_test", Role: shoal.RoleAdmin}

func newWorld(t testing.TB, change ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, path: shoaltest.EmptyDatabase(t), make: mcpapi.New, keys: map[shoal.EntityID]string{}}
	w.opts.Version = "1.2.3"
	for _, c := range change {
		c(w)
	}
	w.start()
	t.Cleanup(w.stop)
	return w
}

// start starts a server process on the world's database.
func (w *world) start() {
	w.t.Helper()
	ctx := w.t.Context()
	var err error
	if w.store, err = sqlstore.Open(ctx, sqlstore.Options{URL: "sqlite://" + w.path}); err != nil {
		w.t.Fatal(err)
	}
	store := storage.Store(w.store)
	if w.wrap != nil {
		store = w.wrap(store)
	}
	w.hub = hub.New(hub.Options{Store: store, Bus: localbus.New(), FitsSchema: tool.CheckValue})
	if err := w.hub.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.auth = auth.New(w.hub, auth.Options{Off: w.open})
	w.pool = detach.New(detach.Options{After: time.Millisecond, Idle: time.Minute})
	w.remote = remoterun.New(remoterun.Options{Hub: w.hub, CallLease: w.lease, FitsSchema: tool.CheckValue})
	w.remote.Start()
	w.opts.Hub, w.opts.Auth, w.opts.Remote = w.hub, w.auth, w.remote
	if !w.held {
		w.opts.Pool = w.pool
	}
	w.api = w.make(w.opts)
	g, err := guard.New(guard.Options{MCPPaths: []string{"/mcp", "/sse"}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.server = httptest.NewUnstartedServer(g.Wrap(w.api.Handler()))
	if w.tight {
		w.server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			if tcp, ok := c.(*net.TCPConn); ok { // otherwise it was detached meanwhile, and has its buffer
				if err := tcp.SetWriteBuffer(4 << 10); err != nil {
					w.t.Error(err)
				}
			}
			return ctx
		}
	}
	if w.url != "" { // a process after the first: clients know no other address
		_ = w.server.Listener.Close()
		w.server.Listener = w.listen()
	}
	w.server.Start()
	go func() { _ = w.server.Config.Serve(w.pool) }() // ends with the server
	w.url = w.server.URL
}

func (w *world) listen() net.Listener {
	l, err := net.Listen("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// stop ends the server process as the application does.
func (w *world) stop() {
	if w.server == nil {
		return
	}
	w.remote.Stop()
	w.hub.Stop()
	w.api.Stop()
	_ = w.pool.Close() // never fails
	w.server.Close()
	w.pool.Stop(context.Background())
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
	w.server = nil
}

// restart is a new process on the same database under the same address.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

// key returns a key of an agent, which is created if it is new.
func (w *world) key(id shoal.EntityID) string {
	w.t.Helper()
	if k, ok := w.keys[id]; ok {
		return k
	}
	w.keys[id] = w.mint(shoal.NewKey{Role: shoal.RoleEntity, EntityID: id})
	return w.keys[id]
}

func (w *world) mint(n shoal.NewKey) string {
	w.t.Helper()
	k, err := w.auth.CreateKey(w.t.Context(), adminWho, n, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return *k.Secret
}

// space creates a thread with this id and these members.
func (w *world) space(id shoal.SpaceID, members ...shoal.EntityID) {
	w.t.Helper()
	for _, m := range members {
		w.key(m)
	}
	if _, err := w.hub.Spaces.Create(w.t.Context(), adminWho, shoal.DefaultSession, shoal.NewSpace{ID: id, Name: string(id), Members: members}, ""); err != nil {
		w.t.Fatal(err)
	}
}

// say posts through the hub, not over MCP.
func (w *world) say(by shoal.EntityID, in shoal.SpaceID, text string, mentions ...shoal.EntityID) shoal.Message {
	w.t.Helper()
	caller := adminWho
	caller.EntityID = by
	m, err := w.hub.Messages.Post(context.WithoutCancel(w.t.Context()), caller, shoal.DefaultSession, in, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: mentions}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// waiting blocks until an entity waits, or no longer does.
func (w *world) waiting(id shoal.EntityID, want bool) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s waits: %v", id, want), func() bool {
		e, err := w.hub.Entities.Get(w.t.Context(), adminWho, shoal.DefaultSession, id)
		if err != nil {
			w.t.Fatal(err)
		}
		return (e.State == shoal.Waiting) == want
	})
}

// waitingFor blocks until an entity has a wait open that ends in about so many
// minutes. That wait has acknowledged what it may, and misses nothing any more.
func (w *world) waitingFor(id shoal.EntityID, minutes int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s waits for %d minutes", id, minutes), func() bool {
		e, err := w.hub.Entities.Get(w.t.Context(), adminWho, shoal.DefaultSession, id)
		if err != nil {
			w.t.Fatal(err)
		}
		return e.WaitEndsAt != nil && time.Until(e.WaitEndsAt.Time) > time.Duration(minutes)*time.Minute-30*time.Second
	})
}

// receive takes the next value of a channel, which must come soon.
func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came within 20 s")
	}
	panic("unreachable")
}

// until polls until ok returns true, for conditions that have no event.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	limit := time.After(10 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-limit:
			w.t.Fatalf("did not happen within 10 s: %s", what)
		case <-tick.C:
		}
	}
}

// transport says how an agent of a test is connected.
type transport struct {
	name    string
	version string
	connect func(*world, string) mcp.Transport
}

// transports are all ways to the tools. Over "session" and "modern" a call is
// answered without the SDK, over the others through it.
var transports = []transport{
	{"session", session, func(w *world, key string) mcp.Transport { return w.streamable(key) }},
	{"modern", modern, func(w *world, key string) mcp.Transport { return w.streamable(key) }},
	{"sse", session, func(w *world, key string) mcp.Transport {
		return &mcp.SSEClientTransport{Endpoint: w.url + "/sse", HTTPClient: withKey(key)}
	}},
	{"memory", session, nil},
}

func (w *world) streamable(key string) *mcp.StreamableClientTransport {
	return &mcp.StreamableClientTransport{Endpoint: w.url + "/mcp", HTTPClient: withKey(key)}
}

// agent is a connected client on the official SDK.
type agent struct {
	*mcp.ClientSession
	t       testing.TB
	id      shoal.EntityID
	version string
}

// join connects an agent.
func (w *world) join(by transport, id shoal.EntityID, options ...*mcp.ClientOptions) *agent {
	w.t.Helper()
	var o *mcp.ClientOptions
	if len(options) > 0 {
		o = options[0]
	}
	client := mcp.NewClient(&mcp.Implementation{Name: string(id), Version: "1"}, o)
	var to mcp.Transport
	if by.connect != nil {
		to = by.connect(w, w.key(id))
	} else {
		w.key(id)
		var server *mcp.InMemoryTransport
		server, memory := mcp.NewInMemoryTransports()
		caller := shoal.Principal{KeyID: shoal.KeyID("memory_" + id), Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id}
		if _, err := mcpapi.Server(w.api, caller, shoal.DefaultSession).Connect(w.t.Context(), server, nil); err != nil {
			w.t.Fatal(err)
		}
		to = memory
	}
	s, err := client.Connect(w.t.Context(), to, &mcp.ClientSessionOptions{ProtocolVersion: by.version})
	if err != nil {
		w.t.Fatalf("%s over %s: %v", id, by.name, err)
	}
	w.t.Cleanup(func() { s.Close() })
	return &agent{s, w.t, id, by.version}
}

// answer is the result of a call.
type answer struct {
	Text       string // all texts, a line each
	First      string
	Structured json.RawMessage
	IsError    bool
}

// into decodes what is structured.
func (a answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.Structured, v); err != nil {
		t.Fatalf("structured content %s: %v", a.Structured, err)
	}
}

type inputs map[string]any

// call calls a tool, which may fail.
func (a *agent) call(tool string, in inputs) answer {
	a.t.Helper()
	out, err := a.try(a.t.Context(), tool, in)
	if err != nil {
		a.t.Fatalf("%s %s %v: %v", a.id, tool, in, err)
	}
	return out
}

// do calls a tool, which must not fail.
func (a *agent) do(tool string, in inputs) answer {
	a.t.Helper()
	out := a.call(tool, in)
	if out.IsError {
		a.t.Fatalf("%s %s %v: %s", a.id, tool, in, out.Text)
	}
	return out
}

func (a *agent) try(ctx context.Context, tool string, in inputs) (answer, error) {
	res, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return answer{}, err
	}
	return answerOf(res)
}

func answerOf(res *mcp.CallToolResult) (answer, error) {
	out := answer{IsError: res.IsError}
	var texts []string
	for _, c := range res.Content {
		texts = append(texts, c.(*mcp.TextContent).Text)
	}
	out.First, out.Text = texts[0], strings.Join(texts, "\n")
	if res.StructuredContent == nil {
		return out, nil
	}
	var err error
	out.Structured, err = json.Marshal(res.StructuredContent)
	return out, err
}

// withKey returns a client that sends a key with every request.
func withKey(key string) *http.Client {
	return &http.Client{Transport: keyed{key, &http.Transport{}}}
}

type keyed struct {
	key  string
	next http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if k.key != "" {
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	return k.next.RoundTrip(r)
}

// post sends a body to /mcp as it is and returns the answer whole.
func (w *world) post(ctx context.Context, key, body string, header ...string) (status int, h http.Header, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		if r.Header.Del(header[i]); header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	res, err := withKey(key).Do(r)
	if err != nil {
		return 0, nil, "", err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header, string(all), err
}

// rpc is the body of a tools/call in the older era.
func rpc(id any, tool string, in inputs) string {
	return rpcMethod(id, "tools/call", map[string]any{"name": tool, "arguments": in})
}

func rpcMethod(id any, method string, params map[string]any) string {
	m := map[string]any{"jsonrpc": "2.0", "method": method}
	if id != nil {
		m["id"] = id
	}
	if params != nil {
		m["params"] = params
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// modernRPC is the body of a tools/call in the newer era, and its headers.
func modernRPC(id any, tool string, in inputs) (body string, header []string) {
	meta := map[string]any{
		mcp.MetaKeyProtocolVersion: modern, mcp.MetaKeyClientCapabilities: map[string]any{},
		mcp.MetaKeyClientInfo: map[string]any{"name": "test", "version": "1"},
	}
	body = rpcMethod(id, "tools/call", map[string]any{"name": tool, "arguments": in, "_meta": meta})
	return body, []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", tool}
}
