package openai

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/agent"
)

var update = flag.Bool("update", false, "write the .want files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server and returns the options that lead to it.
func serve(t testing.TB, h http.HandlerFunc) Options {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Only when the body is read does the server notice that the caller left.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	return Options{BaseURL: srv.URL + "/v1", HTTPClient: srv.Client()}
}

// say answers a body in pieces of the given size, 0 for one.
func say(body string, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for size > 0 && len(body) > size {
			_, _ = w.Write([]byte(body[:size]))
			w.(http.Flusher).Flush()
			body = body[size:]
		}
		_, _ = w.Write([]byte(body))
	}
}

var hello = &agent.Request{Messages: []agent.Message{agent.Say("hello")}}

// listen writes down what a model yields, one line for each chunk. It also
// checks what holds for every answer: Finish or an error comes last, once.
func listen(t testing.TB, m agent.Model, req *agent.Request) string {
	t.Helper()
	var b strings.Builder
	ended := false
	for c, err := range m.Stream(t.Context(), req) {
		if ended {
			t.Errorf("something follows the end: %+v %v", c, err)
		}
		ended = err != nil || c.Kind == agent.ChunkFinish
		if err != nil {
			b.WriteString(describe(err) + "\n")
			continue
		}
		b.WriteString(line(c) + "\n")
	}
	if !ended {
		t.Errorf("the answer has no end:\n%s", b.String())
	}
	return b.String()
}

func line(c agent.Chunk) string {
	switch c.Kind {
	case agent.ChunkText:
		return fmt.Sprintf("text %q", c.Text)
	case agent.ChunkReasoning:
		return fmt.Sprintf("thought %q", c.Text)
	case agent.ChunkCallStart:
		return fmt.Sprintf("call %d %q %q", c.Index, c.ID, c.Name)
	case agent.ChunkCallDelta:
		return fmt.Sprintf("args %d %q", c.Index, c.Text)
	case agent.ChunkCallEnd:
		return fmt.Sprintf("end %d", c.Index)
	case agent.ChunkOpaque:
		if c.Call {
			return fmt.Sprintf("opaque of call %d %s", c.Index, c.Opaque)
		}
		return fmt.Sprintf("opaque %s", c.Opaque)
	case agent.ChunkUsage:
		return fmt.Sprintf("usage %+v", *c.Usage)
	case agent.ChunkFinish:
		return "finish " + string(c.Reason)
	}
	if c.Kind == agent.ChunkCitation {
		return fmt.Sprintf("citation %+v", *c.Citation)
	}
	return fmt.Sprintf("%+v", c)
}

func describe(err error) string {
	var e *agent.ModelError
	if !errors.As(err, &e) {
		return "error " + err.Error()
	}
	return fmt.Sprintf("error %s %d %q %q %v", e.Class, e.Status, e.Code, e.Detail, e.Err)
}

// Each transcript means the same whatever its line ends are and wherever the
// network splits it.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d transcripts: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, body, ok := strings.Cut(string(text), "\n----\n")
			if !ok {
				t.Fatal("a transcript is a head with the wire in its last line, a line of ----, and a body")
			}
			model := Chat
			if strings.HasSuffix(head, "\nresponses") {
				model = Responses
			}
			wantFile := strings.TrimSuffix(file, ".txt") + ".want"
			for _, end := range []string{"\n", "\r\n", "\r"} {
				for _, size := range []int{0, 1, 7, 100} {
					got := listen(t, model("m", serve(t, say(strings.ReplaceAll(body, "\n", end), size))), hello)
					if *update {
						if err := os.WriteFile(wantFile, []byte(got), 0o644); err != nil {
							t.Fatal(err)
						}
					}
					want, err := os.ReadFile(wantFile)
					if err != nil {
						t.Fatal(err)
					}
					if got != string(want) {
						t.Fatalf("line end %q, pieces of %d: got\n%swant\n%s", end, size, got, want)
					}
				}
			}
		})
	}
}

// What the provider said before it failed may be shown; the failure is the end.
func TestCutStreams(t *testing.T) {
	const (
		role   = `data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}` + "\n\n"
		some   = `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}` + "\n\n"
		last   = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		item   = `data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}` + "\n\n"
		ended  = "text \"Hi\"\nfinish stop\n"
		broken = "error network 0 \"\" \"the answer ended before its end\" unexpected EOF\n"
		none   = "error malformed 200 \"\" \"no whole event in an answer of type text/event-stream\" <nil>\n"
	)
	for _, c := range []struct {
		name, body, want string
		model            func(string, ...Options) agent.Model
	}{
		{"without an end", role + some, "text \"Hi\"\n" + broken, Chat},
		{"without an end, responses", item, "text \"Hi\"\n" + broken, Responses},
		{"after the finish reason", some + last, ended, Chat},
		{"[DONE] alone ends the answer", some + "data: [DONE]\n\n", ended, Chat},
		{"[DONE] without an answer", "data: [DONE]\n\n", none, Chat},
		{"[DONE] does not end a response", item + "data: [DONE]\n\n", "text \"Hi\"\n" + broken, Responses},
		{"within an event", some + `data: {"choices":[{"ind`, "text \"Hi\"\n" + broken, Chat},
		{"within an event, responses", item + `data: {"type":"resp`, "text \"Hi\"\n" + broken, Responses},
		{"within the first event", `data: {"choices":[{"ind`, none, Chat},
		{"JSON in place of an event", some + "{\"ok\":true}", "text \"Hi\"\nerror malformed 200", Chat},
		{"an error in place of an event", some + "{\"error\":{\"code\":502,\r\n\"message\":\"no\"}}", "text \"Hi\"\nerror overloaded 0 \"\" \"no\" <nil>\n", Chat},
		{"an error after the end", some + last + "{\"error\":{\"code\":502,\"message\":\"no\"}}", ended, Chat},
		{"an answer without a word", last, "finish stop\n", Chat},
		{"garbage", some + "data: {\"choices\":[{\"ind\n\n", "text \"Hi\"\nerror malformed 200", Chat},
		{"garbage, responses", item + "data: nonsense\n\n", "text \"Hi\"\nerror malformed 200", Responses},
		{"a page", "<!doctype html>\n<p>Welcome: please sign in</p>\n", "error malformed 200", Chat},
		{"nothing", "", none, Chat},
		{"white space", "\r\n \n\n", none, Responses},
		{"half an answer in one piece", `{"choices":[`, "error malformed 200", Chat},
		{"an answer of nothing", `{}`, "error malformed 200", Chat},
		{"an answer of nothing, responses", `{}`, "error malformed 200", Responses},
		{"an error in a list", `[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]`, "error invalid 0 \"\" \"no\" <nil>\n", Chat},
		{"an error of vLLM", `{"object":"error","message":"no","type":"BadRequestError","code":400}`, "error invalid 0 \"BadRequestError\" \"no\" <nil>\n", Chat},
		{"an event named error", "event: error\ndata: {\"message\":\"no\",\"code\":\"server_error\"}\n\n", "error overloaded 0 \"server_error\" \"no\" <nil>\n", Chat},
		{"only comments", ": ping\n\n: ping\n\n", "error malformed 200", Chat},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := listen(t, c.model("m", serve(t, say(c.body, 0))), hello)
			if got != c.want && (strings.HasSuffix(c.want, "\n") || !strings.HasPrefix(got, c.want)) {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// A connection that is reset is a failure of the network, unless all had come.
func TestReset(t *testing.T) {
	cut := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			say(body, 0)(w, r)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	some := `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}` + "\n\n"
	last := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	if got := listen(t, Chat("m", serve(t, cut(some))), hello); !strings.HasPrefix(got, "text \"Hi\"\nerror network 0") {
		t.Errorf("got %s", got)
	}
	if got := listen(t, Chat("m", serve(t, cut(some+last))), hello); got != "text \"Hi\"\nfinish stop\n" {
		t.Errorf("got %s", got)
	}
	if got := listen(t, Chat("m", serve(t, cut(`{"choices":[{"message"`))), hello); !strings.HasPrefix(got, "error network 0") {
		t.Errorf("got %s", got)
	}
	gone := serve(t, nil)
	gone.BaseURL = "http://127.0.0.1:1/v1?api-key=hidden"
	if got := listen(t, Chat("m", gone), hello); !strings.HasPrefix(got, "error network 0") || strings.Contains(got, "hidden") {
		t.Errorf("got %s", got)
	}
}

// The end of the context is reported as its cause, whatever the state of the call.
func TestContextEnds(t *testing.T) {
	cause := errors.New("the turn was canceled")
	for _, c := range []struct{ name, body string }{
		{"before the first byte", ""},
		{"in the stream", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			gone := make(chan struct{})
			m := Chat("m", serve(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				if c.body != "" {
					say(c.body, 0)(w, r)
					w.(http.Flusher).Flush()
				} else {
					cancel(cause)
				}
				<-r.Context().Done()
			}))
			var last error
			for _, err := range m.Stream(ctx, hello) {
				cancel(cause)
				last = err
			}
			if last != cause { //nolint:errorlint // the cause itself, not what a provider says
				t.Errorf("the last error is %v", last)
			}
			<-gone
		})
	}
}

// Breaking out of the range loop closes the connection.
func TestBreakStopsTheStream(t *testing.T) {
	gone := make(chan struct{})
	m := Chat("m", serve(t, func(w http.ResponseWriter, r *http.Request) {
		say("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\"}}]},\"finish_reason\":\"stop\"}],\"usage\":{}}\n\n", 0)(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	for c, err := range m.Stream(t.Context(), hello) {
		if err != nil || c.Text != "Hi" {
			t.Errorf("got %+v %v", c, err)
		}
		break
	}
	<-gone
}

// A completed response leaves its connection for the next call, and does not wait
// for a server that keeps the response open.
func TestConnectionIsKept(t *testing.T) {
	var peers []string
	o := serve(t, func(w http.ResponseWriter, r *http.Request) {
		peers = append(peers, r.RemoteAddr)
		say("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n", 0)(w, r)
		if len(peers) == 3 {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
	for range 3 {
		listen(t, Chat("m", o), hello)
	}
	if len(peers) != 3 || peers[0] != peers[1] {
		t.Errorf("the calls came from %q", peers)
	}
}

// closes counts the bodies that are open.
type closes struct {
	http.RoundTripper
	open int
}

type countedBody struct {
	io.ReadCloser
	open *int
}

func (c *closes) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		c.open++
		resp.Body = &countedBody{resp.Body, &c.open}
	}
	return resp, err
}

func (b *countedBody) Close() error {
	*b.open--
	return b.ReadCloser.Close()
}

// Every body is closed: of answers, of errors, and of both calls around a
// refreshed key.
func TestBodiesAreClosed(t *testing.T) {
	for _, status := range []int{200, 401, 500} {
		o := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			say("data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: nonsense\n\n", 0)(w, r)
		})
		o.Key = func(context.Context, bool) (string, error) { return "k", nil }
		count := &closes{RoundTripper: o.HTTPClient.Transport}
		o.HTTPClient = &http.Client{Transport: count}
		listen(t, Chat("m", o), hello)
		if count.open != 0 {
			t.Errorf("after status %d, %d bodies are open", status, count.open)
		}
	}
}
