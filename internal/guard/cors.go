package guard

import (
	"net/http"
	"strings"
)

// The lists of the CORS protocol are the same for every path: what a path makes of a
// method or a header is its own matter, and a fixed list repeats nothing that a
// request has sent.
var (
	corsMethods = []string{strings.Join([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, ", ")}
	corsHeaders = []string{strings.Join([]string{
		"Authorization", "Accept", "Content-Type", "Content-Disposition", "Idempotency-Key", "If-None-Match", "Last-Event-ID",
		"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", requestIDHeader, "X-Shoal-Api", "X-Shoal-Entity", "X-Shoal-Session", "X-Shoal-Space",
		// OpenTelemetry in pages sends both; the second is not read.
		"Traceparent", "Tracestate",
		// The official clients of OpenAI send what they run on.
		"OpenAI-Organization", "OpenAI-Project", "X-Stainless-Arch", "X-Stainless-Custom-Poll-Interval", "X-Stainless-Helper-Method", "X-Stainless-Lang", "X-Stainless-OS", "X-Stainless-Package-Version",
		"X-Stainless-Poll-Helper", "X-Stainless-Retry-Count", "X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout",
	}, ", ")}
	corsExposed = []string{strings.Join([]string{
		"Allow", "Content-Disposition", "ETag", "Mcp-Session-Id", "Retry-After", "WWW-Authenticate", requestIDHeader, "X-Shoal-Api",
	}, ", ")}
	// corsMaxAge is how many seconds browsers may remember a preflight. The server's
	// options change at a restart only; Chromium remembers for two hours at most.
	corsMaxAge = []string{"7200"}
)

// allowPage lets pages of an allowed origin read the answer to r and reports whether
// that was a preflight, which is answered then. Access-Control-Allow-Credentials is
// never sent: such a page shows its key in Authorization and does not get to use the
// cookies of the console. The answer varies by Origin wherever an origin is allowed,
// whether or not r has sent one, so that a cache keeps the answers apart.
func (g *Guard) allowPage(w http.ResponseWriter, r *http.Request) (preflight bool) {
	if len(g.origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	sent, ok := r.Header["Origin"]
	if !ok {
		return false
	}
	if _, allowed := g.judge(r, sent); !allowed {
		return false
	}
	h["Access-Control-Allow-Origin"] = []string{sent[0]}
	if r.Method != http.MethodOptions || hasBody(r) || r.Header.Get("Access-Control-Request-Method") == "" {
		h["Access-Control-Expose-Headers"] = corsExposed
		return false
	}
	h["Access-Control-Allow-Methods"] = corsMethods
	h["Access-Control-Allow-Headers"] = corsHeaders
	h["Access-Control-Max-Age"] = corsMaxAge
	w.WriteHeader(http.StatusNoContent)
	return true
}
