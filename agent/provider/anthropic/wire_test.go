package anthropic_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/anthropic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-ant-secret"

// vendor is a server that speaks the provider's wire from a script.
type vendor struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

// newVendor starts a server that answers every request with answer.
func newVendor(t *testing.T, answer http.HandlerFunc) *vendor {
	v := &vendor{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the request cannot be read: %v", err)
		}
		v.mu.Lock()
		v.requests, v.bodies = append(v.requests, r), append(v.bodies, string(body))
		v.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(v.Close)
	return v
}

func (v *vendor) model(t *testing.T) agent.Model {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return anthropic.New("claude-test", anthropic.Options{
		APIKey: testKey, BaseURL: v.URL, HTTPClient: &http.Client{Transport: transport},
	})
}

// plays answers with the events of a transcript.
func plays(transcript string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		write(w, transcript)
	}
}

// write sends text; a client that has gone is none of the server's business.
func write(w http.ResponseWriter, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		return
	}
}

// refuses answers with a status, headers (name, value, …) and a body.
func refuses(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		write(w, body)
	}
}

// events writes the data of events as a stream; the name of each is its type.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		_, rest, _ := strings.Cut(d, `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, d)
	}
	return b.String()
}

// tell writes chunks as lines, and the error that ended them.
func tell(m agent.Model, t *testing.T, req *agent.Request) (string, error) {
	t.Helper()
	var b strings.Builder
	for c, err := range m.Stream(t.Context(), req) {
		if err != nil {
			return b.String(), err
		}
		b.WriteString(line(c) + "\n")
	}
	return b.String(), nil
}

func line(c agent.Chunk) string {
	switch c.Kind {
	case agent.ChunkText:
		return fmt.Sprintf("text %q", c.Text)
	case agent.ChunkReasoning:
		return fmt.Sprintf("thought %q", c.Text)
	case agent.ChunkCallStart:
		return fmt.Sprintf("call %d %s %s", c.Index, c.ID, c.Name)
	case agent.ChunkCallDelta:
		return fmt.Sprintf("arguments %d %s", c.Index, c.Text)
	case agent.ChunkCallEnd:
		return fmt.Sprintf("call %d ends", c.Index)
	case agent.ChunkOpaque:
		return fmt.Sprintf("opaque %s", c.Opaque)
	case agent.ChunkUsage:
		u := c.Usage
		return fmt.Sprintf("usage in=%d cached=%d written=%d out=%d thoughts=%d",
			u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens)
	case agent.ChunkFinish:
		return "finish " + string(c.Reason)
	}
	return fmt.Sprintf("unknown %+v", c)
}

// modelError finds the provider's failure in err.
func modelError(t *testing.T, err error) *agent.ModelError {
	t.Helper()
	var failure *agent.ModelError
	if !errors.As(err, &failure) {
		t.Fatalf("error %v (%T) is no ModelError", err, err)
	}
	return failure
}

func hello() *agent.Request {
	return &agent.Request{Messages: []agent.Message{agent.Say("hello")}}
}
