package agui

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// world is a handler with a script and what the model was asked.
type world struct {
	http.Handler
	store agent.Store
	asked []*agent.Request
}

func newWorld(o agent.Options, answers ...script.Answer) *world {
	w := &world{store: agent.NewMemory()}
	model := script.Func(func(req *agent.Request) script.Answer {
		w.asked = append(w.asked, req)
		return answers[min(len(w.asked), len(answers))-1]
	})
	w.Handler = Handler(w.store, func(*http.Request, *Input) (agent.Model, agent.Options, error) { return model, o, nil })
	return w
}

// post sends a body and returns the status and what came, in lines.
func (w *world) post(t *testing.T, body string) (int, []string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	return w.do(t, r)
}

func (w *world) do(t *testing.T, r *http.Request) (int, []string) {
	t.Helper()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	if rec.Code != http.StatusOK {
		if kind := rec.Header().Get("Content-Type"); kind != "application/problem+json" {
			t.Errorf("status %d comes as %s", rec.Code, kind)
		}
		var p struct{ Detail, Code string }
		if err := json.Unmarshal(rec.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		return rec.Code, []string{p.Code + ": " + p.Detail}
	}
	if kind := rec.Header().Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("events come as %s", kind)
	}
	var events []Event
	for frame := range strings.SplitSeq(strings.TrimSuffix(rec.Body.String(), "\n\n"), "\n\n") {
		var e Event
		if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &e); err != nil {
			t.Fatalf("%q: %v", frame, err)
		}
		events = append(events, e)
	}
	check := newSequence()
	check.all(t, events)
	check.ended(t)
	return rec.Code, lines(t, events)
}

func (w *world) history(t *testing.T, thread string) []string {
	t.Helper()
	messages, err := agent.OpenConversation(w.store, thread).Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range messages {
		line := string(m.Role) + " " + m.Text()
		for _, c := range m.Calls() {
			line += " " + c.Name + "#" + c.ID
		}
		for _, r := range m.Results() {
			line += " " + r.CallID + "=" + r.Text + "/" + string(r.Status)
		}
		out = append(out, line)
	}
	return out
}

func TestRefusals(t *testing.T) {
	w := newWorld(agent.Options{Tools: []agent.Tool{agent.External(agent.ToolSpec{Name: "pick"})}}, script.Answer{Text: "Hi"})
	hi := `{"id":"u","role":"user","content":"Hi"}`
	for sent, want := range map[string]string{
		`{`: "400 invalid_json: The body is not a JSON object; send a RunAgentInput.",
		body(`{"id":"u","role":"user","content":5}`):               "400 invalid_argument: body.messages[0].content must be a string or a list of parts",
		body(hi, `"tools":[{"name":"pick","description":"x"}]`):    "400 invalid_argument: body.tools[0].name is taken: Frontend tool 'pick' conflicts with backend tool name; give it another name",
		body(hi, `"forwardedProps":{"seed":"x"}`):                  "400 invalid_argument: body.forwardedProps.seed must be an integer",
		body(`{"id":"u","role":"user","content":"` + big() + `"}`): "413 too_large: The body is too large; send a shorter history or smaller files.",
		body(``): "400 invalid_argument: Cannot run agent with empty conversation",
		body(hi, `"tools":[{"name":"x","parameters":{"type":"banana"}}]`): "400 invalid_argument: ",
	} {
		status, got := w.post(t, sent)
		if told := http.StatusText(status); !strings.HasPrefix(itoa(status)+" "+got[0], want) {
			t.Errorf("%.200s: %d %s %s; want %s", sent, status, told, got, want)
		}
	}
	if len(w.asked) > 0 {
		t.Error("the model was asked all the same")
	}
	if h := w.history(t, "t"); len(h) > 0 {
		t.Errorf("what was refused is stored: %q", h)
	}
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

func big() string { return strings.Repeat("x", MaxBody) }

func TestPostRequiresJSON(t *testing.T) {
	w := newWorld(agent.Options{}, script.Answer{Text: "Hi"})
	if status, got := w.do(t, httptest.NewRequest(http.MethodGet, "/", nil)); status != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered with %d %s", status, got)
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body(``)))
	r.Header.Set("Content-Type", "text/plain")
	if status, got := w.do(t, r); status != http.StatusUnsupportedMediaType {
		t.Errorf("text is answered with %d %s", status, got)
	}
}

func TestBuildErrors(t *testing.T) {
	for _, c := range []struct {
		err    error
		model  agent.Model
		status int
		want   string
	}{
		{agent.NewError("x", agent.ErrForbidden, "Not you."), nil, 403, "forbidden: Not you."},
		{errors.New("a secret"), nil, 500, "internal: Something went wrong on the server."},
		{nil, nil, 500, "internal: Something went wrong on the server."},
	} {
		w := &world{Handler: Handler(agent.NewMemory(), func(*http.Request, *Input) (agent.Model, agent.Options, error) {
			return c.model, agent.Options{}, c.err
		})}
		status, got := w.post(t, body(`{"id":"u","role":"user","content":"Hi"}`, `"tools":[{"name":"x"}]`))
		if status != c.status || got[0] != c.want {
			t.Errorf("%v: %d %s; want %d %s", c.err, status, got, c.status, c.want)
		}
	}
}

func TestClientContextReachesTheModel(t *testing.T) {
	w := newWorld(agent.Options{Instructions: "Be brief."}, script.Answer{Text: "Hi"})
	status, got := w.post(t, body(`{"id":"d","role":"developer","content":"Speak Low German."},{"id":"u","role":"user","content":[{"type":"text","text":"Moin"},{"type":"image","source":{"type":"file","value":"f"}}]}`,
		`"context":[{"description":"city","value":"Kiel"}]`, `"tools":[{"name":"pick","description":"Picks.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}]`,
		`"forwardedProps":{"temperature":0.5}`))
	if status != 200 || len(w.asked) != 1 {
		t.Fatal(status, got)
	}
	req := w.asked[0]
	if want := "Be brief.\n\nContext from the application:\n- city: Kiel"; req.Instructions != want {
		t.Errorf("instructions are %q", req.Instructions)
	}
	if m := req.Messages; len(m) != 2 || m[0].Role != agent.System || m[0].Text() != "Speak Low German." || m[1].Text() != "Moin" {
		t.Errorf("messages are %+v", m)
	}
	if len(req.Tools) != 1 || req.Tools[0].Description != "Picks." || req.ToolChoice.Parallel == nil || *req.ToolChoice.Parallel || *req.Settings.Temperature != 0.5 {
		t.Errorf("asked with %+v", req)
	}
	if told := strings.Join(got, "\n"); !strings.Contains(told, `CUSTOM name="ignored" value={"what":"messages[1].content[1]"}`) {
		t.Errorf("no event names the part that was left out:\n%s", told)
	}
}

func TestResumeEntriesWithoutPendingRequests(t *testing.T) {
	w := newWorld(agent.Options{}, script.Answer{Text: "Hi"})
	_, got := w.post(t, body(`{"id":"u","role":"user","content":"Hi"}`, `"resume":[{"interruptId":"i","status":"cancelled"}]`))
	if told := strings.Join(got, "\n"); !strings.Contains(told, `CUSTOM name="ignored" value={"what":"resume entry i"}`) {
		t.Errorf("no event names the entry:\n%s", told)
	}
}

func TestThreadsOfDifferentPeople(t *testing.T) {
	store := agent.NewMemory()
	w := &world{store: store, Handler: Handler(store, func(r *http.Request, in *Input) (agent.Model, agent.Options, error) {
		in.Conversation = r.Header.Get("Person") + "/" + in.ThreadID
		return script.New(script.Answer{Text: "Hi"}), agent.Options{}, nil
	})}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body(`{"id":"u","role":"user","content":"Hi"}`)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Person", "ann")
	if _, got := w.do(t, r); !strings.Contains(got[0], `threadId="t"`) {
		t.Errorf("the run begins with %s", got[0])
	}
	if h := w.history(t, "ann/t"); len(h) != 2 {
		t.Errorf("stored is %q", h)
	}
}

// A call of the client's tool that the agent refuses itself has its answer, and
// the client must not execute it.
func TestToolCallRefusedByAgent(t *testing.T) {
	w := newWorld(agent.Options{}, script.Answer{Calls: []agent.ToolCall{{ID: "c1", Name: "pick", Arguments: `{"n":"x"}`}}}, script.Answer{Text: "Never mind."})
	_, got := w.post(t, body(`{"id":"u","role":"user","content":"Go"}`,
		`"tools":[{"name":"pick","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}]`))
	told := strings.Join(got, "\n")
	if !strings.Contains(told, `TOOL_CALL_RESULT messageId="c1.result" toolCallId="c1"`) || !strings.Contains(told, `metadata={"status":"invalid"}`) ||
		!strings.Contains(told, `outcome={"type":"success"}`) {
		t.Errorf("the client sees\n%s", told)
	}
}
