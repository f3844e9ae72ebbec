package aisdkapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
)

// stream is an answer that is read as it comes.
type stream struct {
	*world
	lines *bufio.Scanner
}

// begin posts a message of ann.
func (w *world) begin(ctx context.Context, id, more string) *stream {
	w.Helper()
	body := `{` + more + `"messages":[{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"Hi"}]}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/ai-sdk/default/shop", strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = res.Body.Close() }) // the stream is read as far as it matters
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" {
		w.Fatalf("%s %v", res.Status, res.Header)
	}
	return &stream{w, bufio.NewScanner(res.Body)}
}

// until reads the stream up to a line that contains text, and returns it.
func (s *stream) until(text string) string {
	s.Helper()
	var all strings.Builder
	for s.lines.Scan() {
		all.WriteString(s.lines.Text() + "\n")
		if strings.Contains(s.lines.Text(), text) {
			return s.lines.Text()
		}
	}
	s.Fatalf("the stream has no %q:\n%s", text, all.String())
	return ""
}

// What waits for somebody else is named, and the stream stays open for what follows.
func TestWaitingForSomebodyElse(t *testing.T) {
	w := newWorld(t)
	s := w.begin(t.Context(), "u1", "")
	job := w.Claim()
	id := job.Await(shoal.PendingAction{Kind: shoal.PendingPermission, ToolCallID: "c1", ToolName: "pay", Args: json.RawMessage(`{}`)}, shoal.AnswerAdmins)
	if line := s.until("data-waiting"); !strings.Contains(line, `"tools":["pay"]`) || !strings.Contains(line, `"transient":true`) {
		t.Errorf("it is named by %s", line)
	}
	yes := true
	if _, err := w.Hub.Pending.Answer(t.Context(), w.Admin, shoal.DefaultSession, id, shoal.PendingAnswer{Approved: &yes}); err != nil {
		t.Fatal(err)
	}
	again := w.Claim()
	again.Say("Paid.")
	again.Finish(shoal.RunCompleted, nil)
	s.until("Paid.")
	s.until("[DONE]")
}

// A server that stops ends streams with an error that says so.
func TestStreamsEndWithTheServer(t *testing.T) {
	w := newWorld(t)
	s := w.begin(t.Context(), "u1", "")
	s.until(`"start"`)
	w.Hub.Stop()
	if line := s.until(`"error"`); !strings.Contains(line, "The server is stopping.") {
		t.Errorf("the stream ends with %s", line)
	}
	s.until("[DONE]")
}

// A client that is removed from the space gets an error, and its stream ends.
func TestEndOfRights(t *testing.T) {
	w := newWorld(t)
	s := w.begin(t.Context(), "u1", "")
	s.until(`"start"`)
	if _, err := w.Hub.Spaces.Leave(t.Context(), w.Admin, shoal.DefaultSession, "shop", "ann"); err != nil {
		t.Fatal(err)
	}
	s.until(`"error"`)
	s.until("[DONE]")
}
