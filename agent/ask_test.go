package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

type trip struct {
	City  string   `json:"city"`
	Stops []string `json:"stops"`
}

// The provider receives the schema of T, and its answer comes back as a T. What is not an
// object travels in one.
func TestTypedOnTheWire(t *testing.T) {
	ask := func(t *testing.T, answer string, call func(*agent.Agent) (any, error), want any, schema string) {
		t.Helper()
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		w := newWire(t, streams(`data: {"choices":[{"index":0,"delta":{"content":`+string(text)+`},"finish_reason":null}]}`+"\n\n"+chatEnd))
		a := newAgentOn(t, w.chat("gpt-5-mini", 0), agent.Options{Tools: storyTools()})
		got, err := call(a)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		var sent struct {
			Format struct {
				Type   string
				Schema struct{ Schema json.RawMessage } `json:"json_schema"`
			} `json:"response_format"`
			Messages []struct{ Content any }
			Tools    []any
		}
		if err := json.Unmarshal([]byte(w.bodies[0]), &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Format.Type != "json_schema" || !strings.Contains(string(sent.Format.Schema.Schema), schema) || len(sent.Tools) == 0 || contentText(sent.Messages[0].Content) != "Where?" {
			t.Errorf("sent is %s; want the schema to contain %s", w.bodies[0], schema)
		}
	}
	ask(t, `{"city":"Kiel","stops":["Bonn"]}`, func(a *agent.Agent) (any, error) { return agent.Typed[trip](t.Context(), a, "Where?") }, trip{"Kiel", []string{"Bonn"}}, `"stops"`)
	ask(t, `{"value":["Kiel","Bonn"]}`, func(a *agent.Agent) (any, error) { return agent.Typed[[]string](t.Context(), a, "Where?") }, []string{"Kiel", "Bonn"}, `"value"`)
	ask(t, `{"value":7}`, func(a *agent.Agent) (any, error) { return agent.Typed[int](t.Context(), a, "Where?") }, 7, `"integer"`)
}

// The values so far arrive in order, each with more than the one before, and the last one
// is the answer.
func TestTypedStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answer = `{"city":"Bad Oldesloe an der Trave","stops":["Am Markt","Zur Mühle am Bach"]}`
		a := newAgent(t, "pause 60ms\nsay "+answer, agent.Options{Tools: []agent.Tool{}})
		var got []trip
		for value, err := range agent.TypedStream[trip](t.Context(), a, "Where?") {
			if err != nil {
				t.Fatal(err)
			}
			if n := len(got); n > 0 && (!strings.HasPrefix(value.City, got[n-1].City) || len(value.Stops) < len(got[n-1].Stops)) {
				t.Errorf("%+v follows %+v", value, got[n-1])
			}
			got = append(got, value)
		}
		if n := len(got); n < 3 || got[0].City == got[n-1].City {
			t.Fatalf("the values are %+v", got)
		}
		if d := cmp.Diff(trip{"Bad Oldesloe an der Trave", []string{"Am Markt", "Zur Mühle am Bach"}}, got[len(got)-1]); d != "" {
			t.Error(d)
		}
		n := 0
		for _, err := range agent.TypedStream[trip](t.Context(), newAgent(t, "pause 60ms\nsay "+answer, agent.Options{}), "Where?") {
			if n++; err != nil {
				t.Error(err)
			}
			break
		}
		if n != 1 {
			t.Errorf("%d values after the range was left", n)
		}
	})
}

// An agent with a mode of its own keeps it.
func TestTypedWithATool(t *testing.T) {
	a := newAgent(t, `call return_answer {"city":"Kiel","stops":[]}`, agent.Options{
		Tools: []agent.Tool{}, Output: &agent.Structured{Mode: agent.OutputTool, Types: []agent.OutputSchema{agent.OutputOf[trip]("other", "")}},
	})
	if got, err := agent.Typed[trip](t.Context(), a, "Where?"); err != nil || got.City != "Kiel" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTypedAndAskFail(t *testing.T) {
	typed := func(a *agent.Agent) error { _, err := agent.Typed[trip](t.Context(), a, "Where?"); return err }
	asked := func(a *agent.Agent) error { _, err := a.Ask(t.Context(), "Where?"); return err }
	permission := agent.NeedsPermission(storyTools()[0])
	for name, c := range map[string]struct {
		script string
		call   func(*agent.Agent) error
		is     error
		text   string
	}{
		"an answer in another form": {"say Kiel", typed, nil, "output_invalid"},
		"a missing field":           {`say {"city":"Kiel"}`, typed, nil, "output_invalid"},
		"a failed turn, typed":      {"fail auth", typed, nil, "provider_auth"},
		"a failed turn, asked":      {"fail auth", asked, nil, "provider_auth"},
		"a permission, typed":       {"call echo {}", typed, agent.ErrConflict, "(permission echo)"},
		"a permission, asked":       {"call echo {}", asked, agent.ErrConflict, "Set Options.Answer"},
	} {
		a := newAgent(t, c.script, agent.Options{Tools: []agent.Tool{permission}})
		if err := c.call(a); err == nil || !strings.Contains(err.Error(), c.text) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := newAgentOn(t, script.New(), agent.Options{})
	if _, err := a.Ask(ctx, "Where?"); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: %v", err)
	}
	if _, err := agent.Typed[func()](t.Context(), a, "Where?"); !errors.Is(err, agent.ErrInvalidArgument) || !strings.Contains(err.Error(), "has no JSON Schema") {
		t.Errorf("a type without a schema: %v", err)
	}
}

// A call of a tool that needs permission runs when it is granted, and only then.
func TestNeedsPermission(t *testing.T) {
	for granted, want := range map[bool]string{true: "[ok echo x]", false: "[denied Permission denied. The call was not executed.]"} {
		c := agent.NewConversation()
		a := newAgent(t, "call echo {\"a\":\"x\"}\n---\nsay done", agent.Options{
			Tools: []agent.Tool{agent.NeedsPermission(storyTools()[0])},
			Answer: func(context.Context, agent.Pending) (agent.Answer, bool) {
				return agent.Answer{Approved: granted}, true
			},
		})
		all(t, a, t.Context(), c, agent.Say("go"))
		if got := messages(t, c)[2]; got != "tool: "+want {
			t.Errorf("granted %v: %s", granted, got)
		}
	}
}
