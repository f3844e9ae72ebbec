package mcpapi

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/guard"
)

// Headers of the protocol, as net/http writes them.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// stateless is the first revision without sessions.
const stateless = "2026-07-28"

// request is one HTTP request of a caller that is known.
type request struct {
	*API
	caller
	w    http.ResponseWriter
	r    *http.Request
	name string // as guard.RequestID says
	// id is that of the message, once it is known that it may not be answered
	// here as the call of a tool.
	id []byte
}

// admit recognises the caller of a request, or answers it.
func (a *API) admit(w http.ResponseWriter, r *http.Request) (*request, bool) {
	req := &request{API: a, w: w, r: r, name: guard.RequestID(w)}
	var err error
	if req.Principal, req.Session, err = a.Auth.MCP(r); err != nil {
		a.Auth.Refuse(r, req.name, req.Principal, "MCP", err)
		if a.Challenge != nil && errors.Is(err, shoal.Unauthenticated) {
			w.Header().Set("WWW-Authenticate", a.Challenge(r))
		}
		guard.WriteRPCError(w, err)
		return nil, false
	}
	if err := a.Limits.Call(req.Principal); err != nil {
		req.slowDown(err)
		return nil, false
	}
	return req, true
}

// origin returns ctx with the origin of the request for the audit log.
func (q *request) origin(ctx context.Context) context.Context { return q.Auth.From(ctx, q.r, q.name) }

// slowDown answers a caller that calls too often: a call of a tool by a result,
// like every failure of one, anything else by the status 429.
func (q *request) slowDown(err error) {
	if q.r.Method == http.MethodPost && q.plain() && q.r.URL.Path == "/mcp" {
		if call, ok := q.toolCall(messageOf(guard.Body(q.r))); ok {
			out := failure(q.name, err)
			q.w.Header().Set("Retry-After", guard.RetryAfter(retryAfter(err)))
			q.count(q.caller, call.tool, q.name, out, nil, time.Now())
			q.answer(call, out)
			return
		}
	}
	guard.WriteRPCError(q.w, err)
}

// retryAfter is how long to stay away after err.
func retryAfter(err error) time.Duration {
	var known *shoal.Error
	if errors.As(err, &known) {
		return known.RetryAfter
	}
	return 0
}

// modern reports whether the request is of the era without sessions.
func (q *request) modern() bool { return q.r.Header.Get(versionHeader) >= stateless }

// plain reports whether a POST is what both eras ask for in every header that
// is not about its message. The SDK says what is wrong with one that is not.
func (q *request) plain() bool {
	h := q.r.Header
	return isJSON(h.Get("Content-Type")) && acceptsBoth(h["Accept"]) && h["Last-Event-Id"] == nil && q.versionKnown()
}

func (q *request) versionKnown() bool {
	v := q.r.Header.Get(versionHeader)
	if v == "" {
		return true
	}
	for _, known := range q.versions {
		if v == known {
			return true
		}
	}
	return false
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json"
}

// acceptsBoth reports whether a client takes an answer as JSON and as a stream.
func acceptsBoth(accept []string) bool {
	json, stream := accepts(accept)
	return json && stream
}

func accepts(accept []string) (json, stream bool) {
	for _, line := range accept {
		for one := range strings.SplitSeq(line, ",") {
			one, _, _ = strings.Cut(one, ";")
			switch strings.ToLower(strings.TrimSpace(one)) {
			case "application/json", "application/*":
				json = true
			case "text/event-stream", "text/*":
				stream = true
			case "*/*":
				return true, true
			}
		}
	}
	return json, stream
}

// forSDK returns the request as the SDK sees it: without the key.
func (q *request) forSDK() *http.Request {
	r := *q.r
	r.Header = q.r.Header.Clone()
	r.Header.Del("Authorization")
	r.Header.Del("Cookie")
	r.Header.Del(callMark)
	return &r
}
