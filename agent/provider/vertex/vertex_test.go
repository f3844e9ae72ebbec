package vertex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/google"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
	"github.com/shoal-dev/shoal/agent/provider/token"
	"github.com/shoal-dev/shoal/agent/provider/vertex"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	gemini = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]}}]}` + "\r\n\r\n" +
		`data: {"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1,"trafficType":"ON_DEMAND"}}` + "\r\n\r\n"
	geminiCalls = `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"now","args":{}},"thoughtSignature":"QUJD"}]},"finishReason":"STOP"}]}` + "\r\n\r\n"
	begin       = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
	end         = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	claude      = begin +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n" + end
	claudeCalls = begin +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"now\",\"input\":{}}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\n\n" + end
)

func noEnvironment(t *testing.T) {
	for _, name := range []string{"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "GCE_METADATA_HOST"} {
		t.Setenv(name, "")
	}
}

var source = token.Func(func(context.Context) (token.Token, error) {
	return token.Token{Value: "tok", Expires: time.Now().Add(time.Hour)}, nil
})

// models returns both models of a server.
func models(t *testing.T, v *wiretest.Vendor, o vertex.Options) (g, c agent.Model) {
	client := wiretest.NewClient(t)
	return vertex.Gemini("gemini-2.5-flash", o, google.Options{BaseURL: v.URL, HTTPClient: client}),
		vertex.Claude("claude-sonnet-4-5@20250929", o, anthropic.Options{BaseURL: v.URL, HTTPClient: client})
}

// plays answers a request in the wire of its publisher.
func plays(google, anthropic string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/publishers/anthropic/") {
			google = anthropic
		}
		wiretest.Plays(google)(w, r)
	}
}

// A request goes to the path of its project, location and publisher, with a token or a key.
func TestRequests(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, wiretest.Plays(gemini))
	o := vertex.Options{Project: "shop", Location: "europe-west4", Token: source}
	g := func(name string, o vertex.Options) agent.Model {
		return vertex.Gemini(name, o, google.Options{BaseURL: v.URL, HTTPClient: wiretest.NewClient(t)})
	}
	type call struct{ uri, authorization, key string }
	for i, c := range []struct {
		model agent.Model
		want  call
	}{
		{g("gemini-2.5-flash", o), call{"/v1/projects/shop/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "Bearer tok", ""}},
		{g("projects/shop/locations/us-east1/endpoints/12", o), call{"/v1/projects/shop/locations/us-east1/endpoints/12:streamGenerateContent?alt=sse", "Bearer tok", ""}},
		{g("gemini-2.5-flash", vertex.Options{APIKey: "express"}), call{"/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "", "express"}},
	} {
		if got, err := wiretest.Transcribe(t, c.model, wiretest.Hello()); err != nil || !strings.HasSuffix(got, "finish stop\n") {
			t.Fatalf("%+v: %s, %v", c.want, got, err)
		}
		r := v.Requests[i]
		if got := (call{r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("X-Goog-Api-Key")}); got != c.want || r.Method != http.MethodPost {
			t.Errorf("%s %+v, want %+v", r.Method, got, c.want)
		}
	}
}

// A request for Claude has no model in its body, the version of the wire there and not in a
// header, and otherwise the bytes that Anthropic gets.
func TestClaudeRequest(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, wiretest.Plays(claude))
	_, m := models(t, v, vertex.Options{Project: "shop", Location: "us-east5", Token: source})
	more := anthropic.Options{BaseURL: v.URL, HTTPClient: wiretest.NewClient(t), HostedTools: []anthropic.HostedTool{anthropic.CodeExecution{}}}
	hosted := vertex.Claude("claude-sonnet-4-5", vertex.Options{Project: "shop", Token: source}, more)
	direct := anthropic.New("claude-sonnet-4-5@20250929", anthropic.Options{BaseURL: v.URL, APIKey: "k", HTTPClient: wiretest.NewClient(t)})
	req := wiretest.Hello()
	req.Settings.Reasoning = agent.Reasoning{Enabled: true, BudgetTokens: 2048}
	for _, m := range []agent.Model{m, direct, hosted} {
		if got, err := wiretest.Transcribe(t, m, req); err != nil || !strings.Contains(got, `text "Hi"`) {
			t.Fatalf("%s, %v", got, err)
		}
	}
	r := v.Requests[0]
	if r.RequestURI != "/v1/projects/shop/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict" || r.Header.Get("Authorization") != "Bearer tok" ||
		r.Header.Get("Anthropic-Version") != "" || r.Header.Get("X-Api-Key") != "" {
		t.Errorf("request %s %v", r.RequestURI, r.Header)
	}
	want := strings.Replace(v.Bodies[1], `"model":"claude-sonnet-4-5@20250929",`, "", 1)
	if got := strings.Replace(v.Bodies[0], `"anthropic_version":"vertex-2023-10-16",`, "", 1); got != want || got == v.Bodies[0] {
		t.Errorf("body %s\nwant %s and the version", v.Bodies[0], want)
	}
	if !strings.Contains(v.Bodies[0], `"stream":true`) {
		t.Errorf("body %s does not stream", v.Bodies[0])
	}
	if r := v.Requests[2]; !strings.Contains(r.RequestURI, "/locations/global/") || r.Header.Get("Anthropic-Beta") == "" || strings.Contains(v.Bodies[2], "anthropic_beta") {
		t.Errorf("request with a hosted tool: %s %v %s", r.RequestURI, r.Header, v.Bodies[2])
	}
}

func TestAddresses(t *testing.T) {
	noEnvironment(t)
	for location, want := range map[string]string{
		"": "aiplatform.googleapis.com:443", "global": "aiplatform.googleapis.com:443", "eu": "aiplatform.eu.rep.googleapis.com:443", "us-east5": "us-east5-aiplatform.googleapis.com:443",
	} {
		o := vertex.Options{Project: "shop", Location: location, Token: source}
		for _, m := range []agent.Model{vertex.Gemini("g", o), vertex.Claude("claude-x", o, anthropic.Options{Window: 8})} {
			if got := m.Info(); got.Address != want || got.Provider != "gcp.vertex_ai" {
				t.Errorf("location %q: %+v, want %s", location, got, want)
			}
		}
	}
	t.Setenv("GOOGLE_CLOUD_LOCATION", "europe-west1")
	if got := vertex.Gemini("g", vertex.Options{Project: "shop", Token: source}).Info().Address; got != "europe-west1-aiplatform.googleapis.com:443" {
		t.Errorf("address %s with the location in the environment", got)
	}
}

func TestRefusals(t *testing.T) {
	noEnvironment(t)
	const quota = `{"error":{"code":429,"message":"Resource exhausted.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}`
	for _, c := range []struct {
		status int
		body   string
		header []string
		class  agent.ErrorClass
		wait   time.Duration
		code   string
	}{
		{429, quota, nil, agent.ClassRateLimited, 7 * time.Second, "RESOURCE_EXHAUSTED"},
		{429, "[" + quota + "]", []string{"Retry-After", "9"}, agent.ClassRateLimited, 9 * time.Second, "RESOURCE_EXHAUSTED"},
		{403, `{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED"}}`, nil, agent.ClassAuth, 0, "PERMISSION_DENIED"},
		{404, `{"error":{"code":404,"message":"Publisher Model was not found","status":"NOT_FOUND"}}`, nil, agent.ClassInvalid, 0, "NOT_FOUND"},
		{503, `busy`, nil, agent.ClassOverloaded, 0, ""},
	} {
		v := wiretest.NewVendor(t, wiretest.Refuses(c.status, c.body, c.header...))
		g, cl := models(t, v, vertex.Options{Project: "shop", Token: source})
		for _, m := range []agent.Model{g, cl} {
			_, err := wiretest.Transcribe(t, m, wiretest.Hello())
			if f := wiretest.ModelError(t, err); f.Class != c.class || f.RetryAfter != c.wait || f.Code != c.code || f.Provider != vertex.Provider {
				t.Errorf("%s: %+v, want %s after %v", c.body, f, c.class, c.wait)
			}
		}
	}
	// Claude's own words arrive as they are.
	v := wiretest.NewVendor(t, wiretest.Refuses(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`))
	_, cl := models(t, v, vertex.Options{Project: "shop", Token: source})
	_, err := wiretest.Transcribe(t, cl, wiretest.Hello())
	if f := wiretest.ModelError(t, err); f.Class != agent.ClassContextOverflow {
		t.Errorf("a prompt that is too long: %+v", f)
	}
}

// A refused token is replaced once, and is in no error.
func TestRefusedTokens(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		wiretest.Refuses(401, fmt.Sprintf(`{"error":{"code":401,"message":"bad %s","status":"UNAUTHENTICATED"}}`, r.Header.Get("Authorization")))(w, r)
	})
	n := 0
	o := vertex.Options{Project: "shop", Token: token.Func(func(context.Context) (token.Token, error) {
		n++
		return token.Token{Value: fmt.Sprintf("secret-%d", n)}, nil
	})}
	g, c := models(t, v, o)
	for i, m := range []agent.Model{g, c} {
		_, err := wiretest.Transcribe(t, m, wiretest.Hello())
		if f := wiretest.ModelError(t, err); f.Class != agent.ClassAuth || strings.Contains(err.Error(), "secret-") || n != 2*(i+1) {
			t.Errorf("%v after %d tokens", err, n)
		}
	}
}

// A stream that is cut anywhere, or has a failure in it, is an error.
func TestCutStreams(t *testing.T) {
	noEnvironment(t)
	cut := 0
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		google, anthropic := gemini, claude
		plays(google[:min(cut, strings.Index(google, `"STOP"`))], anthropic[:min(cut, len(anthropic)-2)])(w, r)
	})
	g, c := models(t, v, vertex.Options{Project: "shop", Token: source})
	for ; cut < len(claude); cut += 17 {
		for _, m := range []agent.Model{g, c} {
			if got, err := wiretest.Transcribe(t, m, wiretest.Hello()); err == nil {
				t.Fatalf("cut at %d: %s", cut, got)
			}
		}
	}
	failing := wiretest.NewVendor(t, plays(
		strings.Replace(gemini, `{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}],`, `{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"},`, 1),
		begin+"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"))
	g, c = models(t, failing, vertex.Options{Project: "shop", Token: source})
	for _, m := range []agent.Model{g, c} {
		_, err := wiretest.Transcribe(t, m, wiretest.Hello())
		if f := wiretest.ModelError(t, err); f.Class != agent.ClassOverloaded {
			t.Errorf("a failure in mid-stream: %+v", f)
		}
	}
}

// Agents call their tools; the signature of Gemini's call goes back to where it came from,
// and not to Google's other API.
func TestToolCalls(t *testing.T) {
	noEnvironment(t)
	n := 0
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n%2 == 1 {
			plays(geminiCalls, claudeCalls)(w, r)
			return
		}
		plays(gemini, claude)(w, r)
	})
	g, c := models(t, v, vertex.Options{Project: "shop", Token: source})
	var conversations []*agent.Conversation
	for i, m := range []agent.Model{g, c} {
		a, err := agent.New(m, agent.Options{
			Tools: []agent.Tool{agent.Func("now", "", func(context.Context, struct{}) (string, error) { return "noon", nil })},
		})
		if err != nil {
			t.Fatal(err)
		}
		conversations = append(conversations, agent.NewConversation())
		r, err := a.Run(t.Context(), conversations[i], agent.Say("the time?"))
		if err != nil || r.Text() != "Hi" || !strings.Contains(v.Bodies[2*i+1], "noon") {
			t.Fatalf("%+v, %v, the last body %s", r, err, v.Bodies[len(v.Bodies)-1])
		}
	}
	if !strings.Contains(v.Bodies[1], `"thoughtSignature":"QUJD"`) {
		t.Errorf("the signature did not go back: %s", v.Bodies[1])
	}
	messages, err := conversations[0].Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := google.New("gemini-2.5-flash", google.Options{BaseURL: v.URL, APIKey: "k", HTTPClient: wiretest.NewClient(t)})
	if _, err := wiretest.Transcribe(t, other, &agent.Request{Messages: append(messages, agent.Say("thanks"))}); err != nil || strings.Contains(v.Bodies[4], "QUJD") {
		t.Errorf("%v, Google's other API got %s", err, v.Bodies[4])
	}
}

func TestInvalidOptions(t *testing.T) {
	noEnvironment(t)
	o := vertex.Options{Project: "shop", Token: source}
	with := func(f func(o *vertex.Options)) vertex.Options {
		o := o
		f(&o)
		return o
	}
	for _, c := range []struct {
		model agent.Model
		want  string
	}{
		{vertex.Gemini("", o), "model must name"},
		{vertex.Claude("", o), "model must name"},
		{vertex.Gemini("../x", o), "must not hold"},
		{vertex.Gemini("g", vertex.Options{}), "GOOGLE_CLOUD_PROJECT"},
		{vertex.Claude("c", vertex.Options{Project: "shop"}), "no token: set Options.Token"},
		{vertex.Claude("c", with(func(o *vertex.Options) { o.Location = "evil.example/" })), "Location must be"},
		{vertex.Claude("c", with(func(o *vertex.Options) { o.Project = "../x" })), "Project must be"},
		{vertex.Gemini("g", with(func(o *vertex.Options) { o.APIKey = "k" })), "Token cannot be combined"},
		{vertex.Claude("c", vertex.Options{APIKey: "k"}), "APIKey is for Gemini only"},
		{vertex.Gemini("g", o, google.Options{APIKey: "k"}), "cannot have APIKey or Key"},
		{vertex.Claude("c", o, anthropic.Options{APIKey: "k"}), "cannot have APIKey or Key"},
	} {
		if _, err := wiretest.Transcribe(t, c.model, wiretest.Hello()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// decode reads a part of a JWT.
func decode(t *testing.T, raw []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func write(w http.ResponseWriter, text string) { _, _ = io.WriteString(w, text) } // a reader notices a cut
