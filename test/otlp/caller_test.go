package otlp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/otlp"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// call posts JSON with a header traceparent, unless that is empty. A refusal ends the test.
func call(t *testing.T, url, key, traceparent string, body any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("X-Shoal-Entity", string(shoal.Operator))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if traceparent != "" {
		r.Header.Set("traceparent", traceparent)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 || strings.Contains(string(said), `"isError":true`) || strings.Contains(string(said), `"error":`) {
		t.Fatalf("%s: %s %s, %v", url, answer.Status, said, err)
	}
}

// A post that belongs to a trace starts a run whose trace has a link to it, whatever server
// executes it: here the first one posts, and the second one answers after the first has stopped.
func TestARunIsLinkedToTheTraceOfItsPost(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e473"
	config := app.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), Keys: func(string) string { return "" }}
	first, err := app.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			first.Stop()
		}
	}()
	apptest.Script(t, first, "bot", "[]", "call ask_user#q {\"question\":\"Red or blue?\"}\n---\nsay Thanks.")
	key, err := app.ReadAdminKey(config.Data)
	if err != nil {
		t.Fatal(err)
	}
	on := func(s *app.Server) *client.Session {
		c, err := client.New(client.Options{URL: s.URL(), Key: key, As: shoal.Operator})
		if err != nil {
			t.Fatal(err)
		}
		return c.Session(shoal.DefaultSession)
	}
	if _, err := on(first).AddMember(t.Context(), app.Welcome, "bot"); err != nil {
		t.Fatal(err)
	}
	rest := first.URL() + "/v1/sessions/default/spaces/" + string(app.Welcome) + "/messages"
	draft := func(text string) shoal.Draft {
		return shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"bot"}}
	}
	sent := map[string]string{ // what is said, and the header
		"over REST": "00-" + trace + "1-00f067aa0ba902b1-01", "over MCP": "00-" + trace + "2-00f067aa0ba902b2-00",
		"with meta": "00-" + trace + "4-00f067aa0ba902b4-01", "invalid": "00-" + trace + "3-0000000000000000-01", "without": "",
	}
	for text, header := range sent {
		params := map[string]any{"name": "send_message", "arguments": map[string]any{"threadId": app.Welcome, "content": text, "mentions": []string{"bot"}}}
		switch text {
		default:
			call(t, rest, key, header, draft(text))
			continue
		case "over MCP":
		case "with meta": // which is nearer to the call than the request
			params["_meta"], header = map[string]any{"traceparent": header}, sent["over MCP"]
		}
		call(t, first.URL()+"/mcp", key, header, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	}
	waitFor := func(s *client.Session, status shoal.RunStatus) map[string]shoal.Run {
		t.Helper()
		for until := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
			found := map[string]shoal.Run{}
			for r, err := range s.Runs(t.Context(), client.RunsOptions{Agent: "bot"}) {
				if err != nil {
					t.Fatal(err)
				}
				if r.Status == status {
					found[r.Trigger.MessageContent] = r
				}
			}
			if len(found) == len(sent) {
				return found
			}
			if time.Now().After(until) {
				t.Fatalf("%d runs are %s", len(found), status)
			}
		}
	}
	waitFor(on(first), shoal.RunWaitingTool)
	stopped = true
	first.Stop()

	addr := program.FreeAddr(t)
	receiver := program.StartLines(t, program.Installed(t, ".cache/bin/otlp-receiver"), addr)
	receiver.Next(patience, new(struct{}))
	config.OTLP = "http://" + addr
	second, err := app.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if second != nil {
			second.Stop()
		}
	}()
	red := "red"
	for p, err := range on(second).PendingActions(t.Context(), client.PendingOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := on(second).AnswerPending(t.Context(), p.ID, shoal.PendingAnswer{Answer: &red}); err != nil {
			t.Fatal(err)
		}
	}
	runs := waitFor(on(second), shoal.RunCompleted)
	second.Stop() // sends what is left
	second = nil
	_ = receiver.In.Close()
	w := &world{spans: map[string][]span{}, tokens: map[string]string{}}
	for line := range receiver.Out {
		var r received
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		w.add(r)
	}
	turns := map[string]span{} // by run
	for name, spans := range w.spans {
		for _, s := range spans {
			if name != "invoke_agent bot" && len(s.Links) > 0 {
				t.Errorf("%s has links, too: %+v", name, s.Links)
			}
		}
	}
	for _, s := range w.spans["invoke_agent bot"] {
		turns[s.Attributes.get("shoal.run.id")] = s
	}
	for text, header := range sent {
		r := runs[text]
		turn := turns[string(r.ID)]
		own := otlp.Run{Session: shoal.DefaultSession, ID: r.ID}.TraceID()
		if turn.TraceID != own || r.TraceID != own || turn.ParentSpanID != "" {
			t.Errorf("%s: the run's trace is %q, the turn %+v, want %s and a root", text, r.TraceID, turn, own)
		}
		want := ""
		if text != "invalid" && text != "without" {
			flags := map[string]int{"01": 0x301, "00": 0x300}[header[53:]]
			want = fmt.Sprintf("[{%s %s %d}]", header[3:35], header[36:52], flags)
		}
		if got := fmt.Sprint(turn.Links); got != want && (want != "" || len(turn.Links) > 0) {
			t.Errorf("%s: the turn has the links %s, want %s", text, got, want)
		}
	}
}
