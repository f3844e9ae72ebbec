package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Malformed calls are rejected at once, in the words of the SDK. Code 0 means a response
// without JSON-RPC.
func TestProtocolErrors(t *testing.T) {
	w := newWorld(t)
	key := w.key("ann")
	good := rpc(1, "list_agents", inputs{})
	modernBody, modernHeader := modernRPC(1, "list_agents", inputs{})
	with := func(more ...string) []string { return append(append([]string{}, modernHeader...), more...) }
	for _, c := range []struct {
		name   string
		body   string
		header []string
		status int
		code   int
		says   string
	}{
		{"unknown tool", rpc(1, "drop_tables", nil), nil, 200, -32602, `unknown tool \"drop_tables\"`},
		{"unknown tool, modern", strings.ReplaceAll(modernBody, "list_agents", "drop_tables"), with("Mcp-Name", "drop_tables"), 400, -32602, "unknown tool"},
		{"unknown method", rpcMethod(1, "tools/explode", nil), nil, 200, -32601, `"id":1,"error":{"code":-32601,"message":"method not found: \"tools/explode\""}`},
		{"unknown method, modern", strings.ReplaceAll(modernBody, "tools/call", "tools/explode"), with("Mcp-Method", "tools/explode"), 404, -32601, ""},
		{"prompts, which the server does not have", rpcMethod(1, "prompts/list", nil), nil, 200, -32601, `method not found: \"prompts/list\"`},
		{"prompts, modern", strings.ReplaceAll(modernBody, "tools/call", "prompts/list"), with("Mcp-Method", "prompts/list"), 404, -32601, `method not found: \"prompts/list\"`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, nil, 202, 0, ""},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, 400, -32600, "invalid_argument: Missing required \\\"params\\\"."},
		{"no id", rpc(nil, "list_agents", nil), nil, 400, -32600, "invalid_argument: Missing id"},
		{"id is an object", strings.Replace(good, `"id":1`, `"id":{}`, 1), nil, 400, -32600, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid_argument: The body is not a JSON-RPC 2.0 message`},
		{"params of another type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, nil, 200, -32602, ""},
		{"version tag", strings.Replace(good, `"2.0"`, `"1.0"`, 1), nil, 400, -32600, "The body is not a JSON-RPC 2.0 message"},
		{"no JSON", `{"jsonrpc":`, nil, 400, -32700, "invalid_json"},
		{"key twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, nil, 400, -32700, "second time"},
		{"nested too deep", strings.Replace(good, `{}`, strings.Repeat(`{"a":`, 70)+"1"+strings.Repeat("}", 70), 1), nil, 400, -32700, "deeper than 64"},
		{"empty", ``, nil, 400, -32700, ""},
		{"batch in a revision without", "[" + good + "]", []string{"Mcp-Protocol-Version", "2025-06-18"}, 400, -32600, "invalid_argument: JSON-RPC batching"},
		{"unknown revision", good, []string{"Mcp-Protocol-Version", "2025-01-01"}, 400, -32600, `"id":1,"error":{"code":-32600,"message":"invalid_argument: Unsupported protocol version. This server speaks 2026-07-28, 2025-11-25`},
		{"revision of the future", strings.ReplaceAll(modernBody, modern, "2027-01-01"), with("Mcp-Protocol-Version", "2027-01-01"), 400, -32022, `"supported":["2026-07-28"`},
		{"Accept without streams", good, []string{"Accept", "application/json"}, 400, -32600, "invalid_argument: Accept"},
		{"no Accept", good, []string{"Accept", "text/plain"}, 400, -32600, "invalid_argument: Accept"},
		{"Content-Type +json", good, []string{"Content-Type", "application/x+json"}, 415, -32600, "unsupported_media_type: Content-Type"},
		{"Content-Type text", good, []string{"Content-Type", "text/plain"}, 415, -32600, "unsupported_media_type"},
		{"Last-Event-ID", good, []string{"Last-Event-ID", "x_1"}, 400, -32600, "Last-Event-ID"},
		{"no Mcp-Method", modernBody, with("Mcp-Method", ""), 400, -32020, "Mcp-Method"},
		{"another Mcp-Method", modernBody, with("Mcp-Method", "tools/list"), 400, -32020, "Mcp-Method"},
		{"no Mcp-Name", modernBody, with("Mcp-Name", ""), 400, -32020, "Mcp-Name"},
		{"another Mcp-Name", modernBody, with("Mcp-Name", "list_threads"), 400, -32020, "Mcp-Name"},
		{"header without _meta", good, []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "list_agents"}, 400, -32602, "protocolVersion"},
		{"_meta without header", modernBody, nil, 400, -32020, "header"},
		{"header of the older era", modernBody, []string{"Mcp-Protocol-Version", session}, 400, -32020, "header"},
		{"no capabilities", strings.Replace(modernBody, "clientCapabilities", "clientCapabilitie", 1), modernHeader, 400, -32602, "clientCapabilities"},
		{"client info of another type", strings.Replace(modernBody, `{"name":"test","version":"1"}`, `"test"`, 1), modernHeader, 400, -32602, "clientInfo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, h, text, err := w.post(t.Context(), key, c.body, c.header...)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") {
				text = eventsOf(text)[0]
			}
			var m struct {
				ID    any
				Error struct{ Code int }
			}
			if jsonErr := json.Unmarshal([]byte(text), &m); (jsonErr != nil) != (c.code == 0) {
				t.Errorf("the answer is %s", text)
			}
			if status != c.status || m.Error.Code != c.code || !strings.Contains(text, c.says) {
				t.Errorf("%d %s, want %d, %d and %q", status, text, c.status, c.code, c.says)
			}
		})
	}
}

// All well-formed calls of both eras are answered as JSON, whole, with what the
// era asks for.
func TestDirectAnswers(t *testing.T) {
	w := newWorld(t)
	key := w.key("ann")
	body, header := modernRPC("id-1", "list_agents", inputs{})
	for _, c := range []struct {
		name   string
		body   string
		header []string
		has    []string
		lacks  []string
	}{
		{"session", rpc(7, "list_agents", nil), []string{"Mcp-Protocol-Version", session}, []string{`"id":7,"result":{"content":[{"type":"text","text":"ID: ann`, `"structuredContent":{"items":[`}, []string{"resultType", "_meta", "isError"}},
		{"no revision", rpc("a\"b", "list_agents", nil), nil, []string{`"id":"a\"b"`}, []string{"resultType"}},
		{"unknown session", rpc(7, "list_agents", nil), []string{"Mcp-Session-Id", "long-gone"}, []string{`"id":7`}, nil},
		{"modern", body, header, []string{`"id":"id-1"`, `"resultType":"complete"`, `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shoal","title":"Shoal","version":"1.2.3"}}`}, []string{"isError"}},
		{"failure", rpc(7, "read_thread", nil), nil, []string{`"isError":true`, "invalid_argument: threadId is missing"}, []string{"structuredContent"}},
		{"arguments null", strings.Replace(rpc(7, "list_agents", nil), `"arguments":null`, `"arguments": null`, 1), nil, []string{`"items":[`}, nil},
		{"arguments of another type", strings.Replace(rpc(7, "list_agents", nil), `"arguments":null`, `"arguments":[1]`, 1), nil, []string{`"isError":true`, "arguments must be an object"}, nil},
		{"escaped name", strings.Replace(rpc(7, "list_agents", nil), "list_agents", `list\u005fagents`, 1), nil, []string{`"items":[`}, nil},
		{"text/* and */*", rpc(7, "list_agents", nil), []string{"Accept", "*/*;q=0.1"}, []string{`"items":[`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, h, text, err := w.post(t.Context(), key, c.body, c.header...)
			if err != nil || status != 200 || h.Get("Content-Type") != "application/json" || h.Get("Content-Length") != fmt.Sprint(len(text)) || h.Get("Mcp-Session-Id") != "" {
				t.Fatalf("%d %v %s %v", status, h, text, err)
			}
			for _, s := range c.has {
				if !strings.Contains(text, s) {
					t.Errorf("lacks %s:\n%s", s, text)
				}
			}
			for _, s := range c.lacks {
				if strings.Contains(text, s) {
					t.Errorf("has %s:\n%s", s, text)
				}
			}
		})
	}
}

// A call returns the same result whether the SDK or this package decodes it.
func TestSDKAndDirectAnswerAlike(t *testing.T) {
	w := newWorld(t)
	shop(w)
	for _, c := range []struct {
		tool string
		in   inputs
	}{
		{"list_agents", inputs{}},
		{"read_thread", inputs{"threadId": "shop"}},
		{"search_messages", inputs{"query": "one"}},
		{"list_threads", inputs{"includeClosed": true}},
		{"send_message", inputs{"threadId": "none"}},
		{"send_message", inputs{"threadId": "shop", "content": "a<b>&c", "idempotencyKey": "k"}},
		{"wait_for_mentions", inputs{"timeoutMs": 0, "threadId": "shop"}},
	} {
		_, _, direct, err := w.post(t.Context(), w.key("ann"), rpc(1, c.tool, c.in))
		if err != nil {
			t.Fatal(err)
		}
		_, h, batch, err := w.post(t.Context(), w.key("ann"), "["+rpc(1, c.tool, c.in)+"]")
		if err != nil {
			t.Fatal(err)
		}
		if h.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("the batch did not go through the SDK: %v", h)
		}
		if got, want := canonical(t, direct), canonical(t, eventsOf(batch)[0]); got != want {
			t.Errorf("%s %v:\n%s\nthrough the SDK:\n%s", c.tool, c.in, got, want)
		}
	}
}

// canonical is JSON with sorted keys and without what changes from call to call.
func canonical(t testing.TB, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var clean func(any)
	clean = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "lastSeenAt")
			for _, each := range v {
				clean(each)
			}
		case []any:
			for _, each := range v {
				clean(each)
			}
		}
	}
	clean(v)
	return compact(t, v)
}

// Methods that are not MCP's are refused in both eras.
func TestHTTPMethods(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		method, path, version string
		status                int
		allow                 string
	}{
		{"PUT", "/mcp", "", 405, "GET, POST, DELETE"},
		{"GET", "/mcp", modern, 405, "POST"},
		{"DELETE", "/mcp", modern, 405, "POST"},
		{"GET", "/mcp", session, 400, ""},
		{"DELETE", "/mcp", session, 400, ""},
		{"PUT", "/sse", "", 405, "GET, POST"},
		{"GET", "/mcp/x", "", 404, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, w.url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", c.version)
		res, err := withKey(w.key("ann")).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.status || res.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s %s: %d %q, want %d %q", c.method, c.path, c.version, res.StatusCode, res.Header.Get("Allow"), c.status, c.allow)
		}
	}
}
