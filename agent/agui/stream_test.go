package agui

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// line is a connection: what was written, and from which byte on nothing goes
// through.
type line struct {
	header http.Header
	text   bytes.Buffer
	breaks int // 0 for never
}

func (l *line) Header() http.Header { return l.header }
func (l *line) WriteHeader(int)     {}

func (l *line) Write(text []byte) (int, error) {
	if l.breaks > 0 && l.text.Len() > l.breaks {
		return 0, errors.New("nobody there")
	}
	return l.text.Write(text)
}

// While a tool works in silence the connection is kept alive, and nothing runs
// once the run is over.
func TestKeepAliveDuringSilentTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := agent.Configure(agent.Func("long", "Takes long.", func(ctx context.Context, _ struct{}) (string, error) {
			<-time.After(70 * time.Second)
			return "done", ctx.Err()
		}), func(s *agent.ToolSpec) { s.Timeout = -1 })
		w := newWorld(agent.Options{Tools: []agent.Tool{long}},
			script.Answer{Calls: []agent.ToolCall{{ID: "c", Name: "long", Arguments: "{}"}}}, script.Answer{Text: "Done."})
		l := &line{header: http.Header{}}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body(`{"id":"u","role":"user","content":"Go"}`)))
		r.Header.Set("Content-Type", "application/json")
		w.ServeHTTP(l, r)
		if n := strings.Count(l.text.String(), ": keep-alive\n\n"); n != 3 {
			t.Errorf("in 70 seconds of silence %d comments were sent", n)
		}
		if !strings.HasSuffix(l.text.String(), "\n\n") || strings.Count(l.text.String(), "RUN_FINISHED") != 1 {
			t.Errorf("the stream is\n%s", l.text.String())
		}
	})
}

func TestBrokenConnectionCancelsTheTurn(t *testing.T) {
	var end agent.TurnFinished
	w := newWorld(agent.Options{Middleware: []agent.Middleware{{AfterTurn: func(_ context.Context, e agent.TurnFinished) { end = e }}}},
		script.Answer{Text: strings.Repeat("word ", 100)}, script.Answer{Text: "Here."})
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body(`{"id":"u","role":"user","content":"Go"}`)))
	r.Header.Set("Content-Type", "application/json")
	w.ServeHTTP(&line{header: http.Header{}, breaks: 1000}, r)
	if end.Outcome != agent.Canceled {
		t.Errorf("the turn ended as %q", end.Outcome)
	}
	if _, got := w.post(t, body(`{"id":"u","role":"user","content":"Go"},{"id":"v","role":"user","content":"On"}`)); !strings.Contains(strings.Join(got, "\n"), `delta="Here."`) {
		t.Errorf("the thread does not go on:\n%s", strings.Join(got, "\n"))
	}
}
