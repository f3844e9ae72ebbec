package guard

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const page = "https://App.example"

// crossOrigin returns the headers of an answer that are about other origins.
func crossOrigin(a answer) []string {
	var names []string
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// lists reports whether a header of an answer is a list with all of these words.
func lists(a answer, header string, words ...string) bool {
	var listed []string
	for word := range strings.SplitSeq(a.header.Get(header), ",") {
		listed = append(listed, strings.ToLower(strings.TrimSpace(word)))
	}
	return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(listed, strings.ToLower(word)) })
}

// Preflight requests are answered without a key on every path, for pages of allowed
// origins only.
func TestPreflight(t *testing.T) {
	d := newDoor(t, Options{AllowOrigins: []string{page, "http://dev.test:5173"}}, httptest.NewServer)
	for _, path := range []string{"/v1/sessions/default/spaces", "/v1/sessions/default/events", "/mcp", "/sse", "/agui/agents/a", "/later"} {
		a := d.send("OPTIONS", path, "", "Origin", "https://app.example", "Access-Control-Request-Method", "PATCH", "Sec-Fetch-Site", "cross-site",
			"Access-Control-Request-Headers", "authorization,content-type,x-unknown")
		d.wantUntouched()
		if a.status != http.StatusNoContent || a.body != "" || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
			t.Errorf("%s: %d %q allows %q", path, a.status, a.body, a.header.Get("Access-Control-Allow-Origin"))
		}
		if !lists(a, "Access-Control-Allow-Methods", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE") {
			t.Errorf("%s: methods %q", path, a.header.Get("Access-Control-Allow-Methods"))
		}
		if !lists(a, "Access-Control-Allow-Headers", "Authorization", "Content-Type", "Content-Disposition", "Last-Event-ID", "Idempotency-Key", "If-None-Match",
			"Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "X-Request-Id", "X-Shoal-Api", "X-Shoal-Entity") || lists(a, "Access-Control-Allow-Headers", "x-unknown") {
			t.Errorf("%s: headers %q", path, a.header.Get("Access-Control-Allow-Headers"))
		}
		if a.header.Get("Access-Control-Max-Age") == "" || !lists(a, "Vary", "Origin") || a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: the answer's header is %v", path, a.header)
		}
	}
}

// Answers to allowed origins can be read by their pages, refusals included. Other
// answers say nothing about origins.
func TestCrossOriginAnswers(t *testing.T) {
	allowing := Options{AllowOrigins: []string{page, "http://dev.test:5173"}}
	preflight := []string{"Access-Control-Request-Method", "POST"}
	for _, tt := range []struct {
		name, method, path, body string
		opts                     Options
		headers                  []string
		status                   int
		allowed                  string
	}{
		{"reads", "GET", "/v1/x", "", allowing, []string{"Origin", "https://app.example"}, 200, "https://app.example"},
		{"reads an event stream", "GET", "/v1/x/events", "", allowing, []string{"Origin", "http://dev.test:5173", "Accept", "text/event-stream"}, 200, "http://dev.test:5173"},
		{"calls MCP", "POST", "/mcp", "{}", allowing, []string{"Origin", "https://app.example", "Content-Type", jsonType}, 200, "https://app.example"},
		{"calls AG-UI", "POST", "/agui/agents/a", "{}", allowing, []string{"Origin", "https://app.example", "Content-Type", jsonType}, 200, "https://app.example"},
		{"reads a refusal of its body", "POST", "/v1/x", "{", allowing, []string{"Origin", "https://app.example", "Content-Type", jsonType}, 400, "https://app.example"},
		{"reads a refusal of MCP", "POST", "/mcp", "x", allowing, []string{"Origin", "https://app.example", "Content-Type", "text/plain"}, 415, "https://app.example"},
		{"OPTIONS with a body", "OPTIONS", "/v1/x", "{}", allowing, append(preflight, "Origin", "https://app.example", "Content-Type", jsonType), 200, "https://app.example"},
		{"OPTIONS that is not a preflight", "OPTIONS", "/v1/x", "", allowing, []string{"Origin", "https://app.example"}, 200, "https://app.example"},

		{"no origin", "GET", "/v1/x", "", allowing, nil, 200, ""},
		{"no origin, preflight", "OPTIONS", "/v1/x", "", allowing, preflight, 200, ""},
		{"a wrong origin", "GET", "/v1/x", "", allowing, []string{"Origin", "https://evil.example"}, 403, ""},
		{"a wrong origin, preflight", "OPTIONS", "/v1/x", "", allowing, append(preflight, "Origin", "https://evil.example"), 403, ""},
		{"a wrong origin, preflight of MCP", "OPTIONS", "/mcp", "", allowing, append(preflight, "Origin", "https://evil.example"), 403, ""},
		{"null", "OPTIONS", "/v1/x", "", allowing, append(preflight, "Origin", "null"), 403, ""},
		{"two origins", "OPTIONS", "/v1/x", "", allowing, append(preflight, "Origin", "https://app.example", "Origin", "https://app.example"), 403, ""},
		{"another scheme", "OPTIONS", "/v1/x", "", allowing, append(preflight, "Origin", "http://app.example"), 403, ""},
		{"a wrong host", "OPTIONS", "/v1/x", "", allowing, append(preflight, "Origin", "https://app.example", "Host", "evil.example"), 421, ""},
		{"without the option", "OPTIONS", "/v1/x", "", Options{}, append(preflight, "Origin", "https://app.example"), 403, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDoor(t, tt.opts, httptest.NewServer)
			a := d.send(tt.method, tt.path, tt.body, tt.headers...)
			want := []string{"Access-Control-Allow-Origin", "Access-Control-Expose-Headers"}
			if tt.allowed == "" {
				want = nil
			}
			if got := crossOrigin(a); a.status != tt.status || a.header.Get("Access-Control-Allow-Origin") != tt.allowed || !slices.Equal(got, want) {
				t.Errorf("%d %v, want %d for %q with %v", a.status, a.header, tt.status, tt.allowed, want)
			}
			if tt.allowed != "" && !lists(a, "Access-Control-Expose-Headers", "Mcp-Session-Id", "X-Request-Id", "Retry-After", "ETag", "Content-Disposition", "Allow", "X-Shoal-Api") {
				t.Errorf("exposed are %q", a.header.Get("Access-Control-Expose-Headers"))
			}
			if lists(a, "Vary", "Origin") != (tt.opts.AllowOrigins != nil && tt.status != 421) {
				t.Errorf("Vary is %q", a.header.Get("Vary"))
			}
		})
	}
	// A page of the server itself needs no permission, with or without the option.
	for _, opts := range []Options{allowing, {}} {
		d := newDoor(t, opts, httptest.NewServer)
		for _, method := range []string{"GET", "OPTIONS"} {
			if a := d.send(method, "/v1/x", "", append(preflight, "Origin", d.URL)...); a.status != 200 || crossOrigin(a) != nil {
				t.Errorf("%s by a page of the server: %d %v", method, a.status, a.header)
			}
		}
	}
}
