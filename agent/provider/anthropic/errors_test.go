package anthropic_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
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
		{404, said("not_found_error", "model: claude-test"), agent.ClassInvalid},
		{429, said("rate_limit_error", "slow down"), agent.ClassRateLimited},
		{500, said("api_error", "oops"), agent.ClassOverloaded},
		{504, said("timeout_error", "late"), agent.ClassOverloaded},
		{529, said("overloaded_error", "Overloaded"), agent.ClassOverloaded},
		// Proxies know no types: the status says it.
		{429, "slow down", agent.ClassRateLimited},
		{502, "<html>bad gateway</html>", agent.ClassOverloaded},
		{503, "", agent.ClassOverloaded},
		{401, "", agent.ClassAuth},
		{403, "{}", agent.ClassAuth},
		{402, "", agent.ClassQuota},
		{413, "", agent.ClassContextOverflow},
		{408, "", agent.ClassTimeout},
		{404, "404 page not found", agent.ClassInvalid},
		{307, "", agent.ClassInvalid},
		{204, "", agent.ClassMalformed},
	} {
		v := newVendor(t, refuses(c.status, c.body))
		_, err := tell(v.model(t), t, hello())
		failure := modelError(t, err)
		if failure.Class != c.want || failure.Status != c.status || failure.Provider != "anthropic" {
			t.Errorf("status %d %s: error %#v, want class %q", c.status, c.body, failure, c.want)
		}
		if n := len(v.requests); n != 1 {
			t.Errorf("status %d: %d requests, want one", c.status, n)
		}
	}
}

func TestRefusalTellsCodeWordsAndDelay(t *testing.T) {
	long := "the key " + testKey + " " + strings.Repeat("é", 3000)
	v := newVendor(t, refuses(429, said("rate_limit_error", long), "Retry-After", "17"))
	_, err := tell(v.model(t), t, hello())
	failure := modelError(t, err)
	if failure.Code != "rate_limit_error" || failure.RetryAfter != 17*time.Second {
		t.Errorf("error %#v, want the code and 17 s", failure)
	}
	if n := len(failure.Detail); n > 2048 || n < 2040 || !strings.HasPrefix(failure.Detail, "the key [key] éé") || !strings.HasSuffix(failure.Detail, "é") {
		t.Errorf("detail of %d bytes: %.60q…", n, failure.Detail)
	}
	if strings.Contains(err.Error(), testKey) {
		t.Errorf("the error repeats the key: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, value string
		least, most time.Duration
	}{
		{"Retry-After", "1.5", 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"Retry-After-Ms", "250", 250 * time.Millisecond, 250 * time.Millisecond},
		{"Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 59 * time.Minute, time.Hour},
		{"Retry-After", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), 0, 0},
		{"Retry-After", "soon", 0, 0},
		{"Retry-After", "-3", 0, 0},
		{"Retry-After", "NaN", 0, 0},
	} {
		_, err := tell(newVendor(t, refuses(529, "", c.name, c.value)).model(t), t, hello())
		if got := modelError(t, err).RetryAfter; got < c.least || got > c.most {
			t.Errorf("%s: %s gives %v, want %v to %v", c.name, c.value, got, c.least, c.most)
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	other := newVendor(t, plays(short))
	v := newVendor(t, refuses(307, "", "Location", other.URL))
	if _, err := tell(v.model(t), t, hello()); modelError(t, err).Status != 307 {
		t.Errorf("error %v, want status 307", err)
	}
	if n := len(other.requests); n != 0 {
		t.Errorf("the key went to another host %d times", n)
	}
}

func TestUnreachableProvider(t *testing.T) {
	v := httptest.NewServer(nil)
	v.Close()
	m := anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: v.URL})
	_, err := tell(m, t, hello())
	if failure := modelError(t, err); failure.Class != agent.ClassNetwork || failure.Err == nil {
		t.Errorf("error %#v, want network with its cause", failure)
	}
}

func TestSlowProvider(t *testing.T) {
	v := newVendor(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: time.Millisecond}}
	defer client.CloseIdleConnections()
	m := anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: client})
	_, err := tell(m, t, hello())
	if failure := modelError(t, err); failure.Class != agent.ClassTimeout {
		t.Errorf("error %#v, want a time-out", failure)
	}
}

func TestKeyComesFromOptionsOrEnvironment(t *testing.T) {
	v := newVendor(t, plays(short))
	t.Setenv("ANTHROPIC_API_KEY", "")
	// What else the SDK would read from the environment counts for nothing.
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Odd: 1")
	_, err := tell(anthropic.New("claude-test", anthropic.Options{BaseURL: v.URL}), t, hello())
	if failure := modelError(t, err); failure.Class != agent.ClassAuth || !strings.Contains(failure.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("without a key: %v, want a failure that names the variable", err)
	}
	t.Setenv("ANTHROPIC_API_KEY", "from-env")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	m := anthropic.New("claude-test", anthropic.Options{BaseURL: v.URL}, anthropic.Options{HTTPClient: client, Headers: map[string]string{"X-Own": "2"}})
	if _, err = tell(m, t, hello()); err != nil {
		t.Fatal(err)
	}
	h := v.requests[0].Header
	if h.Get("X-Api-Key") != "from-env" || h.Get("Authorization") != "" || h.Get("X-Odd") != "" || h.Get("X-Own") != "2" {
		t.Errorf("headers %v", h)
	}
}

func TestWrongOptionsShowAtTheCall(t *testing.T) {
	for _, m := range []agent.Model{
		anthropic.New("", anthropic.Options{APIKey: testKey}),
		anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: "api.anthropic.com"}),
		anthropic.New("claude-test", anthropic.Options{APIKey: testKey, BaseURL: "https://ann:secret@[::1"}),
	} {
		_, err := tell(m, t, hello())
		if !errors.Is(err, shoal.InvalidArgument) || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v, want an invalid argument without the URL", err)
		}
	}
}

func TestInfo(t *testing.T) {
	for base, address := range map[string]string{
		"": "api.anthropic.com:443", "http://127.0.0.1:8080": "127.0.0.1:8080", "http://ann:pw@proxy/x?y": "proxy:80", "https://[::1]": "[::1]:443",
	} {
		got := anthropic.New("claude-test", anthropic.Options{BaseURL: base, Window: 200_000}).Info()
		want := agent.ModelInfo{Provider: "anthropic", Name: "claude-test", Window: 200_000, Address: address}
		if got != want {
			t.Errorf("Info() = %+v, want %+v", got, want)
		}
	}
}
