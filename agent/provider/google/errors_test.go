package google_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func said(code int, status, message string, details ...string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, code, message, status, strings.Join(details, ","))
}

const (
	badKey   = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`
	retry34  = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}`
	perMin   = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}`
	perDay   = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}`
	tooLong  = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
	badField = "Invalid JSON payload received."
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
	}{
		{400, said(400, "INVALID_ARGUMENT", badField), agent.ClassInvalid},
		{400, said(400, "INVALID_ARGUMENT", tooLong), agent.ClassContextOverflow},
		{400, said(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."), agent.ClassContextOverflow},
		{413, said(413, "Request Entity Too Large", "too large"), agent.ClassContextOverflow},
		{501, said(501, "UNIMPLEMENTED", "no"), agent.ClassInvalid},
		{400, said(400, "INVALID_ARGUMENT", "API key not valid.", badKey), agent.ClassAuth},
		{400, "[" + said(400, "INVALID_ARGUMENT", "API key not valid.", badKey) + "]", agent.ClassAuth},
		{400, said(400, "FAILED_PRECONDITION", "User location is not supported"), agent.ClassInvalid},
		{401, said(401, "UNAUTHENTICATED", "no"), agent.ClassAuth},
		{403, said(403, "PERMISSION_DENIED", "no"), agent.ClassAuth},
		{404, said(404, "NOT_FOUND", "no such model"), agent.ClassInvalid},
		{429, said(429, "RESOURCE_EXHAUSTED", "slow down", perMin, retry34), agent.ClassRateLimited},
		{429, said(429, "RESOURCE_EXHAUSTED", "enough", perMin, perDay, retry34), agent.ClassQuota},
		{500, said(500, "INTERNAL", "oops"), agent.ClassOverloaded},
		{503, said(503, "UNAVAILABLE", "overloaded"), agent.ClassOverloaded},
		{504, said(504, "DEADLINE_EXCEEDED", "late"), agent.ClassOverloaded},
		// Proxies know no codes: the status says it.
		{429, "slow down", agent.ClassRateLimited},
		{502, "<html>bad gateway</html>", agent.ClassOverloaded},
		{403, "{}", agent.ClassAuth},
		{204, "", agent.ClassMalformed},
	} {
		v := newVendor(t, wiretest.Refuses(c.status, c.body))
		_, err := wiretest.Transcribe(t, v.model(t), wiretest.Hello())
		failure := wiretest.ModelError(t, err)
		if failure.Class != c.want || failure.Status != c.status || failure.Provider != "gcp.gemini" {
			t.Errorf("status %d %s: error %#v, want class %q", c.status, c.body, failure, c.want)
		}
		if n := len(v.Requests); n != 1 {
			t.Errorf("status %d: %d requests, want one", c.status, n)
		}
	}
}

func TestRefusalHasCodeMessageAndDelay(t *testing.T) {
	v := newVendor(t, wiretest.Refuses(429, said(429, "RESOURCE_EXHAUSTED", "the key "+testKey, retry34), "Retry-After", "17"))
	_, err := wiretest.Transcribe(t, v.model(t), wiretest.Hello())
	failure := wiretest.ModelError(t, err)
	if failure.Code != "RESOURCE_EXHAUSTED" || failure.RetryAfter != 34500*time.Millisecond || failure.Detail != "the key [secret]" {
		t.Errorf("error %#v, want the code, the words and the longer delay", failure)
	}
}

// The key of each call goes where the vendor wants it, and what else the
// environment says counts for nothing.
func TestHeaders(t *testing.T) {
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
	v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Goog-Api-Key") != "fresh-true" {
			wiretest.Refuses(400, said(400, "INVALID_ARGUMENT", "API key expired.", badKey))(w, r)
			return
		}
		wiretest.Plays(short)(w, r)
	})
	key := func(_ context.Context, refresh bool) (string, error) { return fmt.Sprint("fresh-", refresh), nil }
	m := google.New("gemini-test", google.Options{Key: key, BaseURL: v.URL, HTTPClient: v.Client()}, google.Options{Headers: map[string]string{"X-Own": "2"}})
	if _, err := wiretest.Transcribe(t, m, wiretest.Hello()); err != nil {
		t.Fatal(err)
	}
	if len(v.Requests) != 2 || v.Bodies[0] != v.Bodies[1] {
		t.Fatalf("a fresh key took %d requests with bodies %q", len(v.Requests), v.Bodies)
	}
	if h := v.Requests[1].Header; h.Get("X-Own") != "2" || h.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", h)
	}
	_, err := wiretest.Transcribe(t, google.New("gemini-test"), wiretest.Hello())
	if failure := wiretest.ModelError(t, err); failure.Class != agent.ClassAuth || !strings.Contains(failure.Error(), "GEMINI_API_KEY") {
		t.Errorf("without a key: %v, want a failure that names the variable", err)
	}
}

func TestInvalidOptionsFailAtTheCall(t *testing.T) {
	for _, m := range []agent.Model{
		google.New("", google.Options{APIKey: testKey}),
		google.New("gemini-test", google.Options{APIKey: testKey, BaseURL: "localhost"}),
	} {
		if _, err := wiretest.Transcribe(t, m, wiretest.Hello()); !errors.Is(err, agent.ErrInvalidArgument) {
			t.Errorf("error %v, want an invalid argument", err)
		}
	}
}
