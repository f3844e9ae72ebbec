package aguiapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/agui"
	"github.com/shoal-dev/shoal/internal/hub/runs"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/shoaltest/shop"
)

// with is a RunAgentInput with these messages and more fields.
func with(messages, more string) string {
	return `{"threadId":"t","runId":"r","messages":[` + messages + `],` + more + `}`
}

const paint = `"tools":[{"name":"paint","description":"Paints.","parameters":{"type":"object"}}],"context":[{"description":"page","value":"white"}]`

// ignoredIn returns what a stream says had no effect.
func ignoredIn(t *testing.T, events []agui.Event) (all []string) {
	t.Helper()
	for _, e := range events {
		if e.Type != agui.Custom || e.Name != "ignored" {
			continue
		}
		value, ok := e.Value.(map[string]any)
		if !ok || value["why"] == "" || value["why"] == nil {
			t.Errorf("%+v gives no reason", e)
		}
		all = append(all, fmt.Sprint(value["what"]))
	}
	return all
}

// Runs get the tools and the context that come with their message, once; the call of such
// a tool is shown though no message of the space shows it.
func TestClientInput(t *testing.T) {
	w := newWorld(t)
	w.ignores(with(says("u", "Paint"), paint), nil, func(j *shop.Job) {
		in, err := w.Hub.Runs.ClientInput(t.Context(), shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann"}, shoal.DefaultSession, j.Lease.Run)
		w.must(err)
		if in == nil || in.EntityID != "ann" || len(in.Tools) != 1 || in.Tools[0].Name != "paint" || string(in.Tools[0].Schema) != `{"type":"object"}` ||
			len(in.Context) != 1 || in.Context[0].Value != "white" {
			t.Errorf("the run has %+v", in)
		}
	})
	w.ignores(with(says("u", "Paint"), paint), nil, nil) // the same again
	w.ignores(with(says("u", "Paint"), strings.ReplaceAll(paint, "Paints.", "Draws.")), []string{"tools"}, nil)
	w.ignores(with(says("u", "Paint"), strings.ReplaceAll(paint, "white", "red")), []string{"context"}, nil)
	w.ignores(with(says("v", "Paint"), `"state":{"a":1},"forwardedProps":[1]`), []string{"state", "forwardedProps"}, func(*shop.Job) {})
	w.ignores(with(says("w", "Paint"), `"state":null,"forwardedProps":{"mentions":["bot"]}`), nil, func(*shop.Job) {})
	w.ignores(with(says("x", "Paint"), `"state":"on","forwardedProps":{"b":null,"a":2}`), []string{"state", "forwardedProps.a", "forwardedProps.b"}, func(*shop.Job) {})
}

// ignores makes a run of the protocol and compares what had no effect. does is what is
// done in the run of the agent, nil if there is none.
func (w *world) ignores(body string, want []string, does func(*shop.Job)) {
	w.Helper()
	r := w.begin(w.Context(), body)
	if does != nil {
		j := w.Claim()
		does(j)
		j.Write(func(c *runs.RunChange) error { return c.Start() })
		j.Finish(shoal.RunCompleted, nil)
	}
	if got := ignoredIn(w.T, r.until(agui.RunFinished)); !slices.Equal(got, want) {
		w.Errorf("of %s %q is ignored, want %q", body, got, want)
	}
}

// A call that another client has settled gets a result, so that this one does not ask its
// user for it.
func TestCallSettledElsewhere(t *testing.T) {
	w := newWorld(t)
	first := w.begin(t.Context(), with(says("u", "Paint"), paint))
	j := w.Claim()
	j.CallClient("c1", "paint", `{"a":1}`)
	end := first.until(agui.RunFinished)
	call := string(j.Lease.Run) + "/c1"
	if outcome := end[len(end)-1].Outcome; outcome == nil || !slices.Equal(outcome.PendingToolCallIDs, []string{call}) ||
		!slices.ContainsFunc(end, func(e agui.Event) bool {
			return e.Type == agui.ToolCallArgs && e.ToolCallID == call && e.Delta == `{"a":1}`
		}) {
		t.Fatalf("the first run shows %+v", end)
	}

	had := fmt.Sprintf(`,{"id":"a","role":"assistant","toolCalls":[{"id":%q,"type":"function","function":{"name":"paint","arguments":"{\"a\":1}"}}]},`, call)
	second := w.begin(t.Context(), input(says("u", "Paint")+had+says("v", "Still there?")))
	second.until(agui.RunStarted)
	ann := shoal.Principal{Role: shoal.RoleEntity, SessionID: shoal.DefaultSession, EntityID: "ann"}
	_, err := w.Hub.Pending.AnswerCall(t.Context(), ann, shoal.DefaultSession, j.Lease.Run, "c1", shoal.PendingAnswer{Result: json.RawMessage(`1`)})
	w.must(err)
	result := second.until(agui.ToolCallResult)
	if e := result[len(result)-1]; e.ToolCallID != call || e.Metadata["status"] != "answered" {
		t.Errorf("the second run shows %+v", result)
	}
}

// Tools that no model could be given are refused at their place in the input, and so is
// more than requests of a model should hold.
func TestRefusedClientInput(t *testing.T) {
	w := newWorld(t)
	tool := func(parameters string) string {
		return `"tools":[{"name":"ok"},{"name":"x","parameters":` + parameters + `}]`
	}
	var many []string
	for range 5 {
		many = append(many, fmt.Sprintf(`{"description":"d","value":%q}`, strings.Repeat("x", 60<<10)))
	}
	for body, want := range map[string]string{
		tool(`"x"`):                                       "body.tools[1].parameters must be a JSON Schema",
		tool(`{"type":"string"}`):                         "body.tools[1].parameters.type",
		tool(`{"properties":{}}`):                         "body.tools[1].parameters.type",
		tool(`{"type":"object","required":1}`):            "body.tools[1].parameters",
		`"context":[` + strings.Join(many, ",") + `]`:     "together; at most",
		`"tools":[{"name":"a b"}]`:                        "body.tools[0].name",
		`"tools":[{"name":"a"},{"name":"a"}]`:             "body.tools[1].name",
		`"context":[{"description":"d","value":{"a":1}}]`: "body.context",
	} {
		status, code, detail := w.refused(w.request(t.Context(), http.MethodPost, "shop", w.Key, "application/json", with(says("u", "Hi"), body)))
		if status != http.StatusUnprocessableEntity || code != "invalid_argument" || !strings.Contains(detail, want) {
			t.Errorf("%.80s: %d %s: %s; want %s", body, status, code, detail, want)
		}
	}
	all, err := w.Hub.Messages.Read(t.Context(), w.Admin, shoal.DefaultSession, "shop", storage.Page{Limit: 10})
	if err != nil || len(all) != 0 {
		t.Errorf("the space holds %+v, %v", all, err)
	}
}
