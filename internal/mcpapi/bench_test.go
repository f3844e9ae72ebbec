package mcpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
	"github.com/shoal-dev/shoal/internal/limit"
	"github.com/shoal-dev/shoal/internal/mcpapi"
)

// The cost of a call answered without the SDK, compared with the same call through it, over the same store, guard and authentication. Each iteration is
// one HTTP request on a connection that is reused; cpu-µs/op is the CPU time of the
// process, including the client.

// line is a kept connection that sends one request again and again.
type line struct {
	t      testing.TB
	conn   net.Conn
	in     *bufio.Reader
	header string
}

func dial(t testing.TB, url, key, session string) *line {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	header := "POST /mcp HTTP/1.1\r\nHost: " + address + "\r\nAuthorization: Bearer " + key +
		"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-11-25\r\n"
	if session != "" {
		header += "Mcp-Session-Id: " + session + "\r\n"
	}
	return &line{t, conn, bufio.NewReader(conn), header}
}

func (l *line) send(body string) {
	if _, err := fmt.Fprintf(l.conn, "%sContent-Length: %d\r\n\r\n%s", l.header, len(body), body); err != nil {
		l.t.Fatal(err)
	}
}

func (l *line) receive() (string, http.Header) {
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted {
		l.t.Fatal(res.StatusCode, string(all), err)
	}
	return string(all), res.Header
}

// paths are the two ways to the same tools.
var paths = []struct {
	name string
	line func(*world, testing.TB, shoal.EntityID) *line
}{
	{"direct", func(w *world, t testing.TB, id shoal.EntityID) *line { return dial(t, w.url, w.key(id), "") }},
	{"sdk", func(w *world, t testing.TB, id shoal.EntityID) *line {
		// The SDK's own handler, with the same guard and the same check of the
		// key.
		caller := shoal.Principal{KeyID: shoal.KeyID("sdk_" + id), Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: id}
		w.key(id)
		sdk := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return mcpapi.Server(w.api, caller, shoal.DefaultSession) },
			&mcp.StreamableHTTPOptions{JSONResponse: true})
		g, err := guard.New(guard.Options{MCPPaths: []string{"/mcp"}})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(g.Wrap(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if _, _, err := w.auth.MCP(r); err != nil {
				guard.WriteRPCError(rw, err)
				return
			}
			sdk.ServeHTTP(rw, r)
		})))
		t.Cleanup(server.Close)
		l := dial(t, server.URL, w.key(id), "")
		l.send(hello(session))
		_, h := l.receive()
		return dial(t, server.URL, w.key(id), h.Get("Mcp-Session-Id"))
	}},
}

// unlimited lets one key call without end.
func unlimited(w *world) { w.opts.Limits = limit.NewPrincipals(limit.Bounds{}, nil) }

func BenchmarkCall(b *testing.B) {
	for _, c := range []struct {
		name string
		in   inputs
	}{
		{"send_message", inputs{"threadId": "shop", "content": "What were the final Q4 sales figures?", "mentions": []string{"bob"}}},
		{"register_agent", inputs{}}, // reads one row: what is left is the protocol
	} {
		for _, path := range paths {
			b.Run(c.name+"/"+path.name, func(b *testing.B) {
				w := newWorld(b, unlimited)
				w.space("shop", "ann", "bob")
				l := path.line(w, b, "ann")
				body := rpc(1, c.name, c.in)
				b.ReportAllocs()
				measure(b, func() {
					l.send(body)
					l.receive()
				})
			})
		}
	}
}

// BenchmarkWake is the time from a post to the end of a wait that it wakes.
func BenchmarkWake(b *testing.B) {
	for _, path := range paths {
		b.Run(path.name, func(b *testing.B) {
			w := newWorld(b, unlimited)
			w.space("shop", "ann", "bob")
			ann, bob := path.line(w, b, "ann"), path.line(w, b, "bob")
			wait, send := rpc(1, "wait_for_mentions", inputs{"timeoutMs": 600000}), rpc(2, "send_message", inputs{"threadId": "shop", "content": "wake up", "mentions": []string{"ann"}})
			var slept time.Duration
			measure(b, func() {
				ann.send(wait)
				w.waiting("ann", true)
				began := time.Now()
				bob.send(send)
				text, _ := ann.receive()
				slept += time.Since(began)
				bob.receive()
				// Acknowledge, so that the next wait waits.
				ann.send(rpc(1, "wait_for_mentions", inputs{"timeoutMs": 0, "ack": cursorOf(b, text)}))
				ann.receive()
			})
			b.ReportMetric(float64(slept.Microseconds())/float64(b.N), "wake-µs/op")
		})
	}
}

func cursorOf(b *testing.B, text string) string {
	_, rest, found := strings.Cut(text, `"cursor":"`)
	cursor, _, ended := strings.Cut(rest, `"`)
	if !found || !ended {
		b.Fatal(text)
	}
	return cursor
}

func measure(b *testing.B, do func()) {
	b.Helper()
	before := used(b)
	for b.Loop() {
		do()
	}
	b.ReportMetric(float64((used(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// used is the processor time of this process.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
