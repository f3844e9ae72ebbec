// Package wiretest is the other side of a provider's wire, for tests: a server
// that plays transcripts over real HTTP, and what a model made of them as text.
//
//	v := wiretest.NewVendor(t, wiretest.Plays(transcript))
//	lines, err := wiretest.Transcribe(t, model(v.URL), wiretest.Hello())
package wiretest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// Vendor is a server that answers in a provider's wire format from a script. It records
// the requests that it receives; read them after the call has ended.
type Vendor struct {
	*httptest.Server
	mu       sync.Mutex
	Requests []*http.Request
	Bodies   []string
}

// NewVendor starts a server that answers every request with answer, until the
// test ends.
func NewVendor(t *testing.T, answer http.HandlerFunc) *Vendor {
	v := &Vendor{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the request cannot be read: %v", err)
		}
		v.mu.Lock()
		v.Requests, v.Bodies = append(v.Requests, r), append(v.Bodies, string(body))
		v.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(v.Close)
	return v
}

// NewClient returns a client whose connections are closed when the test ends.
func NewClient(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Plays answers with the events of a transcript.
func Plays(transcript string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		Write(w, transcript)
	}
}

// Write sends text; it ignores the error of a client that has disconnected.
func Write(w http.ResponseWriter, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		return
	}
}

// Refuses answers with a status, headers (name, value, …) and a body.
func Refuses(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		Write(w, body)
	}
}

// Hangs plays the beginning of an answer that does not go on. gone is closed
// when the client has left.
func Hangs(t *testing.T, beginning string) (answer http.HandlerFunc, gone chan struct{}) {
	gone = make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request) {
		Plays(beginning)(w, r)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		close(gone)
	}, gone
}

// EndsWithItsContext checks that a stream whose context ends at the first text
// yields the context's cause and leaves the vendor, which hangs.
func EndsWithItsContext(t *testing.T, m agent.Model, gone <-chan struct{}) {
	t.Helper()
	because := errors.New("somebody said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	for c, err := range m.Stream(ctx, Hello()) {
		if c.Kind == agent.ChunkText {
			cancel(because)
		}
		last = err
	}
	if !errors.Is(last, because) {
		t.Errorf("error %v, want the context's cause", last)
	}
	<-gone
}

// LeavesWithItsRange checks that a range which stops at the first text leaves
// the vendor, which hangs.
func LeavesWithItsRange(t *testing.T, m agent.Model, gone <-chan struct{}) {
	t.Helper()
	for c, err := range m.Stream(t.Context(), Hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == agent.ChunkText {
			break
		}
	}
	<-gone
}

// Transcribe renders the chunks as lines, and returns the error that ended them.
func Transcribe(t *testing.T, m agent.Model, req *agent.Request) (string, error) {
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
	case agent.ChunkCitation:
		return fmt.Sprintf("citation %+v", *c.Citation)
	case agent.ChunkUsage:
		u := c.Usage
		return fmt.Sprintf("usage in=%d cached=%d written=%d out=%d thoughts=%d",
			u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens)
	case agent.ChunkFinish:
		return "finish " + string(c.Reason)
	}
	return fmt.Sprintf("unknown %+v", c)
}

// ModelError finds the provider's failure in err.
func ModelError(t *testing.T, err error) *agent.ModelError {
	t.Helper()
	var failure *agent.ModelError
	if !errors.As(err, &failure) {
		t.Fatalf("error %v (%T), want a ModelError", err, err)
	}
	return failure
}

// Hello is the least request.
func Hello() *agent.Request {
	return &agent.Request{Messages: []agent.Message{agent.Say("hello")}}
}
