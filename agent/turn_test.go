package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The range stops: the turn is canceled and stored, and nothing is left.
func TestBreakCancelsTheTurn(t *testing.T) {
	c := agent.NewConversation()
	a := newAgent(t, "say One two three.\ncall stuck {}", agent.Options{Grace: time.Millisecond})
	for e, err := range a.Stream(t.Context(), c, agent.Say("count")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(agent.TextDelta); ok {
			break
		}
	}
	if d := cmp.Diff([]string{"user: count", "assistant: One "}, messages(t, c)); d != "" {
		t.Error(d)
	}
	if _, err := newAgent(t, "say fine", agent.Options{}).Run(t.Context(), c, agent.Say("again")); err != nil {
		t.Errorf("the next turn: %v", err)
	}
}

// A44: two turns at once on one conversation.
func TestASecondTurnIsRefused(t *testing.T) {
	c := agent.NewConversation()
	a := newAgent(t, "say hi", agent.Options{})
	for _, err := range a.Stream(t.Context(), c, agent.Say("one")) {
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Run(t.Context(), c, agent.Say("two"))
		if !errors.Is(err, agent.ErrConflict) {
			t.Fatalf("the second turn: %v", err)
		}
		break
	}
}

// A62: what a context provider adds, and where.
func TestContextProviderAddsToTheRequest(t *testing.T) {
	fact := agent.Message{ID: "fact", Role: agent.User, Parts: []agent.Part{agent.Text("It rains in Kiel.")}}
	p := &remembering{provide: agent.ProvidedContext{
		Messages: []agent.Message{fact}, Instructions: "Be short.",
		Tools: []agent.Tool{agent.Func("extra", "", func(context.Context, struct{}) (string, error) { return "used", nil })},
	}}
	var requests []*agent.Request
	answers := parse(t, "call extra {}\n---\nsay done\n---\nsay again")
	m := script.Func(func(r *agent.Request) script.Answer {
		requests = append(requests, r)
		return answers[len(requests)-1]
	})
	c := agent.NewConversation()
	a := newAgentOn(t, m, agent.Options{Instructions: "You help.", Context: []agent.ContextProvider{p}})
	for _, text := range []string{"hello", "more"} {
		if _, err := a.Run(t.Context(), c, agent.Say(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := requests[0].Instructions; got != "You help.\nBe short." {
		t.Errorf("instructions: %q", got)
	}
	var seen []string
	for _, m := range requests[2].Messages {
		seen = append(seen, string(m.Role)+": "+m.Text())
	}
	want := []string{"user: hello", "assistant: ", "tool: ", "assistant: done", "user: It rains in Kiel.", "user: more"}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
	if len(p.invoking) != 2 || len(p.invoking[1].Input) != 1 || string(p.invoking[1].State) != `{"turns":1}` {
		t.Errorf("Provide was called with %+v", p.invoking)
	}
	if got := messages(t, c); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "rains") }) {
		t.Errorf("what was provided is stored: %q", got)
	}
}

// A context provider that fails does not fail the turn, but is seen.
func TestFailingContextProviderIsAWarning(t *testing.T) {
	p := &remembering{fail: errors.New("no memory")}
	events := all(t, newAgent(t, "say hi", agent.Options{Context: []agent.ContextProvider{p}}), t.Context(), agent.NewConversation(), agent.Say("hello"))
	if end := finished(t, events); end.Outcome != agent.Completed {
		t.Errorf("ends as %s", end.Outcome)
	}
	if w := of[agent.Warning](events); len(w) != 1 || w[0].Source != "context/remembering" || len(p.invoked) != 0 {
		t.Errorf("warnings %v, invoked %d times", w, len(p.invoked))
	}
}

// A66: the order of hooks, and what they can do.
func TestMiddlewareOrder(t *testing.T) {
	var log []string
	layer := func(name string) agent.Middleware {
		note := func(what string) { log = append(log, name+" "+what) }
		return agent.Middleware{
			Name:        name,
			BeforeTurn:  func(context.Context, []agent.Message) error { note("before turn"); return nil },
			AfterTurn:   func(context.Context, agent.TurnFinished) { note("after turn") },
			BeforeStep:  func(context.Context, int, *agent.Request) error { note("before step"); return nil },
			AfterStep:   func(context.Context, agent.Step) { note("after step") },
			BeforeTools: func(context.Context, *agent.Batch) error { note("before tools"); return nil },
			AfterTools:  func(context.Context, []agent.ToolResult) { note("after tools") },
			Model: func(next agent.ModelFunc) agent.ModelFunc {
				return func(ctx context.Context, r *agent.Request) iter.Seq2[agent.Chunk, error] {
					note("model")
					return next(ctx, r)
				}
			},
			Tool: func(next agent.ToolFunc) agent.ToolFunc {
				return func(ctx context.Context, c agent.ToolCall) (agent.Output, error) {
					note("tool")
					return next(ctx, c)
				}
			},
		}
	}
	a := newAgent(t, "call echo {}\n---\nsay done", agent.Options{Middleware: []agent.Middleware{layer("a"), layer("b")}})
	if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil {
		t.Fatal(err)
	}
	want := strings.Split("a before turn,b before turn,a before step,b before step,a model,b model,a before tools,b before tools,"+
		"a tool,b tool,b after tools,b after step,a after tools,a after step,"+
		"a before step,b before step,a model,b model,b after step,a after step,b after turn,a after turn", ",")
	if d := cmp.Diff(want, log); d != "" {
		t.Error(d)
	}
}

func TestMiddlewareMaySkipAndBlock(t *testing.T) {
	guard := agent.Middleware{
		BeforeTools: func(_ context.Context, b *agent.Batch) error {
			b.Block(b.Calls[0].ID, agent.ResultDenied, "not on Sundays")
			return nil
		},
		Tool: func(agent.ToolFunc) agent.ToolFunc {
			return func(context.Context, agent.ToolCall) (agent.Output, error) {
				return agent.Output{Text: "from the cache"}, nil
			}
		},
		BeforeStep: func(_ context.Context, step int, r *agent.Request) error {
			r.Instructions = fmt.Sprint("step ", step)
			return nil
		},
	}
	var instructions []string
	answers := parse(t, "call echo#a {\"a\":\"1\"}\ncall echo#b {\"a\":\"2\"}\n---\nsay done")
	m := script.Func(func(r *agent.Request) script.Answer {
		instructions = append(instructions, r.Instructions)
		return answers[len(instructions)-1]
	})
	c := agent.NewConversation()
	if _, err := newAgentOn(t, m, agent.Options{Tools: storyTools(), Middleware: []agent.Middleware{guard}}).Run(t.Context(), c, agent.Say("go")); err != nil {
		t.Fatal(err)
	}
	if got := messages(t, c)[2]; got != "tool: [denied not on Sundays][ok from the cache]" {
		t.Error(got)
	}
	if !slices.Equal(instructions, []string{"step 0", "step 1"}) {
		t.Errorf("%q", instructions)
	}
}

func TestFailingHookFailsTheTurn(t *testing.T) {
	broken := errors.New("broken")
	for name, mw := range map[string]agent.Middleware{
		"before turn":  {BeforeTurn: func(context.Context, []agent.Message) error { return broken }},
		"before step":  {BeforeStep: func(context.Context, int, *agent.Request) error { return broken }},
		"before tools": {BeforeTools: func(context.Context, *agent.Batch) error { return broken }},
		"panic":        {BeforeStep: func(context.Context, int, *agent.Request) error { panic("oops") }},
	} {
		t.Run(name, func(t *testing.T) {
			c := agent.NewConversation()
			events := all(t, newAgent(t, "call echo {}", agent.Options{Middleware: []agent.Middleware{mw}}), t.Context(), c, agent.Say("go"))
			if end := finished(t, events); end.Outcome != agent.Failed || end.Reason != agent.ReasonInternal || end.Err == nil {
				t.Errorf("ends as %s %s, %v", end.Outcome, end.Reason, end.Err)
			}
			checkBalance(t, events)
			checkResults(t, c)
			if _, err := newAgent(t, "say fine", agent.Options{}).Run(t.Context(), c, agent.Say("again")); err != nil {
				t.Errorf("the next turn: %v", err)
			}
		})
	}
}

// watcher is an observer that writes down what it sees, indented by depth.
type watcher struct {
	log    *[]string
	panics bool
}

type depthKey struct{}

func (w watcher) Name() string { return "watcher" }

func (w watcher) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	if w.panics {
		panic("oops")
	}
	depth, _ := ctx.Value(depthKey{}).(int)
	what := fmt.Sprintf("%s%s %s", strings.Repeat("  ", depth), op.Kind, op.Call.Name)
	*w.log = append(*w.log, what)
	return context.WithValue(ctx, depthKey{}, depth+1), func(e agent.OperationResult) {
		*w.log = append(*w.log, fmt.Sprintf("%s ended %s%s%s", what, e.Outcome, e.Finish, e.Result.Status))
	}
}

func TestObserversSeeNestedOperations(t *testing.T) {
	var log []string
	a := newAgent(t, "call echo {}\n---\nfail overloaded\n---\nsay done", agent.Options{
		Observers: []agent.Observer{watcher{log: &log}}, Retry: agent.Retry{Base: time.Nanosecond},
	})
	if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil {
		t.Fatal(err)
	}
	want := strings.Split("turn |  step |    model |    model  ended tool_calls|    tool echo|    tool echo ended ok|  step  ended tool_calls|"+
		"  step |    model |    model  ended |    model |    model  ended stop|  step  ended stop|turn  ended completed", "|")
	if d := cmp.Diff(want, log); d != "" {
		t.Error(d)
	}
}

// A68: a failing observer never breaks a run.
func TestPanickingObserverIsAWarning(t *testing.T) {
	events := all(t, newAgent(t, "say hi", agent.Options{Observers: []agent.Observer{watcher{panics: true}}}), t.Context(), agent.NewConversation(), agent.Say("go"))
	if end := finished(t, events); end.Outcome != agent.Completed {
		t.Errorf("ends as %s", end.Outcome)
	}
	if w := of[agent.Warning](events); len(w) != 3 || w[0].Source != "observer/watcher" {
		t.Errorf("warnings: %v", w)
	}
}

// Thoughts stay in what later turns see until the history is reduced: a prompt
// whose past changes is read by no cache. A reduction drops those of earlier
// turns, unless KeepReasoning says otherwise, and what it has dropped stays away.
func TestReasoningStaysUntilAReduction(t *testing.T) {
	count := agent.Reduction{Strategy: agent.ReduceCount, Target: 5, Threshold: 2}
	hard := count
	hard.Hard = true
	for name, test := range map[string]struct {
		reduction agent.Reduction
		keep      bool
		want      []int // seen by each call
		stored    int   // at the end
	}{
		"none":           {agent.Reduction{}, false, []int{0, 1, 1, 2, 2, 3, 3, 4}, 4},
		"soft":           {count, false, []int{0, 1, 1, 2, 0, 1, 0, 1}, 4},
		"soft, all stay": {count, true, []int{0, 1, 1, 2, 1, 2, 1, 2}, 4},
		"hard":           {hard, false, []int{0, 1, 1, 2, 0, 1, 0, 1}, 2},
		"hard, all stay": {hard, true, []int{0, 1, 1, 2, 1, 2, 1, 2}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var thoughts []int
			answers := parse(t, "think Hm.\ncall echo {}\n---\nsay done")
			m := script.Func(func(r *agent.Request) script.Answer {
				thoughts = append(thoughts, countThoughts(r.Messages))
				return answers[(len(thoughts)-1)%2]
			})
			c := agent.NewConversation()
			a := newAgentOn(t, m, agent.Options{Tools: storyTools(), KeepReasoning: test.keep, Reduction: test.reduction})
			for range len(test.want) / 2 {
				if _, err := a.Run(t.Context(), c, agent.Say("go")); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(thoughts, test.want) {
				t.Errorf("the model saw %v thoughts, want %v", thoughts, test.want)
			}
			stored, err := c.Messages(t.Context())
			if got := countThoughts(stored); err != nil || got != test.stored {
				t.Errorf("%d thoughts are stored, want %d (%v)", got, test.stored, err)
			}
		})
	}
}

func countThoughts(messages []agent.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Type == agent.ReasoningPart {
				n++
			}
		}
	}
	return n
}

// Provider's Retry-After is taken whole; without it the delay doubles.
func TestRetryDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, "fail overloaded\n---\nfail network\n---\nfail rate_limited 7s\n---\nsay hi", agent.Options{})
		began := time.Now()
		events := all(t, a, t.Context(), agent.NewConversation(), agent.Say("go"))
		var total time.Duration
		retries := of[agent.ModelRetrying](events)
		for i, limits := range [][2]time.Duration{{750 * time.Millisecond, time.Second}, {1500 * time.Millisecond, 2 * time.Second}, {7 * time.Second, 7 * time.Second}} {
			if d := retries[i].Delay; d < limits[0] || d > limits[1] {
				t.Errorf("retry %d after %s", i+1, d)
			}
			total += retries[i].Delay
		}
		if took := time.Since(began); took != total || finished(t, events).Outcome != agent.Completed {
			t.Errorf("took %s of %s", took, total)
		}
	})
}

func TestRetryRules(t *testing.T) {
	overloaded := &agent.ModelError{Class: agent.ClassOverloaded}
	for name, test := range map[string]struct {
		retry agent.Retry
		calls int
	}{
		"default":   {agent.Retry{}, 4},
		"one":       {agent.Retry{Attempts: 1}, 1},
		"per class": {agent.Retry{PerClass: map[agent.ErrorClass]int{agent.ClassOverloaded: 1}}, 2},
		"never":     {agent.Retry{Decide: func(int, error) (time.Duration, bool, bool) { return 0, false, true }}, 1},
		"undecided": {agent.Retry{Decide: func(int, error) (time.Duration, bool, bool) { return 0, false, false }}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				m := script.Func(func(*agent.Request) script.Answer { calls++; return script.Answer{Err: overloaded} })
				end := finished(t, all(t, newAgentOn(t, m, agent.Options{Retry: test.retry}), t.Context(), agent.NewConversation(), agent.Say("go")))
				if calls != test.calls || end.Reason != agent.ReasonUnavailable {
					t.Errorf("%d calls, %s", calls, end.Reason)
				}
			})
		})
	}
}

// A67: a structured answer that grows.
func TestStructuredAnswer(t *testing.T) {
	type place struct {
		City    string   `json:"city"`
		Streets []string `json:"streets"`
	}
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, "pause 60ms\nsay {\"city\":\"Bad Oldesloe an der Trave\",\"streets\":[\"Am Markt\",\"Zur Mühle am Bach\"]}", agent.Options{
			Tools: []agent.Tool{}, Output: &agent.Structured{Mode: agent.OutputNative, Types: []agent.OutputSchema{agent.OutputOf[place]("place", "")}},
		})
		events := all(t, a, t.Context(), agent.NewConversation(), agent.Say("where?"))
		partials := of[agent.OutputPartial](events)
		if len(partials) < 3 {
			t.Fatalf("%d partials", len(partials))
		}
		last := 0
		for _, p := range partials {
			var v place
			if err := json.Unmarshal(p.Value, &v); err != nil || len(p.Value) < last {
				t.Errorf("partial %s: %v", p.Value, err)
			}
			last = len(p.Value)
		}
	})
	a := newAgent(t, `say {"city":"Kiel","streets":[]}`, agent.Options{
		Tools: []agent.Tool{}, Output: &agent.Structured{Mode: agent.OutputNative, Types: []agent.OutputSchema{agent.OutputOf[place]("place", "")}},
	})
	r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("where?"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := agent.Decode[place](r); err != nil || got.City != "Kiel" || r.Structured != "place" {
		t.Errorf("%+v, %q, %v", got, r.Structured, err)
	}
	if _, err := agent.Decode[place](&agent.Result{}); !errors.Is(err, agent.ErrInvalidArgument) {
		t.Errorf("no answer decodes: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	model := script.New()
	echo := storyTools()[0]
	for want, o := range map[string]agent.Options{
		"MaxSteps must be greater than zero":                       {MaxSteps: -1},
		`ToolChoice.Mode is "maybe"`:                               {ToolChoice: agent.ToolChoice{Mode: "maybe"}},
		`ToolChoice.Name is "x", which is not a tool of the agent`: {ToolChoice: agent.ToolChoice{Mode: agent.ToolsSpecific, Name: "x"}},
		`Tools has two tools named "echo"`:                         {Tools: []agent.Tool{echo, echo}},
		"Tools[0] is nil":                                          {Tools: []agent.Tool{nil}},
		"Output.Types is empty":                                    {Output: &agent.Structured{Mode: agent.OutputNative}},
		`Output.Mode is "xml"; native, tool and union are known`:   {Output: &agent.Structured{Mode: "xml", Types: []agent.OutputSchema{{Name: "a", Schema: []byte(`{}`)}}}},
		"Continuation must not be negative":                        {Continuation: -1},
		"MaxCost needs Price":                                      {MaxCost: 1},
		"Reduction.Share needs a model whose":                      {Reduction: agent.Reduction{Strategy: agent.ReduceCount, Share: 0.5}},
		"Observers[0] is nil":                                      {Observers: []agent.Observer{nil}},
	} {
		if _, err := agent.New(model, o); !errors.Is(err, agent.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if _, err := agent.New(nil, agent.Options{}); !errors.Is(err, agent.ErrInvalidArgument) {
		t.Errorf("no model: %v", err)
	}
}
