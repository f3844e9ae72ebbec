package app_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

const page = "https://page.example"

// A page of an allowed origin calls every interface of a running server with a key in
// Authorization: its browser gets an answer to the preflight and may show the page
// what comes. Pages of other origins, and servers without the option, get nothing.
func TestPagesOfAllowedOrigins(t *testing.T) {
	open, key := apptest.Run(t, app.Config{AllowOrigins: []string{page}})
	closed, _ := apptest.Run(t, app.Config{})
	const (
		sessions  = "/v1/sessions/default"
		waits     = sessions + "/entities/" + string(shoal.Operator) + "/wait"
		agui      = "/agui/default/" + string(app.Welcome)
		initial   = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}}`
		emptyRun  = `{"threadId": "t", "runId": "r", "state": {}, "messages": [], "tools": [], "context": [], "forwardedProps": {}}`
		emptyWait = `{"kind": "messages", "timeoutMs": 5}`
	)
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		first                    string // what the answer begins with
	}{
		{"REST", "GET", sessions + "/spaces", "", 200, "{"},
		{"a wait, whose connection is detached", "POST", waits, emptyWait, 200, "{"},
		{"an event stream", "GET", sessions + "/events", "", 200, ""},
		{"MCP", "POST", "/mcp", initial, 200, ""},
		{"AG-UI", "POST", agui, emptyRun, 200, ""},
		{"OpenAI's API", "GET", "/openai/v1/models", "", 200, "{"},
		{"the AI SDK", "GET", "/ai-sdk/default/" + string(app.Welcome), "", 200, "["},
		{"a resumed chat of the AI SDK", "GET", "/ai-sdk/default/" + string(app.Welcome) + "/chat/stream", "", 204, ""},
		{"an unknown path", "GET", "/v1/nothing", "", 404, "{"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := func(server *app.Server, method, origin string, headers ...string) (status int, header http.Header, line string) {
				t.Helper()
				body := tt.body
				if method == http.MethodOptions {
					body = ""
				}
				req, err := http.NewRequestWithContext(t.Context(), method, server.URL()+tt.path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Origin", origin)
				req.Header.Set("Sec-Fetch-Site", "cross-site")
				for i := 0; i < len(headers); i += 2 {
					req.Header.Set(headers[i], headers[i+1])
				}
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()                                 // a stream ends with it
				line, err = bufio.NewReader(res.Body).ReadString('\n') // a document has one line, or none
				if err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				return res.StatusCode, res.Header, line
			}
			ask := []string{"Access-Control-Request-Method", tt.method, "Access-Control-Request-Headers", "authorization,content-type,last-event-id,mcp-session-id"}
			full := []string{
				"Authorization", "Bearer " + key, "X-Shoal-Entity", string(shoal.Operator), "Content-Type", "application/json",
				"Accept", "application/json, text/event-stream",
			}

			status, header, _ := call(open, http.MethodOptions, page, ask...)
			for _, name := range []string{"Authorization", "Content-Type", "Last-Event-ID", "Idempotency-Key", "Mcp-Session-Id", "Mcp-Protocol-Version"} {
				if status != http.StatusNoContent || !strings.Contains(header.Get("Access-Control-Allow-Headers"), name) ||
					!strings.Contains(header.Get("Access-Control-Allow-Methods"), tt.method) || header.Get("Access-Control-Allow-Origin") != page {
					t.Fatalf("the preflight gets %d %v, want %s in it", status, header, name)
				}
			}
			status, header, line := call(open, tt.method, page, full...)
			if status != tt.status || !strings.HasPrefix(line, tt.first) || header.Get("Access-Control-Allow-Origin") != page ||
				!strings.Contains(header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") || header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("the call gets %d %v %.200s", status, header, line)
			}

			for _, refused := range []struct {
				server *app.Server
				origin string
			}{{open, "https://evil.example"}, {closed, page}} {
				for method, headers := range map[string][]string{http.MethodOptions: ask, tt.method: full} {
					status, header, _ := call(refused.server, method, refused.origin, headers...)
					if status != http.StatusForbidden || header.Get("Access-Control-Allow-Origin") != "" {
						t.Errorf("%s by a page of %s gets %d %v", method, refused.origin, status, header)
					}
				}
			}
		})
	}
}
