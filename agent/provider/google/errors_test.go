package google_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/google"
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
		if failure.Class != c.want || failure.Status != c.status || failure.Provider != "gcp.gemini" {
			t.Errorf("status %d %s: error %#v, want class %q", c.status, c.body, failure, c.want)
		}
		if n := len(v.requests); n != 1 {
			t.Errorf("status %d: %d requests, want one", c.status, n)
		}
	}
}

func TestRefusalTellsCodeWordsAndDelay(t *testing.T) {
	long := "the key " + testKey + " " + strings.Repeat("é", 3000)
	v := newVendor(t, refuses(429, said(429, "RESOURCE_EXHAUSTED", long, retry34), "Retry-After", "17"))
	_, err := tell(v.model(t), t, hello())
	failure := modelError(t, err)
	if failure.Code != "RESOURCE_EXHAUSTED" || failure.RetryAfter != 34500*time.Millisecond {
		t.Errorf("error %#v, want the code and the longer delay", failure)
	}
	if n := len(failure.Detail); n > 2048 || n < 2040 || !strings.HasPrefix(failure.Detail, "the key [key] éé") || !strings.HasSuffix(failure.Detail, "é") {
		t.Errorf("detail of %d bytes: %.60q…", n, failure.Detail)
	}
	if strings.Contains(err.Error(), testKey) {
		t.Errorf("the error repeats the key: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string][2]time.Duration{
		"1.5": {1500 * time.Millisecond, 1500 * time.Millisecond},
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): {59 * time.Minute, time.Hour},
		"soon": {}, "-3": {}, "NaN": {},
	} {
		_, err := tell(newVendor(t, refuses(503, "", "Retry-After", value)).model(t), t, hello())
		if got := modelError(t, err).RetryAfter; got < want[0] || got > want[1] {
			t.Errorf("Retry-After: %s gives %v, want %v to %v", value, got, want[0], want[1])
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
	m := google.New("gemini-test", google.Options{APIKey: testKey, BaseURL: v.URL})
	_, err := tell(m, t, hello())
	if failure := modelError(t, err); failure.Class != agent.ClassNetwork || failure.Err == nil {
		t.Errorf("error %#v, want network with its cause", failure)
	}
}

func TestSlowProvider(t *testing.T) {
	v := newVendor(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: time.Millisecond}}
	defer client.CloseIdleConnections()
	m := google.New("gemini-test", google.Options{APIKey: testKey, BaseURL: v.URL, HTTPClient: client})
	_, err := tell(m, t, hello())
	if failure := modelError(t, err); failure.Class != agent.ClassTimeout {
		t.Errorf("error %#v, want a time-out", failure)
	}
}

func TestKeyComesFromOptionsOrEnvironment(t *testing.T) {
	v := newVendor(t, plays(short))
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("GOOGLE_API_KEY", "")
	// What else the SDK would read from the environment counts for nothing.
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
	_, err := tell(google.New("gemini-test", google.Options{BaseURL: v.URL}), t, hello())
	failure := modelError(t, err)
	if failure.Class != agent.ClassAuth || !strings.Contains(failure.Error(), "GEMINI_API_KEY") || !strings.Contains(failure.Error(), "GOOGLE_API_KEY") {
		t.Errorf("without a key: %v, want a failure that names the variables", err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for i, set := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(set, "from-"+set)
		m := google.New("gemini-test", google.Options{BaseURL: v.URL}, google.Options{HTTPClient: client, Headers: map[string]string{"X-Own": "2"}})
		if _, err = tell(m, t, hello()); err != nil {
			t.Fatal(err)
		}
		if h := v.requests[i].Header; h.Get("X-Goog-Api-Key") != "from-"+set || h.Get("X-Own") != "2" {
			t.Errorf("headers %v", h)
		}
	}
}

func TestWrongOptionsShowAtTheCall(t *testing.T) {
	for _, m := range []agent.Model{
		google.New("", google.Options{APIKey: testKey}),
		google.New("gemini-test", google.Options{APIKey: testKey, BaseURL: "generativelanguage.googleapis.com"}),
		google.New("gemini-test", google.Options{APIKey: testKey, BaseURL: "https://ann:secret@[::1"}),
	} {
		_, err := tell(m, t, hello())
		if !errors.Is(err, shoal.InvalidArgument) || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v, want an invalid argument without the URL", err)
		}
	}
}

func TestInfo(t *testing.T) {
	for base, address := range map[string]string{
		"": "generativelanguage.googleapis.com:443", "http://127.0.0.1:8080": "127.0.0.1:8080", "http://ann:pw@proxy/x?y": "proxy:80", "https://[::1]": "[::1]:443",
	} {
		got := google.New("gemini-test", google.Options{BaseURL: base, Window: 200_000}).Info()
		want := agent.ModelInfo{Provider: "gcp.gemini", Name: "gemini-test", Window: 200_000, Address: address}
		if got != want {
			t.Errorf("Info() = %+v, want %+v", got, want)
		}
	}
}
