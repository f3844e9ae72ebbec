package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const keyVar, urlVar = "ACME_KEY", "ACME_URL"

// acme is a vendor whose words are a code and a message.
var acme = Vendor{
	Provider: "acme", URL: "https://api.acme.example/v1", URLVar: urlVar, KeyVars: []string{"ACME_OLD_KEY", keyVar},
	Authorize: func(h http.Header, key string) { h.Set("X-Key", key) },
	Explain: func(_ int, said []byte) Problem {
		code, message, found := strings.Cut(string(said), ": ")
		switch {
		case !found:
			return Problem{}
		case code == "poor":
			return Problem{Class: agent.ClassQuota, Code: code, Message: message}
		}
		return Problem{Code: code, Message: message, RetryAfter: time.Second}
	},
}

// serve starts a server and returns the way to it.
func serve(t *testing.T, h http.HandlerFunc) Reach {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return Reach{BaseURL: srv.URL + "/v1", HTTPClient: srv.Client()}
}

// post makes a call and returns the body of its answer.
func post(t *testing.T, c *Client) (answer string, err error) {
	for _, err = range c.Call(t.Context(), func(x *Exchange) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL("/say").String(), strings.NewReader("question"))
		if err != nil {
			return err
		}
		resp, err := x.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		answer = string(said)
		return err
	}) {
	}
	return answer, err
}

// fails makes a call that fails as a provider's.
func fails(t *testing.T, reach Reach) *agent.ModelError {
	t.Helper()
	_, err := post(t, New(acme, "m", reach))
	failure, ok := errors.AsType[*agent.ModelError](err)
	if !ok || failure.Provider != "acme" {
		t.Fatalf("error %v (%T), want a ModelError of acme", err, err)
	}
	return failure
}

// Usage and end name the model, for whom the answer came from after a fallback.
func TestChunksNameTheModel(t *testing.T) {
	client := New(acme, "m", Reach{BaseURL: "http://localhost"})
	named := map[agent.ChunkKind]*agent.ModelInfo{}
	for c, err := range client.Call(t.Context(), func(x *Exchange) error {
		x.Emit(agent.Chunk{Kind: agent.ChunkText, Text: "hi"})
		x.Emit(agent.Chunk{Kind: agent.ChunkUsage, Usage: &agent.Usage{OutputTokens: 1}})
		x.Finish(agent.FinishStop)
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
		named[c.Kind] = c.Model
	}
	for _, kind := range []agent.ChunkKind{agent.ChunkUsage, agent.ChunkFinish} {
		if m := named[kind]; m == nil || *m != client.Info() {
			t.Errorf("chunk %d names %+v, want %+v", kind, m, client.Info())
		}
	}
	if named[agent.ChunkText] != nil {
		t.Error("a text names its model")
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	others := 0
	other := serve(t, func(http.ResponseWriter, *http.Request) { others++ })
	reach := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.BaseURL, http.StatusTemporaryRedirect)
	})
	if err := fails(t, reach); err.Status != http.StatusTemporaryRedirect || others != 0 {
		t.Errorf("got %v; the key went to another host %d times", err, others)
	}
	if reach.HTTPClient.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
}

// A key that has run out is asked for once more, not for ever, and the request
// is sent whole again.
func TestKeyIsRefreshed(t *testing.T) {
	valid, status := "new", http.StatusUnauthorized
	var sent []string
	reach := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("X-Key"))
		body, _ := io.ReadAll(r.Body)
		if sent[len(sent)-1] != valid || string(body) != "question" {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "who: old-key, then new-key?")
			return
		}
		_, _ = io.WriteString(w, "answer")
	})
	reach.APIKey = "unused"
	reach.Key = func(_ context.Context, refresh bool) (string, error) {
		if refresh {
			return "new", nil
		}
		return "old", nil
	}
	if got, err := post(t, New(acme, "m", reach)); err != nil || got != "answer" || !slices.Equal(sent, []string{"old", "new"}) {
		t.Errorf("after %q: %q %v", sent, got, err)
	}
	valid, sent = "another", nil
	if err := fails(t, reach); err.Class != agent.ClassAuth || len(sent) != 2 {
		t.Errorf("after %q: %v", sent, err)
	}
	status, sent = http.StatusForbidden, nil
	if err := fails(t, reach); err.Class != agent.ClassAuth || len(sent) != 1 {
		t.Errorf("a key that may not is sent again, after %q: %v", sent, err)
	}
	status = http.StatusUnauthorized
	gone := errors.New("no token service")
	for _, told := range []error{gone, &agent.ModelError{Class: agent.ClassOverloaded, Provider: "acme", Err: gone}} {
		reach.Key = func(context.Context, bool) (string, error) { return "", told }
		want := agent.ClassAuth
		if told != gone { //nolint:errorlint // the very one
			want = agent.ClassOverloaded
		}
		if err := fails(t, reach); err.Class != want || !errors.Is(err, gone) {
			t.Errorf("got %v, want class %q", err, want)
		}
	}
	reach.Key, reach.APIKey, sent = nil, "old", nil
	if err := fails(t, reach); err.Class != agent.ClassAuth || len(sent) != 1 {
		t.Errorf("after %q: %v", sent, err)
	}
}

// transport is a function that answers requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The environment's key goes where the environment or the vendor is, nowhere else.
func TestKeyIsSentOnlyToTheVendor(t *testing.T) {
	gone := errors.New("enough seen")
	var got *http.Request
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		got = r
		return nil, gone
	})}
	for _, c := range []struct {
		reach       Reach
		url, keyEnv string // in the environment
		host, key   string // of the request; no host for none
	}{
		{Reach{}, "", "env-key", "api.acme.example", "env-key"},
		{Reach{BaseURL: "https://eu.api.acme.example/v1"}, "", "env-key", "eu.api.acme.example", "env-key"},
		{Reach{BaseURL: "http://api.acme.example/v1"}, "", "env-key", "api.acme.example", ""},
		{Reach{BaseURL: "https://api.acme.example.com/v1"}, "", "env-key", "api.acme.example.com", ""},
		{Reach{BaseURL: "https://h/v1"}, "http://other", "env-key", "h", ""},
		{Reach{}, "http://other", "env-key", "other", "env-key"},
		{Reach{}, "http://other", "", "other", ""},
		{Reach{APIKey: "mine"}, "", "env-key", "api.acme.example", "mine"},
		{Reach{APIKey: "mine", BaseURL: "http://h"}, "", "env-key", "h", "mine"},
		{Reach{Headers: map[string]string{"x-key": "own"}}, "", "", "api.acme.example", "own"},
		{Reach{Headers: map[string]string{"authorization": "own"}}, "", "", "api.acme.example", ""},
		{Reach{Key: func(context.Context, bool) (string, error) { return "made", nil }}, "", "env-key", "api.acme.example", "made"},
		{Reach{}, "", "", "", ""},
		{Reach{Headers: map[string]string{"X-Other": "own"}}, "", "", "", ""},
	} {
		t.Setenv(urlVar, c.url)
		t.Setenv(keyVar, c.keyEnv)
		t.Setenv("ACME_OLD_KEY", "")
		got, c.reach.HTTPClient = nil, client
		_, err := post(t, New(acme, "m", c.reach))
		switch failure, _ := errors.AsType[*agent.ModelError](err); {
		case c.host == "":
			if got != nil || failure == nil || failure.Class != agent.ClassAuth || !strings.Contains(failure.Detail, keyVar) {
				t.Errorf("%+v: %v, want a failure that names the variable", c.reach, err)
			}
		case got == nil:
			t.Errorf("%+v: nothing was sent: %v", c.reach, err)
		case got.URL.Host != c.host || got.Header.Get("X-Key") != c.key || !errors.Is(err, gone):
			t.Errorf("%+v: %s got %v", c.reach, got.URL, got.Header)
		}
	}
	t.Setenv(keyVar, "second")
	t.Setenv("ACME_OLD_KEY", "first")
	if _, err := post(t, New(acme, "m", Reach{HTTPClient: client})); got.Header.Get("X-Key") != "first" {
		t.Errorf("got %v, %v", got.Header, err)
	}
}

func TestAddress(t *testing.T) {
	t.Setenv(urlVar, "")
	for _, c := range []struct{ base, address, url string }{
		{"", "api.acme.example:443", "https://api.acme.example/v1/say"},
		{"http://127.0.0.1:8080", "127.0.0.1:8080", "http://127.0.0.1:8080/say"},
		{"http://ann:pw@proxy/x/?v=2#f", "proxy:80", "http://ann:pw@proxy/x/say?v=2"},
		{"https://[::1]/v1", "[::1]:443", "https://[::1]/v1/say"},
	} {
		got := New(acme, "m", Reach{BaseURL: c.base, Window: 200_000})
		want := agent.ModelInfo{Provider: "acme", Name: "m", Window: 200_000, Address: c.address}
		if got.Info() != want || got.URL("/say").String() != c.url {
			t.Errorf("%q gives %+v at %s, want %+v at %s", c.base, got.Info(), got.URL("/say"), want, c.url)
		}
	}
	for base, name := range map[string]string{
		"http://h": "", "h/v1": "m", "ftp://h": "m", "http://%": "m", "https://:80": "m", "https://ann:secret@[::1": "m",
	} {
		_, err := post(t, New(acme, name, Reach{APIKey: "k", BaseURL: base}))
		if agent.KindOf(err) != agent.ErrInvalidArgument || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q at %q: got %v, want an invalid argument without the URL", name, base, err)
		}
	}
}

func TestOverPrefersLaterFields(t *testing.T) {
	got := Over(Reach{APIKey: "a", Window: 1, Headers: map[string]string{"A": "1"}}, Reach{Window: 2, Headers: map[string]string{}}, Reach{BaseURL: "b"})
	if got.APIKey != "a" || got.Window != 2 || got.BaseURL != "b" || len(got.Headers) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := Over[Reach](); got.Window != 0 {
		t.Errorf("got %+v of nothing", got)
	}
}

func TestCallYieldsTheCause(t *testing.T) {
	because := errors.New("somebody said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	said := errors.New("said")
	c := New(acme, "m", Reach{APIKey: "k"})
	call := func(x *Exchange) error {
		x.Emit(agent.Chunk{Kind: agent.ChunkText, Text: "a"})
		if x.Emit(agent.Chunk{Kind: agent.ChunkText, Text: "b"}) == x.Stopped {
			t.Error("Emit and Stopped disagree")
		}
		return said
	}
	listen := func() (text string, last error) {
		for chunk, err := range c.Call(ctx, call) {
			text, last = text+chunk.Text, err
		}
		return text, last
	}
	if text, err := listen(); text != "ab" || err != said { //nolint:errorlint // the very one
		t.Errorf("got %q, %v", text, err)
	}
	for chunk, err := range c.Call(ctx, call) {
		if chunk.Text != "a" || err != nil {
			t.Errorf("got %+v, %v", chunk, err)
		}
		break // or it would panic
	}
	cancel(because)
	if _, err := listen(); err != because { //nolint:errorlint // the very one
		t.Errorf("got %v, want the context's cause", err)
	}
}

// An empty answer is passed through unchanged, whatever was billed for it.
func TestEmptyAnswer(t *testing.T) {
	c := New(acme, "m", Reach{APIKey: "k"})
	for _, reason := range []agent.FinishReason{agent.FinishStop, agent.FinishOther, agent.FinishLength, agent.FinishFiltered} {
		var got []agent.FinishReason
		for last, err := range c.Call(t.Context(), func(x *Exchange) error { x.Finish(reason); return nil }) {
			if err != nil || last.Kind != agent.ChunkFinish {
				t.Errorf("%s: got %+v, %v", reason, last, err)
			}
			got = append(got, last.Reason)
		}
		if !slices.Equal(got, []agent.FinishReason{reason}) {
			t.Errorf("got %v, want %s alone", got, reason)
		}
	}
}

func TestContent(t *testing.T) {
	for in, want := range map[string]string{
		" {\"a\": 9007199254740993}\n": `{"a": 9007199254740993}`,
		"":                             "{}", "null": "{}", "[1]": "{}", `{"a":`: "{}", "{} {}": "{}",
	} {
		if got := string(Object(in)); got != want {
			t.Errorf("Object(%q) = %s, want %s", in, got, want)
		}
	}
	for _, c := range []struct {
		file agent.File
		kind string
		text bool
	}{
		{agent.File{MediaType: "Text/CSV ; charset=utf-8", Data: []byte("ü")}, "text/csv", true},
		{agent.File{MediaType: "application/json", Data: []byte("{}")}, "application/json", true},
		{agent.File{MediaType: "text/plain", Data: []byte("\xff")}, "text/plain", false},
		{agent.File{MediaType: "text/plain", URL: "https://h"}, "text/plain", false},
		{agent.File{MediaType: "image/png", Data: []byte("a")}, "image/png", false},
	} {
		if kind, text := Kind(&c.file), IsText(&c.file); kind != c.kind || text != c.text {
			t.Errorf("%+v is %q, text %v", c.file, kind, text)
		}
	}
}
