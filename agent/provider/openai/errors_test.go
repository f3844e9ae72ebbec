package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

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
		{400, said(`null`, "invalid_request_error", "Your input exceeds the context window of this model."), agent.ClassContextOverflow, "invalid_request_error"},
		{400, said(`400`, "BadRequestError", "The prompt is longer than the maximum model length of 8 tokens."), agent.ClassContextOverflow, "BadRequestError"},
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

// Each request has the current key, the organization and project, and the user's
// headers, which override all others.
func TestHeaders(t *testing.T) {
	var sent []http.Header
	o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if sent = append(sent, r.Header); len(sent) == 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		say("data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n", 0)(w, r)
	})
	o.Key = func(_ context.Context, refresh bool) (string, error) { return fmt.Sprint("fresh-", refresh), nil }
	o.Organization, o.Project = "org", "proj"
	o.Headers = map[string]string{"X-Title": "shoal", "user-agent": "me"}
	if got := listen(t, Chat("m", o), hello); got != "text \"Hi\"\nfinish stop\n" || len(sent) != 2 {
		t.Fatalf("after %v: %s", sent, got)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer fresh-true", "Openai-Organization": "org", "Openai-Project": "proj",
		"X-Title": "shoal", "User-Agent": "me", "Content-Type": "application/json", "Accept": "text/event-stream",
	} {
		if got := sent[1].Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
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
		model  agent.Model
		want   agent.ModelInfo
		url    string
		modern bool
	}{
		{Chat("a"), agent.ModelInfo{Provider: "openai", Name: "a", Address: "api.openai.com:443"}, vendorURL + "/chat/completions", true},
		{Chat("a", Options{BaseURL: "https://me.openai.azure.com/v1"}), agent.ModelInfo{Provider: "openai", Name: "a", Address: "me.openai.azure.com:443"}, "https://me.openai.azure.com/v1/chat/completions", true},
		{Responses("a", Options{Window: 8}, Options{BaseURL: "http://h/v1/?v=2", Provider: "p"}), agent.ModelInfo{Provider: "p", Name: "a", Window: 8, Address: "h:80"}, "http://h/v1/responses?v=2", false},
		{Ollama("q"), agent.ModelInfo{Provider: "ollama", Name: "q", Address: "127.0.0.1:11434"}, "http://127.0.0.1:11434/v1/chat/completions", false},
		{Ollama("q", Options{BaseURL: "https://u:p@[::1]:1/v1"}), agent.ModelInfo{Provider: "ollama", Name: "q", Address: "[::1]:1"}, "https://u:p@[::1]:1/v1/chat/completions", false},
	} {
		m := c.model.(*model)
		if url := m.URL(m.api.path).String(); m.Info() != c.want || url != c.url || m.modern != c.modern {
			t.Errorf("got %+v at %s, modern %v, want %+v at %s", m.Info(), url, m.modern, c.want, c.url)
		}
	}
	bad := &agent.Request{Settings: agent.Settings{ProviderOptions: map[string]any{"x": func() {}}}}
	for _, m := range []agent.Model{Chat(""), Chat("a", Options{BaseURL: "h/v1"}), Chat("a", Options{BaseURL: "http://127.0.0.1:1"})} {
		for _, err := range m.Stream(t.Context(), bad) {
			if agent.KindOf(err) != agent.ErrInvalidArgument {
				t.Errorf("got %v", err)
			}
		}
	}
}
