package mcpbridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/auth"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/hub"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/mcpapi"
	"github.com/shoal-dev/shoal/internal/mcpbridge"
	"github.com/shoal-dev/shoal/internal/sqlstore"
)

// server is the MCP endpoint as in production, at an address that stays the same across
// restarts.
type server struct {
	t       *testing.T
	path    string
	address string
	store   *sqlstore.Store
	hub     *hub.Hub
	api     *mcpapi.API
	http    *httptest.Server
	key     string // of ann
	admin   shoal.Principal
}

// serve starts a server with ann and bob in the thread shop.
func serve(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, path: filepath.Join(t.TempDir(), "shoal.db"), admin: shoal.Principal{Role: shoal.RoleAdmin, KeyID: "test", EntityID: "bob"}}
	s.start()
	t.Cleanup(s.stop)
	for _, id := range []shoal.EntityID{"ann", "bob"} {
		k, err := auth.New(s.hub, auth.Options{}).CreateKey(t.Context(), s.admin, shoal.NewKey{Role: shoal.RoleEntity, EntityID: id}, "")
		if err != nil {
			t.Fatal(err)
		}
		if id == "ann" {
			s.key = *k.Secret
		}
	}
	if _, err := s.hub.Spaces.Create(t.Context(), s.admin, shoal.DefaultSession, shoal.NewSpace{ID: "shop", Name: "Shop", Members: []shoal.EntityID{"ann"}}, ""); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) start() {
	s.t.Helper()
	var err error
	if s.store, err = sqlstore.Open(s.t.Context(), sqlstore.Options{URL: "sqlite://" + s.path}); err != nil {
		s.t.Fatal(err)
	}
	s.hub = hub.New(hub.Options{Store: s.store, Bus: localbus.New()})
	if err := s.hub.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.api = mcpapi.New(mcpapi.Options{Hub: s.hub, Auth: auth.New(s.hub, auth.Options{}), ProgressEvery: 20 * time.Millisecond})
	g, err := guard.New(guard.Options{MCPPaths: []string{"/mcp"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.http = httptest.NewUnstartedServer(g.Wrap(s.api.Handler()))
	if s.address != "" {
		_ = s.http.Listener.Close()
		if s.http.Listener, err = net.Listen("tcp", s.address); err != nil {
			s.t.Fatal(err)
		}
	}
	s.http.Start()
	s.address = s.http.Listener.Addr().String()
}

func (s *server) stop() {
	if s.http == nil {
		return
	}
	s.hub.Stop()
	s.api.Stop()
	s.http.Close()
	if err := s.store.Close(); err != nil {
		s.t.Error(err)
	}
	s.http = nil
}

// say posts as bob and mentions ann.
func (s *server) say(text string) {
	s.t.Helper()
	draft := shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"ann"}}
	if _, err := s.hub.Messages.Post(s.t.Context(), s.admin, shoal.DefaultSession, "shop", draft, ""); err != nil {
		s.t.Fatal(err)
	}
}

// waiting blocks until ann waits, or no longer does.
func (s *server) waiting(want bool) {
	s.t.Helper()
	limit, tick := time.After(10*time.Second), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for {
		e, err := s.hub.Entities.Get(s.t.Context(), s.admin, shoal.DefaultSession, "ann")
		if err != nil {
			s.t.Fatal(err)
		}
		if (e.State == shoal.Waiting) == want {
			return
		}
		select {
		case <-limit:
			s.t.Fatalf("ann waits: %v, after 10 s", !want)
		case <-tick.C:
		}
	}
}

// client is a program that uses the bridge.
type client struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	done  chan error
}

// bridge connects a client to an address with a key.
func bridge(t *testing.T, address, key string) *client {
	t.Helper()
	return bridgeOver(t, address, key, nil)
}

// bridgeOver is bridge with an HTTP client of the test, unless it is nil.
func bridgeOver(t *testing.T, address, key string, over *http.Client) *client {
	t.Helper()
	in, feed := io.Pipe()
	from, out := io.Pipe()
	c := &client{t: t, in: feed, lines: make(chan string, 1000), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		c.done <- mcpbridge.Run(ctx, mcpbridge.Options{URL: "http://" + address, Key: key, HTTP: over, Stdin: in, Stdout: out})
		_ = out.Close()
	}()
	go func() {
		defer close(c.lines)
		s := bufio.NewScanner(from)
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			c.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = feed.Close()
		for range c.lines { // until the bridge ends
		}
	})
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// next returns the next line, which must be a protocol message.
func (c *client) next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("standard output has ended")
		}
		if !json.Valid([]byte(line)) || !strings.Contains(line, `"jsonrpc":"2.0"`) {
			c.t.Errorf("standard output carries %q", line)
		}
		return line
	case <-time.After(20 * time.Second):
		c.t.Fatal("nothing came within 20 s")
	}
	panic("unreachable")
}

// want checks that the next line contains all texts.
func (c *client) want(has ...string) {
	c.t.Helper()
	line := c.next()
	for _, s := range has {
		if !strings.Contains(line, s) {
			c.t.Errorf("got %s, want %s", line, s)
		}
	}
}

const (
	initialize  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// call is a tools/call; the newer era has more in meta.
func call(id int, tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`, id, tool, arguments, meta)
}

const modern = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

// hello opens a session of the older era.
func (c *client) hello() {
	c.t.Helper()
	c.send(initialize)
	c.want(`"id":"init"`, `"protocolVersion":"2025-11-25"`)
	c.send(initialized)
}

// Messages of a client of either era arrive with the headers that HTTP requires, and responses
// come back as lines in any encoding of the server.
func TestBothErasPass(t *testing.T) {
	s := serve(t)
	t.Run("session", func(t *testing.T) {
		c := bridge(t, s.address, s.key)
		c.hello()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		c.want(`"id":1`, `"name":"send_message"`)
		c.send(call(2, "send_message", `{"threadId":"shop","content":"hello"}`, ""))
		c.want(`"id":2`, "Message sent successfully:")
		c.send(call(3, "no_such_tool", `{}`, ""))
		c.want(`"id":3`, `"code":-32602`)
		c.send(`{"jsonrpc":"2.0","id":4,"method":"no/such/method"}`)
		c.want(`"id":4`, `"error"`)
	})
	t.Run("modern", func(t *testing.T) {
		c := bridge(t, s.address, s.key)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + modern + `}}}`)
		c.want(`"id":1`, `"supportedVersions":["2026-07-28"`)
		c.send(call(2, "send_message", `{"threadId":"shop","content":"hello"}`, modern))
		c.want(`"id":2`, "Message sent successfully:", `"resultType":"complete"`)
		c.send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"shoal://me","_meta":{` + modern + `}}}`)
		c.want(`"id":3`, `\"id\":\"ann\"`)
		c.send(`{"jsonrpc":"2.0","id":4,"method":"no/such/method","params":{"_meta":{` + modern + `}}}`)
		c.want(`"id":4`, `"code":-32601`)
	})
}

// Progress reaches the client while its call is open.
func TestProgressPasses(t *testing.T) {
	for era, meta := range map[string]string{"session": `"progressToken":7`, "modern": `"progressToken":7,` + modern} {
		t.Run(era, func(t *testing.T) {
			// Of its own: the bridge disconnects when it has the response, and the server, which
			// may notice that first, would deliver the message again.
			s := serve(t)
			c := bridge(t, s.address, s.key)
			c.send(call(1, "wait_for_mentions", `{"timeoutMs":600000}`, meta))
			for range 2 {
				c.want(`"method":"notifications/progress"`, `"progressToken":7`)
			}
			s.say("wake up, " + era)
			for {
				line := c.next()
				if strings.Contains(line, "notifications/progress") {
					continue
				}
				if !strings.Contains(line, `"id":1`) || !strings.Contains(line, "wake up, "+era) {
					t.Errorf("got %s", line)
				}
				break
			}
		})
	}
}

// The server's own messages, a feature of the older era, arrive without a call, also after a
// restart.
func TestNotificationsPassAndSurviveARestart(t *testing.T) {
	s := serve(t)
	c := bridge(t, s.address, s.key)
	c.hello()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"shoal://threads/shop"}}`)
	c.want(`"id":1`, `"result"`)
	updated := func() {
		t.Helper()
		// The stream may still be opening, and earlier notifications are lost: a real
		// subscriber reads the resource when the stream is open; the test posts
		// repeatedly.
		for range 200 {
			s.say("news")
			select {
			case line := <-c.lines:
				if !strings.Contains(line, "notifications/resources/updated") || !strings.Contains(line, "shoal://threads/shop") {
					t.Errorf("got %s", line)
				}
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
		t.Fatal("no notification came")
	}
	updated()
	s.stop()
	s.start()
	for len(c.lines) > 0 { // from before the restart
		<-c.lines
	}
	updated()
}

// A cancelled call ends on the server and has no response. Other calls are not affected.
func TestCancelEndsTheCall(t *testing.T) {
	s := serve(t)
	for era, meta := range map[string]string{"session": "", "modern": modern} {
		t.Run(era, func(t *testing.T) {
			c := bridge(t, s.address, s.key)
			if era == "session" {
				c.hello()
			}
			c.send(call(1, "wait_for_mentions", `{"timeoutMs":600000}`, meta))
			s.waiting(true)
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			s.waiting(false)
			c.send(call(2, "list_threads", `{}`, meta))
			c.want(`"id":2`, `"result"`) // and not 1
		})
	}
}

// late answers a call when it is cancelled, as a server may do on a connection that is still
// open.
type late struct{ cancelled chan struct{} }

// RoundTrip implements http.RoundTripper.
func (l late) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	said := `{"jsonrpc":"2.0","id":2,"result":{}}`
	switch {
	case strings.Contains(string(text), "notifications/cancelled"):
		close(l.cancelled)
		return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody, Request: r}, nil
	case strings.Contains(string(text), "wait_for_mentions"):
		<-l.cancelled
		said = `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"the client has cancelled this call"}}`
	case strings.Contains(string(text), "wait_for_messages"):
		<-l.cancelled
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
			Body: io.NopCloser(strings.NewReader("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")),
		}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(said)), Request: r}, nil
}

// The response to a cancelled call is not relayed, even if the server sends one.
func TestCancelledCallsHaveNoAnswer(t *testing.T) {
	for _, tool := range []string{"wait_for_mentions", "wait_for_messages"} {
		l := late{make(chan struct{})}
		c := bridgeOver(t, "127.0.0.1:1", "key", &http.Client{Transport: l})
		c.send(call(1, tool, `{}`, modern), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		<-l.cancelled
		c.send(call(2, "list_threads", `{}`, modern), call(3, "list_threads", `{}`, modern))
		for range 2 {
			c.want(`"id":2`, `"result"`) // and not 1
		}
	}
}

// The end of the input ends open requests and the bridge.
func TestEndOfInputEndsTheBridge(t *testing.T) {
	s := serve(t)
	c := bridge(t, s.address, s.key)
	c.hello()
	c.send(call(1, "wait_for_mentions", `{"timeoutMs":600000}`, ""))
	s.waiting(true)
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	s.waiting(false)
	select {
	case err := <-c.done:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Run has not returned")
	}
}

// An unreachable server leads to an error that says what to do. When it is back, the next call
// works, also in an earlier session.
func TestServerAway(t *testing.T) {
	s := serve(t)
	c := bridge(t, s.address, s.key)
	c.hello()
	c.send(call(1, "list_threads", `{}`, ""))
	c.want(`"id":1`, `"result"`)
	s.stop()
	c.send(call(2, "list_threads", `{}`, ""))
	c.want(`"id":2`, `"error"`, "shoal serve")
	s.start()
	c.send(call(3, "list_threads", `{}`, ""))
	c.want(`"id":3`, `"result"`)
}

// A call that is open when its server stops gets a response.
func TestServerGoesAwayDuringACall(t *testing.T) {
	cut := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": still here\n\n")
		_ = http.NewResponseController(w).Flush()
		<-cut
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	c := bridge(t, s.Listener.Addr().String(), "key")
	c.send(call(1, "wait_for_mentions", `{}`, ""))
	close(cut)
	c.want(`"id":1`, `"error"`)
}

// A refusal by the server is returned under the id of the request, with the server's message.
func TestRefusals(t *testing.T) {
	s := serve(t)
	c := bridge(t, s.address, "shoal_wrong")
	c.send(initialize)
	c.want(`"id":"init"`, `"error"`, "unauthenticated: ")
	c.send(call(1, "list_threads", `{}`, ""))
	c.want(`"id":1`, `"error"`, "unauthenticated: ")
}

// Lines that are not messages get an error, and the bridge continues.
func TestGarbage(t *testing.T) {
	s := serve(t)
	c := bridge(t, s.address, s.key)
	c.send("hello?", "")
	c.want(`"id":null`, `"code":-32700`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"content":"` + strings.Repeat("x", 5<<20) + `"}}}`)
	c.want(`"error"`, "too large")
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","method":"ping","params":{}}`)
	c.want(`"id":2`, "second time")
	c.send(call(3, "list_threads", `{}`, ""))
	c.want(`"id":3`, `"result"`)
}
