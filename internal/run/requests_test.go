package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/modelrequest"
)

// hearing is a model that keeps what it was sent, attempt by attempt.
type hearing struct {
	agent.Model
	mu    sync.Mutex
	heard []shoal.ModelRequest
}

func (m *hearing) Stream(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
	m.mu.Lock()
	m.heard = append(m.heard, modelrequest.Public(m.Info().Name, req))
	m.mu.Unlock()
	return m.Model.Stream(ctx, req)
}

// all returns what was heard so far.
func (m *hearing) all() []shoal.ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.heard)
}

// sent returns what the hub says that the model was sent for a step.
func (w *world) sent(id shoal.RunID, step int) shoal.ModelRequest {
	w.t.Helper()
	r, err := w.hub.Runs.Request(w.t.Context(), admin, session, id, step)
	w.must(err)
	return r
}

// holds fails unless the requests of a run are these, in order.
func (w *world) holds(id shoal.RunID, want ...shoal.ModelRequest) {
	w.t.Helper()
	for step, heard := range want {
		if diff := cmp.Diff(plainJSON(w.t, heard), plainJSON(w.t, w.sent(id, step))); diff != "" {
			w.t.Errorf("step %d: - the model received, + is shown:\n%s", step, diff)
		}
	}
}

// plainJSON is a value as clients read it.
func plainJSON(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// said returns the texts of a message to a model.
func said(m shoal.ModelMessage) string {
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// allSaid returns the texts of all messages to a model.
func allSaid(r shoal.ModelRequest) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(said(m))
	}
	return b.String()
}

// The shown request of a step is what the model was sent: the prompt, the tools with the
// fields that the server adds, and the messages so far.
func TestModelRequests(t *testing.T) {
	w := newWorld(t)
	model := &hearing{Model: script.PerTurn(calls(call("c1", "lamp", `{"size":2}`), call("c2", "lamp", `no JSON`)), calls(send("c3", "It costs 5.")), silent)}
	w.shopkeeper(model, cards)
	id := w.says("What is a <lamp> & what does it cost?")
	w.reaches(id, shoal.RunCompleted)
	heard := model.all()
	if len(heard) != 3 {
		t.Fatalf("the model was asked %d times", len(heard))
	}
	w.holds(id, heard...)

	first, last := w.sent(id, 0), w.sent(id, 2)
	if !strings.Contains(first.System, "Serve.") || !strings.Contains(said(first.Messages[0]), "# What started this run") || first.Model != "script" {
		t.Errorf("the system prompt of %s is\n%s", first.Model, first.System)
	}
	lamp := slices.IndexFunc(first.Tools, func(tool shoal.ModelTool) bool { return tool.Name == "lamp" })
	if lamp < 0 || !strings.HasPrefix(string(first.Tools[lamp].InputSchema), `{"type":"object","properties":{"targetSpaceId":`) {
		t.Errorf("the tools are %+v", first.Tools)
	}
	if len(first.Messages) != 2 || first.Messages[1].Role != "user" || !strings.Contains(said(first.Messages[1]), "What is a &lt;lamp&gt; &amp; what does it cost?") {
		t.Errorf("the first messages are %+v", first.Messages)
	}
	var roles []string
	for _, m := range last.Messages {
		roles = append(roles, m.Role)
	}
	if got := fmt.Sprint(roles); got != "[user user assistant tool assistant tool]" {
		t.Errorf("the roles of the last request are %s", got)
	}
	asked, told := last.Messages[2].Content, last.Messages[3].Content
	if string(asked[0].Args) != `{"size":2}` || string(asked[1].Args) != `"no JSON"` || told[0].Text != `{"price":5,"success":true}` || told[0].Status != "ok" || told[1].ToolCallID != "c2" {
		t.Errorf("the calls are %+v and the results %+v", asked, told)
	}
}

// Where the history is made shorter for the model, the shown request is the short one.
func TestModelRequestsAfterReduction(t *testing.T) {
	w := newWorld(t)
	model := &hearing{Model: script.PerTurn(calls(send("c1", "Hm.")), silent)}
	w.shopkeeper(model, `"context":{"history":0,"reduction":{"strategy":"count","target":4,"threshold":2}}`)
	var last shoal.RunID
	for i := range 8 {
		last = w.says(fmt.Sprintf("Number %d.", i))
		w.reaches(last, shoal.RunCompleted)
	}
	heard := model.all()
	w.holds(last, heard[len(heard)-2:]...)
	got := w.sent(last, 1).Messages
	if len(got) >= 8*4 || !strings.Contains(said(got[len(got)-3]), "Number 7.") {
		t.Errorf("the model saw %d messages", len(got))
	}
}

// Of a call that is tried again it is the last attempt; of one that came to nothing
// it is there although the step is not.
func TestModelRequestsOfFailures(t *testing.T) {
	w := newWorld(t)
	overflow := script.Answer{Err: &agent.ModelError{Class: agent.ClassContextOverflow, Provider: "script"}}
	broken := script.Answer{Err: &agent.ModelError{Class: agent.ClassAuth, Provider: "script"}}
	model := &hearing{Model: script.New(silent, silent, silent, silent, overflow, calls(send("c1", "Here.")), broken)}
	w.shopkeeper(model, `"context":{"history":0,"reduction":{"strategy":"count","target":2,"threshold":20}}`)
	for i := range 4 {
		w.reaches(w.says(fmt.Sprintf("Number %d.", i)), shoal.RunCompleted)
	}
	id := w.says("And now?")
	w.reaches(id, shoal.RunFailed)
	heard := model.all()
	if len(heard) != 7 || len(heard[5].Messages) >= len(heard[4].Messages) {
		t.Fatalf("the model heard %d requests", len(heard))
	}
	w.holds(id, heard[5], heard[6])
	if got := len(w.results(id)); got != 1 {
		t.Errorf("the run has %d results; the failed step has none", got)
	}
}

// A run that waits and is taken up again, also by another server, keeps what its
// model saw, and the times of what happened before.
func TestModelRequestsSurviveRestart(t *testing.T) {
	w := newWorld(t)
	model := &hearing{Model: script.PerTurn(calls(call("c1", "lamp", `{}`), call("c2", "pick", `{"targetSpaceId":"shop"}`)), calls(send("c3", "Good.")), silent)}
	w.shopkeeper(model, cards)
	id := w.says("A lamp.")
	w.reaches(id, shoal.RunWaitingTool)
	w.holds(id, model.all()...)
	before := w.steps(id)[0]
	lamp, pick := before.ToolCalls[0], before.ToolCalls[1]
	if before.FirstTokenMs == nil || lamp.StartedAt == nil || lamp.EndedAt == nil || lamp.EndedAt.Before(lamp.StartedAt.Time) || lamp.StartedAt.Before(before.StartedAt.Time) {
		t.Errorf("the times of the step are %+v", before)
	}
	if pick.StartedAt == nil || pick.EndedAt != nil {
		t.Errorf("a client is waited for: %+v", pick)
	}
	w.crashes()
	w.answers(id, "c2", `{"result":{"chosen":1}}`)
	w.reaches(id, shoal.RunCompleted)
	w.holds(id, model.all()...)
	after := w.steps(id)
	if !after[0].ToolCalls[0].StartedAt.Equal(lamp.StartedAt.Time) || !after[0].ToolCalls[0].EndedAt.Equal(lamp.EndedAt.Time) {
		t.Errorf("the tool's times were %v to %v, and are %v to %v", lamp.StartedAt, lamp.EndedAt, after[0].ToolCalls[0].StartedAt, after[0].ToolCalls[0].EndedAt)
	}
	if after[0].FirstTokenMs == nil || *after[0].FirstTokenMs != *before.FirstTokenMs {
		t.Errorf("the first of the answer came after %v, and then after %v", *before.FirstTokenMs, after[0].FirstTokenMs)
	}
	if pick = after[0].ToolCalls[1]; pick.EndedAt == nil || pick.EndedAt.Before(pick.StartedAt.Time) || after[0].EndedAt.Before(pick.EndedAt.Time) {
		t.Errorf("a client was waited for: %+v", pick)
	}
	if sent := after[1].ToolCalls[0]; sent.StartedAt == nil || sent.EndedAt == nil {
		t.Errorf("a message was sent at %+v", sent)
	}
}

// steps returns the steps of a run as others read them.
func (w *world) steps(id shoal.RunID) []shoal.Step {
	w.t.Helper()
	steps, err := w.hub.Runs.Steps(w.t.Context(), admin, session, id)
	w.must(err)
	return steps
}

// The bytes of files are not shown.
func TestModelRequestsOfFiles(t *testing.T) {
	w := newWorld(t)
	model := &hearing{Model: script.PerTurn(silent)}
	w.shopkeeper(model, "")
	picture := dot(t, 3)
	f, err := w.hub.Files.Upload(t.Context(), ann, session, shoal.File{Name: "a.png", MediaType: "image/png"}, picture,
		func(id shoal.FileID) string { return shoal.FilePath(session, id) }, "")
	w.must(err)
	before := len(w.runs())
	_, err = w.hub.Messages.Post(t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{
		shoal.Text("Look."), {Type: shoal.FilePart, Name: f.Name, MediaType: f.MediaType, URL: f.URL, Size: f.Size},
	}}, "")
	w.must(err)
	if len(w.runs()) != before+1 {
		t.Fatal("the message starts no run")
	}
	id := w.runs()[0].ID
	w.reaches(id, shoal.RunCompleted)
	w.holds(id, model.all()...)
	content := w.sent(id, 0).Messages[1].Content
	if got := content[len(content)-1]; got.Type != shoal.ModelFile || got.File.MediaType != "image/png" || got.File.Size != int64(len(picture)) {
		t.Errorf("the picture is shown as %+v", got)
	}
	texts, _ := w.store.kept()
	for _, text := range texts {
		if strings.Contains(text.Body, "PNG\\r") || strings.Contains(text.Body, "iVBOR") {
			t.Errorf("the bytes of the picture are stored: %s", text.Body)
		}
	}
}

// What is stored grows with what is new: no text is handed in twice, by however many
// steps, runs and servers it was sent again, and what a step refers to stays short.
func TestModelRequestsAreStoredOnce(t *testing.T) {
	w := newWorld(t)
	const runs, steps = 4, 20
	var answers []script.Answer
	for i := range steps - 1 {
		answers = append(answers, calls(call(fmt.Sprintf("c%d", i), "lamp", fmt.Sprintf(`{"size":%d}`, i))))
	}
	model := &hearing{Model: script.PerTurn(append(answers, silent)...)}
	w.shopkeeper(model, `"loop":{"maxSteps":50},"context":{"history":0},`+cards)
	var last shoal.RunID
	for i := range runs {
		if i == runs/2 {
			w.crashes()
		}
		last = w.says(fmt.Sprintf("Number %d.", i))
		w.reaches(last, shoal.RunCompleted)
	}
	heard := model.all()
	w.holds(last, heard[len(heard)-steps:]...)
	if got := len(w.sent(last, steps-1).Messages); got < runs*(2*steps-1) {
		t.Fatalf("the last request has %d messages; the history is not in it", got)
	}
	texts, requests := w.store.kept()
	if len(requests) != runs*steps {
		t.Errorf("%d requests are stored, want %d", len(requests), runs*steps)
	}
	seen := map[string]bool{}
	for _, text := range texts {
		if seen[text.Hash] {
			t.Errorf("a text is handed in again: %.200s", text.Body)
		}
		seen[text.Hash] = true
	}
	for _, r := range requests {
		if got := len(slices.Concat(r.Messages...)); got > 2*32 {
			t.Fatalf("step %d refers to %d texts", r.Step, got)
		}
	}
}

// The values of ${env.NAME} are in the headers of what is called, and nowhere in
// what the model is sent.
func TestModelRequestsContainNoSecrets(t *testing.T) {
	w := newWorld(t)
	w.env = map[string]string{"KB": "a-secret-of-the-operator"}
	w.crashes()
	model := &hearing{Model: script.PerTurn(calls(call("c1", "greet", `{"name":"Ann"}`), call("c2", "find", `{}`)), silent)}
	w.shopkeeper(model, fmt.Sprintf(`"mcp":{"servers":[{"name":"kb","url":%q,"requiresPermission":false,"headers":{"Authorization":"Bearer ${env.KB}"}}]},
		"tools":[{"name":"find","executionType":"request","execution":{"url":"http://127.0.0.1:9/","method":"GET","headers":{"Authorization":"Bearer ${env.KB}"}}}]`, mcpServer(t)))
	id := w.says("Hm?")
	w.reaches(id, shoal.RunCompleted)
	if got := w.results(id)[0]; got != "greet ok: Hello Ann" {
		t.Fatalf("the model received %s", got)
	}
	texts, _ := w.store.kept()
	for _, text := range texts {
		if strings.Contains(text.Body, w.env["KB"]) {
			t.Errorf("a secret is stored: %s", text.Body)
		}
	}
}

// A call that waits for a reply took from the message to the reply.
func TestWaitDeadlines(t *testing.T) {
	w := newWorld(t)
	w.shopkeeper(script.PerTurn(calls(call("c1", "sendSpaceMessage", `{"spaceId":"shop","text":"Which one?","wait":{"for":[{"type":"human"}]}}`)), silent), "")
	id := w.says("A lamp.")
	w.reaches(id, shoal.RunWaitingReply)
	asked := w.steps(id)[0].ToolCalls[0]
	if asked.StartedAt == nil || asked.EndedAt != nil {
		t.Errorf("while it waits: %+v", asked)
	}
	_, err := w.hub.Messages.Post(t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text("The red one.")}}, "")
	w.must(err)
	w.reaches(id, shoal.RunCompleted)
	if told := w.steps(id)[0].ToolCalls[0]; told.EndedAt == nil || !told.EndedAt.After(told.StartedAt.Time) || !told.StartedAt.Equal(asked.StartedAt.Time) {
		t.Errorf("afterwards: %+v", told)
	}
}
