package anthropic_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func said(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
	}{
		{400, said("invalid_request_error", "messages: at least one message is required"), agent.ClassInvalid},
		{400, said("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"), agent.ClassContextOverflow},
		{400, said("invalid_request_error", "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"), agent.ClassContextOverflow},
		{413, said("request_too_large", "Request exceeds the maximum size"), agent.ClassContextOverflow},
		{401, said("authentication_error", "invalid x-api-key"), agent.ClassAuth},
		{403, said("permission_error", "no"), agent.ClassAuth},
		{402, said("billing_error", "pay first"), agent.ClassQuota},
		{400, said("invalid_request_error", "Your credit balance is too low to access the API."), agent.ClassQuota},
		{404, said("not_found_error", "model: claude-test"), agent.ClassInvalid},
		{429, said("rate_limit_error", "slow down"), agent.ClassRateLimited},
		{500, said("api_error", "oops"), agent.ClassOverloaded},
		{504, said("timeout_error", "late"), agent.ClassOverloaded},
		{529, said("overloaded_error", "Overloaded"), agent.ClassOverloaded},
		// Proxies know no types: the status says it.
		{429, "slow down", agent.ClassRateLimited},
		{502, "<html>bad gateway</html>", agent.ClassOverloaded},
		{403, "{}", agent.ClassAuth},
		{204, "", agent.ClassMalformed},
	} {
		v := newVendor(t, wiretest.Refuses(c.status, c.body))
		_, err := wiretest.Transcribe(t, v.model(t), wiretest.Hello())
		failure := wiretest.ModelError(t, err)
		if failure.Class != c.want || failure.Status != c.status || failure.Provider != "anthropic" {
			t.Errorf("status %d %s: error %#v, want class %q", c.status, c.body, failure, c.want)
		}
		if n := len(v.Requests); n != 1 {
			t.Errorf("status %d: %d requests, want one", c.status, n)
		}
	}
}

func TestRefusalHasCodeMessageAndDelay(t *testing.T) {
	v := newVendor(t, wiretest.Refuses(429, said("rate_limit_error", "the key "+testKey), "Retry-After", "17"))
	_, err := wiretest.Transcribe(t, v.model(t), wiretest.Hello())
	failure := wiretest.ModelError(t, err)
	if failure.Code != "rate_limit_error" || failure.RetryAfter != 17*time.Second || failure.Detail != "the key [secret]" {
		t.Errorf("error %#v, want the code, the words and 17 s", failure)
	}
}

// The key of each call goes where the vendor wants it, and what else the
// environment says counts for nothing.
func TestHeaders(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Odd: 1")
	v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "fresh-true" {
			wiretest.Refuses(401, "")(w, r)
			return
		}
		wiretest.Plays(short)(w, r)
	})
	key := func(_ context.Context, refresh bool) (string, error) { return fmt.Sprint("fresh-", refresh), nil }
	m := anthropic.New("claude-test", anthropic.Options{Key: key, BaseURL: v.URL, HTTPClient: v.Client()}, anthropic.Options{Headers: map[string]string{"X-Own": "2"}})
	if _, err := wiretest.Transcribe(t, m, wiretest.Hello()); err != nil {
		t.Fatal(err)
	}
	if len(v.Requests) != 2 || v.Bodies[0] != v.Bodies[1] {
		t.Fatalf("a fresh key took %d requests with bodies %q", len(v.Requests), v.Bodies)
	}
	if h := v.Requests[1].Header; h.Get("X-Own") != "2" || h.Get("Content-Type") != "application/json" || h.Get("Authorization") != "" || h.Get("X-Odd") != "" {
		t.Errorf("headers %v", h)
	}
	_, err := wiretest.Transcribe(t, anthropic.New("claude-test"), wiretest.Hello())
	if failure := wiretest.ModelError(t, err); failure.Class != agent.ClassAuth || !strings.Contains(failure.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("without a key: %v, want a failure that names the variable", err)
	}
}

func TestInvalidOptionsFailAtTheCall(t *testing.T) {
	for _, m := range []agent.Model{
		anthropic.New("", anthropic.Options{APIKey: testKey}),
		anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: "localhost"}),
		anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: "http://127.0.0.1:1"}),
	} {
		req := wiretest.Hello()
		req.Settings.ProviderOptions = map[string]any{"odd": func() {}}
		if _, err := wiretest.Transcribe(t, m, req); !errors.Is(err, agent.ErrInvalidArgument) {
			t.Errorf("error %v, want an invalid argument", err)
		}
	}
}
