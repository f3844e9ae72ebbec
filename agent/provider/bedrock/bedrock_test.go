package bedrock_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
	"github.com/shoal-dev/shoal/agent/provider/bedrock"
	"github.com/shoal-dev/shoal/agent/provider/bedrock/internal/frametest"
	"github.com/shoal-dev/shoal/agent/provider/bedrock/internal/sigv4"
	"github.com/shoal-dev/shoal/agent/provider/internal/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	model  = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	path   = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream"
	region = "eu-central-1"
)

var keys = bedrock.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI", SessionToken: "session-secret", Expires: time.Now().Add(time.Hour)}

// events are those of an answer.
var (
	begin = `{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}`
	text  = []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi \ud83d"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00"}}`,
		`{"type":"content_block_stop","index":0}`,
	}
	call = []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"The clock."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"now","input":{}}}`,
		`{"type":"content_block_stop","index":1}`,
	}
)

func answer(reason string, blocks []string) [][]byte {
	var frames [][]byte
	for _, event := range slices.Concat([]string{begin}, blocks, []string{
		`{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":3}}`,
		`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":5,"outputTokenCount":3}}`,
	}) {
		frames = append(frames, frametest.Chunk(event))
	}
	return frames
}

func plays(frames ...[]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(bytes.Join(frames, nil)) // a reader notices a cut
	}
}

func noEnvironment(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "ANTHROPIC_API_KEY"} {
		t.Setenv(name, "")
	}
}

func claude(t *testing.T, v *wiretest.Vendor, o bedrock.Options) agent.Model {
	if o.Region == "" {
		o.Region = region
	}
	return bedrock.Claude(model, o, anthropic.Options{BaseURL: v.URL, HTTPClient: wiretest.NewClient(t)})
}

// signed checks the signature of a request as AWS does: from what has arrived.
func signed(t *testing.T, r *http.Request, body string, c bedrock.Credentials) {
	t.Helper()
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("signed at %q", r.Header.Get("X-Amz-Date"))
	}
	again, err := http.NewRequestWithContext(t.Context(), r.Method, "http://"+r.Host+r.RequestURI, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range r.Header {
		if name != "Authorization" {
			again.Header[name] = values
		}
	}
	sigv4.Sign(again, []byte(body), sigv4.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken}, region, "bedrock", at)
	for _, name := range []string{"Authorization", "X-Amz-Security-Token"} {
		if got, want := r.Header.Get(name), again.Header.Get(name); got != want {
			t.Errorf("%s %s\nwant %s", name, got, want)
		}
	}
}

// A request is signed as it is sent, has no model in its body, and otherwise the bytes that
// Anthropic gets.
func TestRequest(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			wiretest.Plays("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")(w, r)
			return
		}
		plays(answer("end_turn", text)...)(w, r)
	})
	req := wiretest.Hello()
	req.Settings.Reasoning = agent.Reasoning{Enabled: true, BudgetTokens: 2048}
	got, err := wiretest.Transcribe(t, claude(t, v, bedrock.Options{Credentials: bedrock.Static(keys)}), req)
	if want := "usage in=5 cached=0 written=0 out=1 thoughts=0\ntext \"Hi \"\ntext \"😀\"\n"; err != nil || !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "finish stop\n") {
		t.Fatalf("%s, %v", got, err)
	}
	r := v.Requests[0]
	if r.RequestURI != path || r.Header.Get("Accept") != "application/vnd.amazon.eventstream" || r.Header.Get("Anthropic-Version") != "" || r.Header.Get("X-Amz-Security-Token") != keys.SessionToken {
		t.Errorf("request %s %v", r.RequestURI, r.Header)
	}
	signed(t, r, v.Bodies[0], keys)
	if _, err := wiretest.Transcribe(t, anthropic.New(model, anthropic.Options{BaseURL: v.URL, APIKey: "k", HTTPClient: wiretest.NewClient(t)}), req); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"model":"`+model+`",`, "", `,"stream":true`, "").Replace(v.Bodies[1])
	if got := strings.Replace(v.Bodies[0], `"anthropic_version":"bedrock-2023-05-31",`, "", 1); got != want || got == v.Bodies[0] {
		t.Errorf("body %s\nwant %s and the version", v.Bodies[0], want)
	}
}

// An API key goes as a bearer token, without a signature. The ARN of a profile is one segment
// of the path, and Model names its model.
func TestAPIKeyAndProfile(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, plays(answer("end_turn", text)...))
	const arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"
	m := bedrock.Claude(arn, bedrock.Options{Region: region, APIKey: "bedrock-secret", Model: "claude-opus-5"}, anthropic.Options{BaseURL: v.URL + "/gateway/", HTTPClient: wiretest.NewClient(t), HostedTools: []anthropic.HostedTool{anthropic.CodeExecution{}}})
	if got, err := wiretest.Transcribe(t, m, wiretest.Hello()); err != nil {
		t.Fatal(got, err)
	}
	r := v.Requests[0]
	if r.RequestURI != "/gateway/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/invoke-with-response-stream" ||
		r.Header.Get("Authorization") != "Bearer bedrock-secret" || r.Header.Get("X-Amz-Date") != "" || r.Header.Get("Anthropic-Beta") != "" {
		t.Errorf("request %s %v", r.RequestURI, r.Header)
	}
	if !strings.Contains(v.Bodies[0], `"anthropic_beta":["code-execution-2025-08-25"]`) {
		t.Errorf("body %s lacks the beta", v.Bodies[0])
	}
	if got := m.Info(); got.Name != "claude-opus-5" || got.Provider != bedrock.Provider {
		t.Errorf("info %+v", got)
	}
}

// An agent calls its tool; the result and the signed thoughts go back.
func TestToolCalls(t *testing.T) {
	noEnvironment(t)
	answers := [][][]byte{answer("tool_use", call), answer("end_turn", text)}
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		plays(answers[0]...)(w, r)
		answers = answers[1:]
	})
	a, err := agent.New(claude(t, v, bedrock.Options{Credentials: bedrock.Static(keys)}), agent.Options{
		Tools: []agent.Tool{agent.Func("now", "", func(context.Context, struct{}) (string, error) { return "noon", nil })},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Ask(t.Context(), "the time?")
	if err != nil || got != "Hi 😀" {
		t.Fatalf("%q, %v", got, err)
	}
	for _, want := range []string{`"signature":"c2lnbmVk"`, `"tool_use_id":"toolu_1"`, "noon"} {
		if !strings.Contains(v.Bodies[1], want) {
			t.Errorf("body %s lacks %s", v.Bodies[1], want)
		}
	}
	signed(t, v.Requests[1], v.Bodies[1], keys)
}

func TestRefusals(t *testing.T) {
	noEnvironment(t)
	for _, c := range []struct {
		status     int
		kind, body string
		header     []string
		class      agent.ErrorClass
		wait       time.Duration
		code       string
	}{
		{429, "ThrottlingException:http://internal.amazon.com/", `{"message":"Too many requests"}`, []string{"Retry-After", "3"}, agent.ClassRateLimited, 3 * time.Second, "ThrottlingException"},
		{429, "", `{"__type":"com.amazon.coral.availability#ThrottlingException","Message":"slow"}`, nil, agent.ClassRateLimited, 0, "ThrottlingException"},
		{429, "ModelNotReadyException", `{"message":"wait"}`, nil, agent.ClassOverloaded, 0, "ModelNotReadyException"},
		{400, "ServiceQuotaExceededException", `{"message":"no"}`, nil, agent.ClassQuota, 0, "ServiceQuotaExceededException"},
		{400, "ValidationException", `{"message":"The provided model identifier is invalid."}`, nil, agent.ClassInvalid, 0, "ValidationException"},
		{400, "ValidationException", `{"message":"prompt is too long: 9 tokens > 8 maximum"}`, nil, agent.ClassContextOverflow, 0, "ValidationException"},
		{400, "ValidationException", `{"message":"Input is too long for requested model."}`, nil, agent.ClassContextOverflow, 0, "ValidationException"},
		{403, "AccessDeniedException", `{"message":"You don't have access to the model"}`, nil, agent.ClassAuth, 0, "AccessDeniedException"},
		{404, "ResourceNotFoundException", `{"message":"no"}`, nil, agent.ClassInvalid, 0, "ResourceNotFoundException"},
		{408, "ModelTimeoutException", `{"message":"late"}`, nil, agent.ClassTimeout, 0, "ModelTimeoutException"},
		{424, "ModelErrorException", `{"message":"oops","originalStatusCode":500}`, nil, agent.ClassOverloaded, 0, "ModelErrorException"},
		{503, "", `<html>`, nil, agent.ClassOverloaded, 0, ""},
	} {
		v := wiretest.NewVendor(t, wiretest.Refuses(c.status, c.body, append(c.header, "X-Amzn-ErrorType", c.kind)...))
		_, err := wiretest.Transcribe(t, claude(t, v, bedrock.Options{Credentials: bedrock.Static(keys)}), wiretest.Hello())
		if f := wiretest.ModelError(t, err); f.Class != c.class || f.RetryAfter != c.wait || f.Code != c.code || f.Status != c.status || f.Provider != bedrock.Provider || len(v.Requests) != 1 {
			t.Errorf("%s %s: %+v after %d requests, want %s", c.kind, c.body, f, len(v.Requests), c.class)
		}
	}
}

// Credentials that have ended are replaced once. No secret is in an error, though AWS repeats
// what it has received.
func TestExpiredCredentials(t *testing.T) {
	noEnvironment(t)
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) {
		wiretest.Refuses(403, fmt.Sprintf(`{"message":"expired: %s"}`, r.Header.Get("X-Amz-Security-Token")), "X-Amzn-ErrorType", "ExpiredTokenException")(w, r)
	})
	var made []bedrock.Credentials
	source := bedrock.Func(func(context.Context) (bedrock.Credentials, error) {
		c := keys
		c.SessionToken, c.Expires = fmt.Sprintf("session-secret-%d", len(made)), time.Time{}
		made = append(made, c)
		return c, nil
	})
	_, err := wiretest.Transcribe(t, claude(t, v, bedrock.Options{Credentials: source}), wiretest.Hello())
	if f := wiretest.ModelError(t, err); f.Class != agent.ClassAuth || strings.Contains(err.Error(), "session-secret") || len(v.Requests) != 2 {
		t.Fatalf("%v after %d requests", err, len(v.Requests))
	}
	for i, r := range v.Requests {
		signed(t, r, v.Bodies[i], made[i])
	}
	down := errors.New("down")
	for _, failing := range []bedrock.Func{
		func(context.Context) (bedrock.Credentials, error) { return bedrock.Credentials{}, down },
		func(context.Context) (bedrock.Credentials, error) { return bedrock.Credentials{}, nil },
	} {
		_, err = wiretest.Transcribe(t, claude(t, v, bedrock.Options{Credentials: failing}), wiretest.Hello())
		if f := wiretest.ModelError(t, err); f.Class != agent.ClassAuth || len(v.Requests) != 2 {
			t.Errorf("a source without credentials: %v", err)
		}
	}
}

// Failures in mid-stream, cuts at every byte, and frames that are not right are errors.
func TestBrokenStreams(t *testing.T) {
	noEnvironment(t)
	var stream []byte
	v := wiretest.NewVendor(t, func(w http.ResponseWriter, r *http.Request) { plays(stream)(w, r) })
	m := claude(t, v, bedrock.Options{Credentials: bedrock.Static(keys)})
	first := bytes.Join(answer("end_turn", text)[:3], nil)
	flipped := bytes.Clone(first)
	flipped[len(flipped)-9] ^= 1
	for name, c := range map[string]struct {
		end   []byte
		class agent.ErrorClass
	}{
		"throttled":       {frametest.Exception("throttlingException", "slow"), agent.ClassRateLimited},
		"model error":     {frametest.Exception("modelStreamErrorException", "oops"), agent.ClassOverloaded},
		"unavailable":     {frametest.Exception("serviceUnavailableException", "busy"), agent.ClassOverloaded},
		"validation":      {frametest.Exception("validationException", "no"), agent.ClassInvalid},
		"late":            {frametest.Exception("modelTimeoutException", "late"), agent.ClassTimeout},
		"unknown failure": {frametest.Exception("newException", "new"), agent.ClassOverloaded},
		"error message":   {frametest.Message("", ":message-type", "error", ":error-code", "InternalServerException", ":error-message", "oops"), agent.ClassOverloaded},
		"Claude's words":  {frametest.Chunk(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), agent.ClassOverloaded},
		"cut":             {nil, agent.ClassNetwork},
		"cut in a frame":  {frametest.Chunk(text[2])[:30], agent.ClassNetwork},
		"no message type": {frametest.Message("{}", ":event-type", "chunk"), agent.ClassMalformed},
		"no bytes":        {frametest.Message("{}", ":message-type", "event", ":event-type", "chunk"), agent.ClassMalformed},
		"no JSON":         {frametest.Message("x", ":message-type", "event", ":event-type", "chunk"), agent.ClassMalformed},
		"wrong checksum":  {flipped, agent.ClassMalformed},
		"lines of text":   {[]byte("data: {\"type\":\"message_stop\"}\n\n"), agent.ClassMalformed},
	} {
		stream = slices.Concat(first, c.end)
		got, err := wiretest.Transcribe(t, m, wiretest.Hello())
		if f := wiretest.ModelError(t, err); f.Class != c.class || !strings.Contains(got, "Hi") {
			t.Errorf("%s: %+v after %s, want %s", name, f, got, c.class)
		}
	}
	// Kinds of events that came later are passed over.
	stream = slices.Concat(frametest.Message("{}", ":message-type", "event", ":event-type", "metrics"), bytes.Join(answer("end_turn", text), nil))
	if got, err := wiretest.Transcribe(t, m, wiretest.Hello()); err != nil {
		t.Errorf("with an unknown event: %s, %v", got, err)
	}
	whole := bytes.Join(answer("end_turn", text), nil)
	for cut := 0; cut < len(whole); cut += 13 {
		stream = whole[:cut]
		if got, err := wiretest.Transcribe(t, m, wiretest.Hello()); err == nil {
			t.Fatalf("cut at %d of %d: %s", cut, len(whole), got)
		}
	}
}

func TestInvalidOptions(t *testing.T) {
	noEnvironment(t)
	static := bedrock.Static(keys)
	for _, c := range []struct {
		model agent.Model
		want  string
	}{
		{bedrock.Claude("", bedrock.Options{Region: region, Credentials: static}), "model must name"},
		{bedrock.Claude("..", bedrock.Options{Region: region, Credentials: static}), "model must name"},
		{bedrock.Claude(model, bedrock.Options{Credentials: static}), "AWS_REGION"},
		{bedrock.Claude(model, bedrock.Options{Region: "evil.example/", Credentials: static}), "Region must be"},
		{bedrock.Claude(model, bedrock.Options{Region: region}), "set the environment variables AWS_ACCESS_KEY_ID"},
		{bedrock.Claude(model, bedrock.Options{Region: region, Credentials: static, APIKey: "k"}), "Credentials cannot be combined"},
		{bedrock.Claude(model, bedrock.Options{Region: region, Credentials: static}, anthropic.Options{APIKey: "k"}), "cannot have APIKey or Key"},
	} {
		if _, err := wiretest.Transcribe(t, c.model, wiretest.Hello()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// What the environment has goes to AWS, and to no other address.
func TestEnvironment(t *testing.T) {
	noEnvironment(t)
	t.Setenv("AWS_DEFAULT_REGION", region)
	t.Setenv("AWS_ACCESS_KEY_ID", keys.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", keys.SecretAccessKey)
	var got *http.Request
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r
		return nil, errors.New("not reached")
	})}
	for _, c := range []struct{ base, key, scheme string }{
		{"", "", "AWS4-HMAC-SHA256"}, {"https://vpce-1.bedrock-runtime." + region + ".vpce.amazonaws.com", "", "AWS4-HMAC-SHA256"}, {"https://gateway.example", "", ""}, {"", "bearer-secret", "Bearer"}, {"https://gateway.example", "bearer-secret", ""},
	} {
		t.Setenv("AWS_BEARER_TOKEN_BEDROCK", c.key)
		_, err := wiretest.Transcribe(t, bedrock.Claude(model, bedrock.Options{}, anthropic.Options{BaseURL: c.base, HTTPClient: client}), wiretest.Hello())
		scheme, _, _ := strings.Cut(got.Header.Get("Authorization"), " ")
		if f := wiretest.ModelError(t, err); f.Class != agent.ClassNetwork || scheme != c.scheme || c.base == "" && got.URL.Host != "bedrock-runtime.eu-central-1.amazonaws.com" {
			t.Errorf("%+v: %s to %s, %v", c, scheme, got.URL, err)
		}
	}
}

// roundTrip sees requests for addresses that a test cannot serve.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
