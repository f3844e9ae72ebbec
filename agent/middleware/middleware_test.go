package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/middleware"
	"github.com/shoal-dev/shoal/agent/provider/openai"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// vendor is a server with the wire of OpenAI's chat completions. Its first answer to a
// conversation calls a tool, the second one is a text; the very first request is refused.
type vendor struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newVendor(t *testing.T) *vendor {
	v := &vendor{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		v.mu.Lock()
		v.bodies = append(v.bodies, string(body))
		n := len(v.bodies)
		v.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case n == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.Contains(string(body), `"role":"tool"`):
			write(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Answer %d\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n", n)
		default:
			write(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Kiel\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(v.Close)
	return v
}

func write(w io.Writer, format string, args ...any) {
	if _, err := fmt.Fprintf(w, format, args...); err != nil {
		return // the client has left
	}
}

func (v *vendor) model(t *testing.T) agent.Model {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return openai.Chat("m", openai.Options{BaseURL: v.URL, APIKey: "sk-secret", HTTPClient: &http.Client{Transport: transport}})
}

type place struct {
	City string `json:"city"`
}

// run takes a turn with a tool and returns its events as text, without ids and times.
func run(t *testing.T, m agent.Model, o agent.Options, question string) (string, agent.TurnFinished) {
	t.Helper()
	o.Tools = []agent.Tool{agent.Func("weather", "Returns the weather.", func(_ context.Context, in place) (string, error) { return "rain in " + in.City, nil })}
	o.Retry.Base = 1
	a, err := agent.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var end agent.TurnFinished
	for e, err := range a.Stream(t.Context(), agent.NewConversation(), agent.Say(question)) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.TextDelta:
			fmt.Fprintf(&b, "text %q\n", e.Text)
		case agent.ToolFinished:
			fmt.Fprintf(&b, "result %s %q\n", e.Result.Status, e.Result.Text)
		case agent.ModelRetrying:
			fmt.Fprintf(&b, "retry %v\n", e.Err)
		case agent.StepFinished:
			fmt.Fprintf(&b, "step %d %s %+v\n", e.Step, e.Finish, e.Usage)
		case agent.TurnFinished:
			fmt.Fprintf(&b, "end %s %s\n", e.Outcome, e.Reason)
			end = e
		}
	}
	return b.String(), end
}

// What was recorded once is replayed without the provider, with its failures, pieces and
// usage; a request that has changed fails and says so.
func TestCassette(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weather.jsonl")
	v := newVendor(t)
	recording, err := middleware.Record(path)
	if err != nil {
		t.Fatal(err)
	}
	m := v.model(t)
	want, _ := run(t, m, agent.Options{Middleware: []agent.Middleware{recording.Middleware()}}, "Kiel?")
	if err := recording.Close(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"retry openai: overloaded (status 503)", `result ok "rain in Kiel"`, `text "Answer 3"`, "end completed done"} {
		if !strings.Contains(want, part) {
			t.Errorf("the recorded turn lacks %q:\n%s", part, want)
		}
	}
	v.Close()
	sent := len(v.bodies)

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != 3 || bytes.Contains(text, []byte("sk-secret")) {
		t.Errorf("the recording has %d lines, want 3, without the key:\n%s", n, text)
	}
	replay := func() *middleware.Cassette {
		c, err := middleware.Replay(path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	playing := replay()
	if got, _ := run(t, m, agent.Options{Middleware: []agent.Middleware{playing.Middleware()}}, "Kiel?"); got != want {
		t.Errorf("replayed is\n%s\nrecorded was\n%s", got, want)
	}
	if err := playing.Close(); err != nil {
		t.Error(err)
	}
	_, end := run(t, m, agent.Options{Middleware: []agent.Middleware{playing.Middleware()}}, "Kiel?")
	if end.Reason != agent.ReasonInvalidRequest || !strings.Contains(end.Err.Error(), `ends with "Kiel?"`) {
		t.Errorf("a call that was used up ends with %s, %v", end.Reason, end.Err)
	}
	other := replay()
	_, end = run(t, m, agent.Options{Instructions: "Be brief.", Middleware: []agent.Middleware{other.Middleware()}}, "Kiel?")
	if end.Reason != agent.ReasonInvalidRequest || !strings.Contains(end.Err.Error(), "Record it anew") {
		t.Errorf("a changed request ends with %s, %v", end.Reason, end.Err)
	}
	if err := other.Close(); err == nil || !strings.Contains(err.Error(), "3 of the recorded calls were not made") {
		t.Errorf("Close says %v", err)
	}
	if len(v.bodies) != sent {
		t.Errorf("replaying called the provider")
	}
}

func TestCassetteFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := middleware.Replay(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "make the cassette with Record") {
		t.Errorf("a missing file: %v", err)
	}
	damaged := filepath.Join(dir, "damaged")
	if err := os.WriteFile(damaged, []byte("{}\n{\"requ"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := middleware.Replay(damaged); err == nil || !strings.Contains(err.Error(), "line 2 of "+damaged+" is damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	if _, err := middleware.Record(filepath.Join(dir, "no", "such", "directory")); err == nil {
		t.Error("a cassette is recorded nowhere")
	}
}

// An equal request is answered from memory: the provider is not called, and nothing is
// billed. The least recently used answer is evicted.
func TestCache(t *testing.T) {
	v := newVendor(t)
	m := v.model(t)
	o := agent.Options{
		Middleware: []agent.Middleware{middleware.Cache(2)},
		Price:      func(_ agent.ModelInfo, u agent.Usage) float64 { return float64(u.InputTokens) },
	}
	first, end := run(t, m, o, "Kiel?")
	if end.Cost != 30 || len(v.bodies) != 3 {
		t.Fatalf("%d calls cost %v:\n%s", len(v.bodies), end.Cost, first)
	}
	again, end := run(t, m, o, "Kiel?")
	if end.Cost != 0 || len(v.bodies) != 3 {
		t.Errorf("%d calls, and the second turn cost %v", len(v.bodies), end.Cost)
	}
	for _, part := range []string{`result ok "rain in Kiel"`, `text "Answer 3"`, "end completed done"} {
		if !strings.Contains(again, part) {
			t.Errorf("the answer from the cache lacks %q:\n%s", part, again)
		}
	}
	run(t, m, o, "Bonn?") // two answers, which evict the others
	run(t, m, o, "Bonn?")
	if len(v.bodies) != 5 {
		t.Errorf("%d calls, want 5", len(v.bodies))
	}
	run(t, m, o, "Kiel?")
	if len(v.bodies) != 7 {
		t.Errorf("%d calls after an eviction, want 7", len(v.bodies))
	}
	run(t, m, agent.Options{Instructions: "Be brief.", Middleware: o.Middleware}, "Kiel?")
	if len(v.bodies) != 9 {
		t.Errorf("%d calls after a change of the instructions, want 9", len(v.bodies))
	}
}

// Failed and incomplete answers are not kept.
func TestCacheKeepsOnlyCompleteAnswers(t *testing.T) {
	calls := 0
	answers := []script.Answer{
		{Text: "Hel", Err: &agent.ModelError{Class: agent.ClassNetwork}}, {Text: "cut", Finish: agent.FinishLength}, {Text: "whole"}, {Text: "never"},
	}
	m := middleware.Wrap(script.Func(func(*agent.Request) script.Answer { calls++; return answers[calls-1] }), middleware.Cache(9), agent.Middleware{})
	said := func() (text string) {
		for c, err := range m.Stream(t.Context(), &agent.Request{Messages: []agent.Message{agent.Say("go")}}) {
			if err != nil {
				return text + "!"
			}
			text += c.Text
		}
		return text
	}
	if got := []string{said(), said(), said(), said()}; strings.Join(got, " ") != "Hel! cut whole whole" || calls != 3 {
		t.Errorf("%q in %d calls", got, calls)
	}
	if m.Info().Name != "script" {
		t.Errorf("the wrapped model is %+v", m.Info())
	}
}

// The provider reads no secret, whichever text it is in, and everything else is as it was.
func TestRedact(t *testing.T) {
	v := newVendor(t)
	redact := middleware.Redact("[city]", regexp.MustCompile(`Kiel|Bonn`))
	o := agent.Options{Instructions: "You are in Bonn.", Middleware: []agent.Middleware{redact}}
	c := agent.NewConversation()
	o.Tools = []agent.Tool{agent.Func("weather", "Knows Bonn.", func(_ context.Context, in place) (string, error) { return "rain in " + in.City, nil })}
	o.Retry.Base = 1
	a, err := agent.New(v.model(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), c, agent.Say("Is it raining in Kiel?")); err != nil {
		t.Fatal(err)
	}
	for i, body := range v.bodies {
		if strings.Contains(body, "Kiel") || strings.Contains(body, "Bonn") {
			t.Errorf("request %d contains what is redacted: %s", i, body)
		}
	}
	last := v.bodies[len(v.bodies)-1]
	for _, part := range []string{"You are in [city].", "Is it raining in [city]?", `{\"city\":\"[city]\"}`, "rain in [city]", "Knows [city]."} {
		if !strings.Contains(last, part) {
			t.Errorf("the last request lacks %s: %s", part, last)
		}
	}
	history, err := c.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if history[0].Text() != "Is it raining in Kiel?" || history[1].Calls()[0].Arguments != `{"city":"Kiel"}` || history[2].Results()[0].Text != "rain in Kiel" {
		t.Errorf("stored is %+v", history)
	}
}

// The log has what operators need, and nothing that people or models said.
func TestLog(t *testing.T) {
	v := newVendor(t)
	var out bytes.Buffer
	o := agent.Options{Name: "clerk", Observers: []agent.Observer{middleware.Log(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))}}
	run(t, v.model(t), o, "Is it raining in Kiel?")
	text := out.String()
	for _, part := range []string{
		`level=WARN msg="agent model call" agent=clerk`, "attempt=1 provider=openai model=m", "status 503",
		`level=DEBUG msg="agent model call"`, "attempt=2", "finish=tool_calls inputTokens=10 outputTokens=5",
		`level=DEBUG msg="agent tool call"`, "tool=weather status=ok",
		`level=INFO msg="agent turn"`, "outcome=completed reason=done steps=2 calls=1 inputTokens=30 outputTokens=10",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the log lacks %q:\n%s", part, text)
		}
	}
	for _, secret := range []string{"Kiel", "rain", "Answer", "sk-secret"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log contains %q:\n%s", secret, text)
		}
	}
}

// A replay ends with its context.
func TestReplayIsCanceled(t *testing.T) {
	m := middleware.Wrap(script.New(script.Answer{Text: "one two"}), middleware.Cache(1))
	ask := func(ctx context.Context) (last error) {
		for _, err := range m.Stream(ctx, &agent.Request{}) {
			last = err
		}
		return last
	}
	if err := ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), io.ErrClosedPipe)
	defer cancel()
	if err := ask(ctx); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, want the cause of the context", err)
	}
}

// cites is a model whose answer has a citation.
type cites struct{}

func (cites) Info() agent.ModelInfo { return agent.ModelInfo{Provider: "test", Name: "cites"} }

func (cites) Stream(context.Context, *agent.Request) iter.Seq2[agent.Chunk, error] {
	return func(yield func(agent.Chunk, error) bool) {
		for _, c := range []agent.Chunk{
			{Kind: agent.ChunkText, Text: "Rain."},
			{Kind: agent.ChunkCitation, Citation: &agent.Citation{URL: "https://example.com", Title: "T", Quote: "q", End: 4}},
			{Kind: agent.ChunkFinish, Reason: agent.FinishStop},
		} {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// A recording and a cache keep the citations of an answer.
func TestCitationsAreReplayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cites.jsonl")
	recording, err := middleware.Record(path)
	if err != nil {
		t.Fatal(err)
	}
	cache := middleware.Cache(1)
	cited := func(m agent.Middleware) []agent.Citation {
		a, err := agent.New(cites{}, agent.Options{Middleware: []agent.Middleware{m}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("Kiel?"))
		if err != nil {
			t.Fatal(err)
		}
		return r.Messages[0].Parts[0].Citations
	}
	want := cited(recording.Middleware())
	if err := recording.Close(); err != nil || len(want) != 1 {
		t.Fatalf("%+v, %v", want, err)
	}
	playing, err := middleware.Replay(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]agent.Middleware{"replayed": playing.Middleware(), "cache, first": cache, "cache": cache} {
		if got := cited(m); !slices.Equal(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
