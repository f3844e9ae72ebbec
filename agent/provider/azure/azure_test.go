package azure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/azure"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The first event of Azure has what its filter says about the prompt, and no choice.
const (
	filtered = `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}` + "\n\n"
	hi       = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"content_filter_results":{},"finish_reason":null}],"usage":null}` + "\n\n"
	stop     = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}` + "\n\n" +
		`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}` + "\n\ndata: [DONE]\n\n"
	response = `data: {"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress","output":[]}}` + "\n\n" +
		`data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"m","type":"message","status":"in_progress","role":"assistant","content":[]}}` + "\n\n" +
		`data: {"type":"response.output_text.delta","sequence_number":2,"item_id":"m","output_index":0,"content_index":0,"delta":"Hi"}` + "\n\n" +
		`data: {"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"id":"m","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}}` + "\n\n" +
		`data: {"type":"response.completed","sequence_number":4,"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":5,"output_tokens":1,"total_tokens":6}}}` + "\n\n"
)

func noEnvironment(t *testing.T) {
	for _, name := range []string{"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_VERSION"} {
		t.Setenv(name, "")
	}
}

// call is what a request must be.
type call struct{ uri, key, authorization, model string }

func checkCall(t *testing.T, v *wiretest.Vendor, i int, want call) {
	t.Helper()
	r := v.Requests[i]
	var body struct{ Model string }
	if err := json.Unmarshal([]byte(v.Bodies[i]), &body); err != nil {
		t.Fatal(err)
	}
	got := call{r.RequestURI, r.Header.Get("Api-Key"), r.Header.Get("Authorization"), body.Model}
	if got != want || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("request %d: %s %+v, want %+v", i, r.Method, got, want)
	}
}

// A request goes to the path of its API version, with the deployment in it or in the body,
// and with a key or a token.
func TestRequests(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		said := filtered + hi + stop
		if strings.HasSuffix(r.URL.Path, "/responses") {
			said = response
		}
		wiretest.Plays(said)(w, r)
	})
	source := token.Func(func(context.Context) (token.Token, error) {
		return token.Token{Value: "entra", Expires: time.Now().Add(time.Hour)}, nil
	})
	client := openai.Options{HTTPClient: wiretest.NewClient(t)}
	const key, bearer = "az-secret", "Bearer entra"
	for i, c := range []struct {
		model agent.Model
		want  call
	}{
		{azure.Chat("d", azure.Options{Endpoint: v.URL, APIKey: key}, client), call{"/openai/v1/chat/completions", key, "", "d"}},
		{azure.Chat("d", azure.Options{Endpoint: v.URL + "/openai/v1/", Token: source}, client), call{"/openai/v1/chat/completions", "", bearer, "d"}},
		{azure.Chat("d", azure.Options{Endpoint: v.URL, APIKey: key, APIVersion: "preview"}, client), call{"/openai/v1/chat/completions?api-version=preview", key, "", "d"}},
		{azure.Chat("a b", azure.Options{Endpoint: v.URL, APIKey: key, APIVersion: "2024-10-21", Model: "gpt-5"}, client), call{"/openai/deployments/a%20b/chat/completions?api-version=2024-10-21", key, "", "a b"}},
		{azure.Responses("d", azure.Options{Endpoint: v.URL, APIKey: key, Model: "gpt-5"}, client), call{"/openai/v1/responses", key, "", "d"}},
		{azure.Responses("d", azure.Options{Endpoint: v.URL + "/gateway", APIKey: key, APIVersion: "2025-04-01-preview"}, client), call{"/gateway/openai/responses?api-version=2025-04-01-preview", key, "", "d"}},
	} {
		got, err := wiretest.Transcribe(t, c.model, wiretest.Hello())
		if want := "text \"Hi\"\n"; err != nil || !strings.Contains(got, want) || !strings.HasSuffix(got, "finish stop\n") {
			t.Fatalf("%+v: %s, %v", c.want, got, err)
		}
		checkCall(t, v, i, c.want)
	}
}

// The name of the deployed model decides about settings, and is the one in
// [agent.ModelInfo], by which calls are priced.
func TestDeployedModel(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, wiretest.Plays(hi+stop))
	m := azure.Chat("ours", azure.Options{Endpoint: v.URL, Model: "gpt-5"}, openai.Options{HTTPClient: wiretest.NewClient(t), Window: 400_000})
	if got := m.Info(); got.Name != "gpt-5" || got.Provider != "azure.ai.openai" || got.Window != 400_000 {
		t.Errorf("info %+v", got)
	}
	req := wiretest.Hello()
	req.Settings = agent.Settings{MaxOutputTokens: 10, Reasoning: agent.Reasoning{Enabled: true, Effort: "none"}}
	if _, err := wiretest.Transcribe(t, m, req); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"model":"ours"`, `"max_completion_tokens":10`, `"reasoning_effort":"minimal"`} {
		if !strings.Contains(v.Bodies[0], want) {
			t.Errorf("body %s lacks %s", v.Bodies[0], want)
		}
	}
}

// A token that Azure refuses is replaced once, and the error after that has no token in it.
func TestRefusedTokens(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		wiretest.Refuses(401, `{"error":{"code":"401","message":"Access denied with `+r.Header.Get("Authorization")+`"}}`)(w, r)
	})
	n := 0
	source := token.Func(func(context.Context) (token.Token, error) {
		n++
		return token.Token{Value: fmt.Sprintf("secret-%d", n)}, nil
	})
	m := azure.Chat("d", azure.Options{Endpoint: v.URL, Token: source}, openai.Options{HTTPClient: wiretest.NewClient(t)})
	_, err := wiretest.Transcribe(t, m, wiretest.Hello())
	if failure := wiretest.ModelError(t, err); failure.Class != agent.ClassAuth || strings.Contains(err.Error(), "secret-") {
		t.Errorf("error %v, class %s", err, failure.Class)
	}
	for i, want := range []string{"Bearer secret-1", "Bearer secret-2"} {
		checkCall(t, v, i, call{"/openai/v1/chat/completions", "", want, "d"})
	}
	if len(v.Requests) != 2 {
		t.Errorf("%d requests, want 2", len(v.Requests))
	}
	down := errors.New("down")
	m = azure.Chat("d", azure.Options{Endpoint: v.URL, Token: token.Func(func(context.Context) (token.Token, error) { return token.Token{}, down })})
	_, err = wiretest.Transcribe(t, m, wiretest.Hello())
	if failure := wiretest.ModelError(t, err); failure.Class != agent.ClassAuth || !errors.Is(err, down) || len(v.Requests) != 2 {
		t.Errorf("a source that fails: %v after %d requests", err, len(v.Requests))
	}
}

func TestRefusals(t *testing.T) {
	noEnvironment(t)
	for _, c := range []struct {
		status int
		body   string
		header []string
		class  agent.ErrorClass
		wait   time.Duration
	}{
		{429, `{"error":{"code":"429","message":"Requests have exceeded the token rate limit. Please retry after 6 seconds."}}`, []string{"Retry-After", "6"}, agent.ClassRateLimited, 6 * time.Second},
		{429, `{"error":{"code":"too_many_requests","message":"slow"}}`, []string{"Retry-After-Ms", "250"}, agent.ClassRateLimited, 250 * time.Millisecond},
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, nil, agent.ClassInvalid, 0},
		{400, `{"error":{"code":"content_filter","message":"filtered","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, nil, agent.ClassFiltered, 0},
		{400, `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8"}}`, nil, agent.ClassContextOverflow, 0},
		{403, `{"error":{"code":"403","message":"Public access is disabled."}}`, nil, agent.ClassAuth, 0},
		{503, `<html>`, nil, agent.ClassOverloaded, 0},
	} {
		v := wiretest.NewVendor(t, wiretest.Refuses(c.status, c.body, c.header...))
		_, err := wiretest.Transcribe(t, azure.Chat("d", azure.Options{Endpoint: v.URL}, openai.Options{HTTPClient: wiretest.NewClient(t)}), wiretest.Hello())
		if f := wiretest.ModelError(t, err); f.Class != c.class || f.RetryAfter != c.wait || f.Status != c.status || f.Provider != azure.Provider {
			t.Errorf("%s: %+v, want %s after %v", c.body, f, c.class, c.wait)
		}
	}
}

// A stream that is cut anywhere before its end is an error.
func TestCutStreams(t *testing.T) {
	noEnvironment(t)
	transcript := filtered + hi + stop
	end := len(filtered) + len(hi) + strings.Index(stop, "\n\n") // the reason to finish has come
	client := wiretest.NewClient(t)
	cut := 0
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) { wiretest.Plays(transcript[:cut])(w, r) })
	for ; cut < end-2; cut += 7 {
		got, err := wiretest.Transcribe(t, azure.Chat("d", azure.Options{Endpoint: v.URL}, openai.Options{HTTPClient: client}), wiretest.Hello())
		if err == nil {
			t.Fatalf("cut at %d of %d: %s", cut, end, got)
		}
	}
}

// An agent calls its tool, and sends the result to the deployment.
func TestToolCalls(t *testing.T) {
	noEnvironment(t)
	const calls = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"now","arguments":"{}"}}]},"finish_reason":null}]}` + "\n\n" +
		`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	answers := []string{filtered + calls, filtered + hi + stop}
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[0]) // a reader notices a cut
		answers = answers[1:]
	})
	a, err := agent.New(azure.Chat("d", azure.Options{Endpoint: v.URL}, openai.Options{HTTPClient: wiretest.NewClient(t)}), agent.Options{
		Tools: []agent.Tool{agent.Func("now", "", func(context.Context, struct{}) (string, error) { return "noon", nil })},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Ask(t.Context(), "the time?"); err != nil || got != "Hi" || !strings.Contains(v.Bodies[1], `{"role":"tool","content":"noon","tool_call_id":"call_1"}`) {
		t.Errorf("%q, %v, the last body %s", got, err, v.Bodies[len(v.Bodies)-1])
	}
}

func TestInvalidOptions(t *testing.T) {
	noEnvironment(t)
	source := token.Func(func(context.Context) (token.Token, error) { return token.Token{}, nil })
	for _, c := range []struct {
		model agent.Model
		want  string
	}{
		{azure.Chat("", azure.Options{Endpoint: "http://h"}), "deployment must name"},
		{azure.Chat("d", azure.Options{}), "AZURE_OPENAI_ENDPOINT"},
		{azure.Chat("d", azure.Options{Endpoint: "h"}), "http or https URL"},
		{azure.Chat("d", azure.Options{Endpoint: "://"}), "Endpoint must be the URL"},
		{azure.Chat("d", azure.Options{Endpoint: "http://h", APIVersion: "v2"}), "APIVersion must be"},
		{azure.Chat("d", azure.Options{Endpoint: "http://h", APIKey: "k", Token: source}), "Token cannot be combined"},
		{azure.Responses("d", azure.Options{Endpoint: "http://h"}, openai.Options{BaseURL: "http://i"}), "cannot have APIKey, Key, BaseURL"},
		{azure.Responses("d", azure.Options{Endpoint: "https://shop.openai.azure.com"}), "no API key: set the environment variable AZURE_OPENAI_API_KEY"},
		{azure.Chat("d", azure.Options{Endpoint: "http://h"}, openai.Options{HostedTools: []openai.HostedTool{openai.WebSearch{}}}), "tools of the Responses API"},
	} {
		if _, err := wiretest.Transcribe(t, c.model, wiretest.Hello()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// The key in the environment goes to the endpoint in the environment, and to nobody else.
func TestEnvironment(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, wiretest.Plays(hi+stop))
	t.Setenv("AZURE_OPENAI_ENDPOINT", v.URL)
	t.Setenv("AZURE_OPENAI_API_KEY", "env-secret")
	t.Setenv("AZURE_OPENAI_API_VERSION", "2024-10-21")
	client := openai.Options{HTTPClient: wiretest.NewClient(t)}
	for i, c := range []struct {
		options azure.Options
		want    call
	}{
		{azure.Options{}, call{"/openai/deployments/d/chat/completions?api-version=2024-10-21", "env-secret", "", "d"}},
		{azure.Options{APIKey: "own"}, call{"/openai/deployments/d/chat/completions?api-version=2024-10-21", "own", "", "d"}},
		{azure.Options{Endpoint: v.URL}, call{"/openai/v1/chat/completions", "", "", "d"}},
	} {
		if _, err := wiretest.Transcribe(t, azure.Chat("d", c.options, client), wiretest.Hello()); err != nil {
			t.Fatal(err)
		}
		checkCall(t, v, i, c.want)
	}
}

// Credentials of an app registration are exchanged for a token.
func TestSecret(t *testing.T) {
	var answer http.HandlerFunc
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) { answer(w, r) })
	s := azure.Secret{Tenant: "contoso", ClientID: "app", ClientSecret: "hush+hush", Authority: v.URL + "/", HTTPClient: wiretest.NewClient(t)}
	answer = wiretest.Refuses(200, `{"token_type":"Bearer","expires_in":3599,"access_token":"entra"}`)
	got, err := s.Token(t.Context())
	if left := time.Until(got.Expires); err != nil || got.Value != "entra" || left < 3590*time.Second || left > time.Hour {
		t.Errorf("token %+v, %v", got, err)
	}
	if v.Requests[0].URL.Path != "/contoso/oauth2/v2.0/token" || v.Bodies[0] != "client_id=app&client_secret=hush%2Bhush&grant_type=client_credentials&scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default" {
		t.Errorf("request %s %s", v.Requests[0].URL, v.Bodies[0])
	}
	for _, c := range []struct {
		status int
		body   string
		class  agent.ErrorClass
	}{
		{401, `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided.\r\nTrace ID: 1"}`, agent.ClassAuth},
		{400, `{"error":"unauthorized_client"}`, agent.ClassAuth},
		{503, `busy`, agent.ClassOverloaded},
		{302, ``, agent.ClassAuth},
		{200, `{"access_token":"x"}`, agent.ClassMalformed},
		{200, `{"access_token":"","expires_in":"30"}`, agent.ClassMalformed},
		{200, `{"access_token":"x","expires_in":-1}`, agent.ClassMalformed},
		{200, `busy`, agent.ClassMalformed},
	} {
		answer = wiretest.Refuses(c.status, c.body, "Location", "http://127.0.0.1:1/")
		_, err := s.Token(t.Context())
		if f := wiretest.ModelError(t, err); f.Class != c.class || strings.Contains(err.Error(), "Trace ID") {
			t.Errorf("%s: %v, class %s, want %s", c.body, err, f.Class, c.class)
		}
	}
}
