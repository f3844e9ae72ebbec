package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The limits of the agent that was run hold for the whole turn, those of another one from the
// handoff on.
func TestLimitsAcrossHandoffs(t *testing.T) {
	for name, c := range map[string]struct {
		first, second agent.Options
		reason        agent.Reason
		message       string
		steps         int
	}{
		"steps count from the handoff": {
			agent.Options{MaxSteps: 2, NoClosingAnswer: true},
			agent.Options{MaxSteps: 2, NoClosingAnswer: true},
			agent.ReasonMaxSteps, "", 4,
		},
		"tokens of the whole turn": {
			agent.Options{MaxTokens: 250}, agent.Options{}, agent.ReasonBudget, "The turn used more than its 250 tokens.", 3,
		},
		"tokens of the other agent": {
			agent.Options{}, agent.Options{MaxTokens: 150}, agent.ReasonBudget, "The agent second used more than its 150 tokens.", 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			usage := agent.Usage{InputTokens: 100}
			model := script.Func(func(r *agent.Request) script.Answer {
				call := agent.ToolCall{Name: "echo", Arguments: fmt.Sprintf(`{"a":"%d"}`, len(r.Messages))}
				if len(r.Messages) > 2 && len(r.Tools) > 1 {
					call = agent.ToolCall{Name: "transfer_to_second", Arguments: "{}"}
				}
				return script.Answer{Calls: []agent.ToolCall{call}, Usage: usage}
			})
			c.second.Name, c.second.Tools = "second", storyTools()[:1]
			second := newAgentOn(t, model, c.second)
			c.first.Tools = append(storyTools()[:1:1], agent.AsHandoff(second, agent.Handoff{}))
			end := finished(t, all(t, newAgentOn(t, model, c.first), t.Context(), agent.NewConversation(), agent.Say("go")))
			if end.Outcome != agent.Failed || end.Reason != c.reason || end.Steps != c.steps || c.message != "" && end.Message != c.message {
				t.Errorf("%s, %s after %d steps: %s", end.Outcome, end.Reason, end.Steps, end.Message)
			}
		})
	}
}

// diary is a context provider and the hooks of an agent, which note what is called.
type diary struct {
	name string
	log  *[]string
}

func (d diary) note(format string, args ...any) {
	*d.log = append(*d.log, d.name+" "+fmt.Sprintf(format, args...))
}

func (d diary) Name() string { return "diary of " + d.name }

func (d diary) Provide(context.Context, agent.ContextRequest) (agent.ProvidedContext, error) {
	d.note("provides")
	return agent.ProvidedContext{Instructions: "for " + d.name, Messages: []agent.Message{agent.Say("only for " + d.name)}}, nil
}

func (d diary) AfterTurn(_ context.Context, in agent.EndedTurn) (json.RawMessage, error) {
	d.note("hears of %d messages", len(in.Response))
	return json.RawMessage(`"` + d.name + `"`), nil
}

func (d diary) options() agent.Options {
	return agent.Options{
		Name: d.name, Context: []agent.ContextProvider{d},
		Middleware: []agent.Middleware{{
			Name:       d.name,
			BeforeTurn: func(context.Context, []agent.Message) error { d.note("begins"); return nil },
			BeforeStep: func(_ context.Context, step int, r *agent.Request) error {
				d.note("step %d: %s", step, r.Instructions)
				for _, m := range r.Messages {
					if text := m.Text(); strings.HasPrefix(text, "only for ") && text != "only for "+d.name {
						d.note("reads %q", text)
					}
				}
				return nil
			},
			AfterTurn: func(context.Context, agent.TurnFinished) { d.note("ends") },
		}},
	}
}

// Each agent has its own context providers and middleware, also when the conversation comes
// back to it; the observers of the agent that was run see everything.
func TestHooksBelongToTheAgentThatSpeaks(t *testing.T) {
	var log []string
	ping, pong := diary{"ping", &log}.options(), diary{"pong", &log}.options()
	spoke, silent := &spy{}, &spy{}
	ping.Observers, pong.Observers = []agent.Observer{spoke}, []agent.Observer{silent}
	other := newAgent(t, "call transfer_to_ping {}", pong)
	ping.Tools = []agent.Tool{agent.AsHandoff(other, agent.Handoff{Back: true})}
	c := agent.NewConversation()
	if _, err := newAgent(t, "call transfer_to_pong {}\n---\nsay Done.", ping).Run(t.Context(), c, agent.Say("go")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{
		"ping provides", "ping begins", "ping step 0: for ping",
		"pong provides", "pong begins", "pong step 1: for pong",
		"ping step 2: for ping",
		"ping hears of 5 messages", "pong hears of 5 messages", "pong ends", "ping ends",
	}, log); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"turn ping", "step ping", "model ping", "step pong", "model pong", "step ping", "model ping",
	}, spoke.seen); d != "" {
		t.Error(d)
	}
	if len(silent.seen) > 0 {
		t.Errorf("the observer of the other agent sees %q", silent.seen)
	}
	r, _ := c.Load(t.Context())
	if d := cmp.Diff(map[string]json.RawMessage{"diary of ping": json.RawMessage(`"ping"`), "diary of pong": json.RawMessage(`"pong"`)}, r.ContextState); d != "" {
		t.Error(d)
	}
}

// spy notes what each operation is of.
type spy struct{ seen []string }

func (*spy) Name() string { return "spy" }

func (s *spy) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	s.seen = append(s.seen, string(op.Kind)+" "+op.Agent)
	return ctx, func(agent.OperationResult) {}
}

// A sub-agent may transfer: its caller gets the answer of the one that answered, and sees
// which agent speaks.
func TestSubAgentTransfers(t *testing.T) {
	expert := newAgent(t, "say Answer of the expert.", agent.Options{Name: "expert"})
	clerk := newAgent(t, "call transfer_to_expert {}", agent.Options{Name: "clerk", Tools: []agent.Tool{agent.AsHandoff(expert, agent.Handoff{})}})
	c := agent.NewConversation()
	events := all(t, boss(t, clerk, agent.SubAgent{WithoutPermission: true}, agent.Options{}), t.Context(), c, agent.Say("go"))
	for _, n := range of[agent.Nested](events) {
		var speaker string
		switch e := n.Event.(type) {
		case agent.StepStarted:
			speaker = e.Agent
		case agent.TextDelta, agent.Transferred, agent.TurnFinished:
			speaker = "expert"
		default:
			continue
		}
		if !slices.Equal(n.Chain, []string{"boss", speaker}) {
			t.Errorf("%T has the chain %v", n.Event, n.Chain)
		}
	}
	if got := messages(t, c); !slices.Contains(got, "tool: [ok Answer of the expert.]") {
		t.Errorf("%q", got)
	}
}

// A message that is interjected while an agent transfers is read by the next one.
func TestInterjectedBeforeAHandoff(t *testing.T) {
	second := hear(t, "say Bonn it is.")
	other := newAgentOn(t, second, agent.Options{Name: "b"})
	desk := newAgent(t, "call transfer_to_b {}", agent.Options{Name: "a", Tools: []agent.Tool{agent.AsHandoff(other, agent.Handoff{})}})
	c := agent.NewConversation()
	for e, err := range desk.Stream(t.Context(), c, agent.Say("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(agent.ToolCallStarted); ok {
			if err := c.Interject(t.Context(), agent.Say("No, in Bonn!")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := read(second.requests[0]); got[3] != "user: text No, in Bonn!" {
		t.Errorf("%q", got)
	}
}

// The summary that one agent has written is used by the next and stored.
func TestSummaryOutlivesAHandoff(t *testing.T) {
	second := hear(t, "say Here.")
	other := newAgentOn(t, second, agent.Options{Name: "b", Reduction: agent.Reduction{Strategy: agent.ReduceSummary, Target: 4, Threshold: 8}})
	desk := newAgent(t, "call transfer_to_b {}", agent.Options{
		Name: "a", Tools: []agent.Tool{agent.AsHandoff(other, agent.Handoff{})},
		Reduction: agent.Reduction{Strategy: agent.ReduceSummary, Target: 2, Threshold: 1, Summarizer: script.New(parse(t, "say short")...)},
	})
	c := agent.NewConversation()
	for i := range 4 {
		if err := c.Add(t.Context(), agent.Say(fmt.Sprint("q", i)), agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Text(fmt.Sprint("a", i))}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := desk.Run(t.Context(), c, agent.Say("go")); err != nil {
		t.Fatal(err)
	}
	r, _ := c.Load(t.Context())
	if r.Summary == nil || r.Summary.Text != "short" {
		t.Errorf("stored %+v", r.Summary)
	}
	if got := read(second.requests[0]); !strings.Contains(got[1], "short") || slices.Contains(got, "user: text q0") {
		t.Errorf("%q", got)
	}
}
