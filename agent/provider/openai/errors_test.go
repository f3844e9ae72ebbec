package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	shoal "github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
)

func TestErrorClasses(t *testing.T) {
	said := func(code, kind, message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%s}}`, message, kind, code)
	}
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
		code   string
	}{
		{429, said(`"rate_limit_exceeded"`, "tokens", "slow"), agent.ClassRateLimited, "rate_limit_exceeded"},
		{429, said(`null`, "requests", "slow"), agent.ClassRateLimited, "requests"},
		{429, said(`"insufficient_quota"`, "insufficient_quota", "pay"), agent.ClassQuota, "insufficient_quota"},
		{429, said(`"billing_hard_limit_reached"`, "", "pay"), agent.ClassQuota, "billing_hard_limit_reached"},
		{429, said(`"invalid_request_error"`, "", "slow"), agent.ClassRateLimited, "invalid_request_error"},
		{429, "too many", agent.ClassRateLimited, ""},
		{402, said(`402`, "", "Insufficient credits"), agent.ClassQuota, ""},
		{401, said(`"invalid_api_key"`, "invalid_request_error", "no"), agent.ClassAuth, "invalid_api_key"},
		{401, said(`null`, "invalid_request_error", "no"), agent.ClassAuth, "invalid_request_error"},
		{403, said(`"unsupported_country_region_territory"`, "request_forbidden", "no"), agent.ClassAuth, "unsupported_country_region_territory"},
		{400, said(`"context_length_exceeded"`, "invalid_request_error", "long"), agent.ClassContextOverflow, "context_length_exceeded"},
		{400, said(`400`, "exceed_context_size_error", "long"), agent.ClassContextOverflow, "exceed_context_size_error"},
		{400, said(`400`, "BadRequestError", "This model's maximum context length is 8 tokens."), agent.ClassContextOverflow, "BadRequestError"},
		{400, `{"object":"error","message":"This model's maximum context length is 8 tokens.","code":400}`, agent.ClassContextOverflow, ""},
		{400, said(`"invalid_request_error"`, "invalid_request_error", "bad"), agent.ClassInvalid, "invalid_request_error"},
		{400, said(`"content_filter"`, "", "no"), agent.ClassFiltered, "content_filter"},
		{400, said(`"content_policy_violation"`, "image_generation_user_error", "no"), agent.ClassFiltered, "content_policy_violation"},
		{400, `{"error":"model is required"}`, agent.ClassInvalid, ""},
		{413, said(`null`, "invalid_request_error", "large"), agent.ClassContextOverflow, "invalid_request_error"},
		{404, said(`"model_not_found"`, "invalid_request_error", "which?"), agent.ClassInvalid, "model_not_found"},
		{404, "404 page not found", agent.ClassInvalid, ""},
		{405, "", agent.ClassInvalid, ""},
		{422, `{"detail":[{"loc":["body"],"msg":"bad"}]}`, agent.ClassInvalid, ""},
		{408, "", agent.ClassTimeout, ""},
		{409, "", agent.ClassOverloaded, ""},
		{500, said(`"server_error"`, "server_error", "oops"), agent.ClassOverloaded, "server_error"},
		{500, said(`null`, "invalid_request_error", "oops"), agent.ClassOverloaded, "invalid_request_error"},
		{501, "", agent.ClassInvalid, ""},
		{502, "<html>bad gateway</html>", agent.ClassOverloaded, ""},
		{503, said(`"slow_down"`, "", "later"), agent.ClassOverloaded, "slow_down"},
		{504, "", agent.ClassOverloaded, ""},
		{529, "", agent.ClassOverloaded, ""},
		{307, "", agent.ClassInvalid, ""},
	} {
		o := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		o.Provider = "acme"
		err := failing(t, Chat("m", o), hello)
		if err.Class != c.want || err.Code != c.code || err.Status != c.status || err.Provider != "acme" {
			t.Errorf("%d %s: got %s %q %d, want %s %q", c.status, c.body, err.Class, err.Code, err.Status, c.want, c.code)
		}
	}
}

// failing returns the one error of a call.
func failing(t *testing.T, m agent.Model, req *agent.Request) *agent.ModelError {
	t.Helper()
	for c, err := range m.Stream(t.Context(), req) {
		var failure *agent.ModelError
		if !errors.As(err, &failure) {
			t.Fatalf("got %+v %v, want a failure", c, err)
		}
		return failure
	}
	t.Fatal("nothing was yielded")
	return nil
}

// Whatever a provider repeats of the request, no secret is in the error.
func TestErrorsHoldNoSecrets(t *testing.T) {
	o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"key %s of %s, masked sk-proj-1***7890 %s"}}`,
			r.Header.Get("Api-Key"), r.Header.Get("Authorization"), r.Header.Get("Api-Key"), strings.Repeat("ü", maxDetail))
	})
	o.Key = func(context.Context, bool) (string, error) { return "fresh-token", nil }
	o.Headers = map[string]string{"Api-Key": "header-secret"}
	err := failing(t, Chat("m", o), hello)
	for _, secret := range []string{"fresh-token", "header-secret", "7890", "sk-proj"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q is in %.200s", secret, err.Error())
		}
	}
	if n := len(err.Detail); n > maxDetail || n < maxDetail-3 || strings.ContainsRune(err.Detail, '\ufffd') {
		t.Errorf("the detail has %d bytes, ending %q", n, err.Detail[n-4:])
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "-3", 0},
		{"Retry-After", "1e300", longestAsk},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "", 0},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:35 GMT", 30 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"Retry-After", "Fri, 02 Jan 2099 03:04:00 GMT", longestAsk},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		h := http.Header{}
		h.Set(c.name, c.value)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %s is %v, want %v", c.name, c.value, got, c.want)
		}
	}
	o := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.Header().Set("Retry-After-Ms", "1500")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	if err := failing(t, Chat("m", o), hello); err.RetryAfter != 1500*time.Millisecond {
		t.Errorf("the error asks for %v", err.RetryAfter)
	}
}

// A token that has run out is asked for once more, not for ever.
func TestKeyIsRefreshed(t *testing.T) {
	valid := "new"
	var sent []string
	o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		body, _ := io.ReadAll(r.Body)
		if sent[len(sent)-1] != "Bearer "+valid || len(body) == 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		say("data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n", 0)(w, r)
	})
	o.Key = func(_ context.Context, refresh bool) (string, error) {
		if refresh {
			return "new", nil
		}
		return "old", nil
	}
	if got := listen(t, Chat("m", o), hello); got != "text \"Hi\"\nfinish stop\n" || len(sent) != 2 {
		t.Errorf("after %q: %s", sent, got)
	}
	valid, sent = "another", nil
	if err := failing(t, Chat("m", o), hello); err.Class != agent.ClassAuth || len(sent) != 2 {
		t.Errorf("after %q: %v", sent, err)
	}
	o.Key, o.APIKey, sent = nil, "old", nil
	if err := failing(t, Chat("m", o), hello); err.Class != agent.ClassAuth || len(sent) != 1 {
		t.Errorf("after %q: %v", sent, err)
	}
	gone := errors.New("no token service")
	o.Key = func(context.Context, bool) (string, error) { return "", gone }
	if err := failing(t, Chat("m", o), hello); err.Class != agent.ClassAuth || !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// The environment's key goes where the environment or the vendor is, nowhere else.
func TestWhoGetsTheKey(t *testing.T) {
	var got http.Header
	o := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	sent := func(o Options) http.Header {
		got = nil
		listen(t, Chat("m", o), hello)
		return got
	}
	t.Setenv(keyVar, "from-env")
	t.Setenv(baseURLVar, "")
	if h := sent(o); h == nil || h["Authorization"] != nil {
		t.Errorf("a foreign server got %v", h)
	}
	t.Setenv(baseURLVar, o.BaseURL)
	if h := sent(Options{HTTPClient: o.HTTPClient}); h.Get("Authorization") != "Bearer from-env" {
		t.Errorf("the server of the environment got %v", h)
	}
	o.APIKey, o.Organization, o.Project = "mine", "org", "proj"
	o.Headers = map[string]string{"X-Title": "shoal", "user-agent": "me"}
	h := sent(o)
	for name, want := range map[string]string{
		"Authorization": "Bearer mine", "Openai-Organization": "org", "Openai-Project": "proj",
		"X-Title": "shoal", "User-Agent": "me", "Content-Type": "application/json", "Accept": "text/event-stream",
	} {
		if h.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, h.Get(name), want)
		}
	}
	t.Setenv(keyVar, "")
	t.Setenv(baseURLVar, "")
	if err := failing(t, Chat("gpt-5-mini"), hello); err.Class != agent.ClassAuth || !strings.Contains(err.Detail, keyVar) {
		t.Errorf("without a key: %v", err)
	}
}

func TestOptions(t *testing.T) {
	t.Setenv(baseURLVar, "")
	for _, c := range []struct {
		model agent.Model
		want  agent.ModelInfo
		url   string
	}{
		{Chat("a"), agent.ModelInfo{Provider: "openai", Name: "a", Address: "api.openai.com:443"}, vendorURL + "/chat/completions"},
		{Responses("a", Options{Window: 8}, Options{BaseURL: "http://h/v1/?v=2", Provider: "p"}), agent.ModelInfo{Provider: "p", Name: "a", Window: 8, Address: "h:80"}, "http://h/v1/responses?v=2"},
		{Ollama("q"), agent.ModelInfo{Provider: "ollama", Name: "q", Address: "127.0.0.1:11434"}, "http://127.0.0.1:11434/v1/chat/completions"},
		{Ollama("q", Options{BaseURL: "https://u:p@[::1]:1/v1"}), agent.ModelInfo{Provider: "ollama", Name: "q", Address: "[::1]:1"}, "https://u:p@[::1]:1/v1/chat/completions"},
	} {
		if got := c.model.Info(); got != c.want || c.model.(*model).url != c.url {
			t.Errorf("got %+v at %s, want %+v at %s", got, c.model.(*model).url, c.want, c.url)
		}
	}
	for _, m := range []agent.Model{
		Chat(""), Chat("a", Options{BaseURL: "h/v1"}), Chat("a", Options{BaseURL: "ftp://h"}), Chat("a", Options{BaseURL: "http://%"}),
	} {
		for _, err := range m.Stream(t.Context(), hello) {
			if shoal.KindOf(err) != shoal.InvalidArgument {
				t.Errorf("got %v", err)
			}
		}
	}
	bad := &agent.Request{Settings: agent.Settings{ProviderOptions: map[string]any{"x": func() {}}}}
	for _, err := range Chat("a", Options{BaseURL: "http://127.0.0.1:1"}).Stream(t.Context(), bad) {
		if shoal.KindOf(err) != shoal.InvalidArgument || !strings.Contains(err.Error(), "request.x") {
			t.Errorf("got %v", err)
		}
	}
}
