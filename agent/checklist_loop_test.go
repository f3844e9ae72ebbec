package agent_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The tests in checklist_*_test.go hold those statements of docs/agent.md's
// appendix that no other test holds; A14 is its row 14.

// endlessTool is a tool that runs until its context ends.
func endlessTool() agent.Tool {
	return agent.Func("hang", "", func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
}

// A2, A17: limits that nobody has set.
func TestA02Defaults(t *testing.T) {
	wait := func(ctx context.Context, _ agent.Pending) (agent.Answer, bool) {
		<-ctx.Done()
		return agent.Answer{}, false
	}
	for name, test := range map[string]struct {
		script string
		opts   agent.Options
		took   time.Duration
		reason agent.Reason
		result agent.ResultStatus
	}{
		"a tool has 30 s":            {"call hang {}\n---\nsay done", agent.Options{}, 30 * time.Second, agent.ReasonDone, agent.ResultTimedOut},
		"a turn has 5 min":           {"call hang {}", agent.Options{ToolTimeout: -1}, 5 * time.Minute, agent.ReasonTimeout, agent.ResultCanceled},
		"an answer has 5 min":        {"call pay {}\n---\nsay done", agent.Options{Answer: wait}, 5 * time.Minute, agent.ReasonDone, agent.ResultDenied},
		"the first chunk has 60 s":   {"pause 1m1s\nsay hi", agent.Options{Retry: agent.Retry{Attempts: 1}}, time.Minute, agent.ReasonUnavailable, ""},
		"ten steps, none for asking": {strings.Repeat("call slow {\"a\":\"1s\"}\n---\n", 10) + "say all I know", agent.Options{MaxIdenticalCalls: -1}, 10 * time.Second, agent.ReasonMaxSteps, agent.ResultOK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.opts.Tools = append(storyTools(), endlessTool())
				began := time.Now()
				events := all(t, newAgent(t, test.script, test.opts), t.Context(), agent.NewConversation(), agent.Say("go"))
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, not %s", took, test.took)
				}
				if end := finished(t, events); end.Reason != test.reason {
					t.Errorf("ends as %s, not %s", end.Reason, test.reason)
				}
				for _, e := range of[agent.ToolFinished](events) {
					if e.Result.Status != test.result {
						t.Errorf("the tool is %s, not %s", e.Result.Status, test.result)
					}
				}
			})
		})
	}
}

// A2, A7: eight tools of a step run at once, the ninth waits.
func TestA07EightToolsRunInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		busy := agent.Func("busy", "", func(context.Context, struct{}) (string, error) {
			most.Store(max(most.Load(), now.Add(1)))
			<-time.After(time.Second)
			now.Add(-1)
			return "", nil
		})
		began := time.Now()
		a := newAgent(t, strings.Repeat("call busy {}\n", 9)+"---\nsay done", agent.Options{Tools: []agent.Tool{busy}, MaxIdenticalCalls: -1})
		all(t, a, t.Context(), agent.NewConversation(), agent.Say("go"))
		if took := time.Since(began); most.Load() != 8 || took != 2*time.Second {
			t.Errorf("%d at once, in %s", most.Load(), took)
		}
	})
}

// A4: what decides asks no clock, no context and no goroutine.
func TestA04TheMachineDoesNoIO(t *testing.T) {
	files, err := filepath.Glob("machine*.go")
	if err != nil || len(files) < 4 {
		t.Fatalf("machine files: %q, %v", files, err)
	}
	pure := []string{"encoding/json", "errors", "fmt", "slices", "strconv", "strings", "time", "unicode/utf8"}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(pure, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt, *ast.ChanType:
				t.Errorf("%s has a %T", name, n)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && !slices.Contains([]string{"Duration", "Time"}, n.Sel.Name) {
					t.Errorf("%s uses time.%s", name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// A4: the breaker comes before the unknown tool.
func TestA04ErrorLimitIsCheckedBeforeUnknownTool(t *testing.T) {
	same := "call echo {\"a\":\"x\"}\n"
	a := newAgent(t, same+"---\n"+same+"---\n"+same+"call nothing {}", agent.Options{MaxIdenticalCalls: 2, StopOnUnknownTool: true})
	end := finished(t, all(t, a, t.Context(), agent.NewConversation(), agent.Say("go")))
	if end.Reason != agent.ReasonIdenticalCalls || end.Steps != 3 {
		t.Errorf("ends as %s after %d steps", end.Reason, end.Steps)
	}
}

// A5: keys are sorted, at every depth; other arguments begin the count anew.
func TestA05ArgumentsAreComparedRegardlessOfKeyOrder(t *testing.T) {
	any := agent.Dynamic(agent.ToolSpec{Name: "any", Schema: []byte(`{"type":"object"}`)},
		func(context.Context, agent.ToolCall) (agent.Output, error) { return agent.Output{}, nil })
	other := agent.Configure(any, func(s *agent.ToolSpec) { s.Name = "other" })
	calls := []string{
		`any {"a":1,"b":{"c":2,"d":3}}`, `any {"b":{"d":3,"c":2},"a":1}`, // two
		`any {"a":1}`,                       // begins anew
		`any {"a":1,"b":{"c":2,"d":3}}`,     // and again: one
		`other {"a":1}`,                     // another tool has a count of its own
		`any {"b":{"c":2,"d":3}, "a":1}`,    // two
		`any {"b":{"c": 2, "d": 3},"a": 1}`, // three: refused
		`any {"a":1,"b":{"c":2,"d":3}}`,     // ends the turn
	}
	a := newAgent(t, "call "+strings.Join(calls, "\n---\ncall "), agent.Options{Tools: []agent.Tool{any, other}, MaxIdenticalCalls: 3})
	if end := finished(t, all(t, a, t.Context(), agent.NewConversation(), agent.Say("go"))); end.Reason != agent.ReasonIdenticalCalls || end.Steps != 8 {
		t.Errorf("ends as %s after %d steps", end.Reason, end.Steps)
	}
}

// A11: a tool is not called again by itself, whatever it fails with.
func TestA11ToolsAreNotRetried(t *testing.T) {
	calls := 0
	broken := agent.Func("broken", "", func(context.Context, struct{}) (string, error) {
		calls++
		return "", &agent.ModelError{Class: agent.ClassOverloaded}
	})
	all(t, newAgent(t, "call broken {}\n---\nsay done", agent.Options{Tools: []agent.Tool{broken}}), t.Context(), agent.NewConversation(), agent.Say("go"))
	if calls != 1 {
		t.Errorf("called %d times", calls)
	}
}

// A14: the tool choice is in every request of the turn; the closing answer calls nothing.
func TestA14ToolChoiceIsSentWithEveryStep(t *testing.T) {
	want := agent.ToolChoice{Mode: agent.ToolsSpecific, Name: "echo"}
	var got []agent.ToolChoice
	m := script.Func(func(r *agent.Request) script.Answer {
		got = append(got, r.ToolChoice)
		return script.Answer{Calls: []agent.ToolCall{{Name: "echo", Arguments: `{}`}}}
	})
	all(t, newAgentOn(t, m, agent.Options{Tools: storyTools(), ToolChoice: want, MaxSteps: 2}), t.Context(), agent.NewConversation(), agent.Say("go"))
	if d := cmp.Diff([]agent.ToolChoice{want, want, {Mode: agent.ToolsNone}}, got); d != "" {
		t.Error(d)
	}
}

// A15: canceling reaches the tool that runs, and the turn has its end.
func TestA15CancelingReachesTheTool(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := agent.NewConversation()
	var events []agent.Event
	for e, err := range newAgent(t, "call hang#h {}", agent.Options{Tools: []agent.Tool{endlessTool()}}).Stream(ctx, c, agent.Say("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, e); show(e) == "tool h starts" {
			cancel()
		}
	}
	if end := finished(t, events); end.Outcome != agent.Canceled {
		t.Errorf("ends as %s", end.Outcome)
	}
	checkBalance(t, events)
	if got := messages(t, c)[2]; got != "tool: [canceled Error: Function 'hang' was canceled.]" {
		t.Error(got)
	}
}

// A66: a wrapper may answer instead of the model.
func TestA66MiddlewareMaySkipTheModel(t *testing.T) {
	cached := agent.Middleware{Name: "cache", Model: func(agent.ModelFunc) agent.ModelFunc {
		return func(context.Context, *agent.Request) iter.Seq2[agent.Chunk, error] {
			return func(yield func(agent.Chunk, error) bool) {
				_ = yield(agent.Chunk{Kind: agent.ChunkText, Text: "from the cache"}, nil) &&
					yield(agent.Chunk{Kind: agent.ChunkFinish, Reason: agent.FinishStop}, nil)
			}
		}
	}}
	r, err := newAgent(t, "fail auth", agent.Options{Middleware: []agent.Middleware{cached}}).Run(t.Context(), agent.NewConversation(), agent.Say("go"))
	if err != nil || r.Text() != "from the cache" {
		t.Errorf("%v, %v", r, err)
	}
}

// A67: in union mode the model chooses the form, and the call ends the turn.
func TestA67UnionOfOutputSchemas(t *testing.T) {
	out := &agent.Structured{Mode: agent.OutputUnion, Types: []agent.OutputSchema{
		agent.OutputOf[struct{ City string }]("place", ""), agent.OutputOf[struct{ Why string }]("refusal", ""),
	}}
	var names []string
	m := script.Func(func(r *agent.Request) script.Answer {
		for _, s := range r.Tools {
			names = append(names, s.Name)
		}
		return script.Answer{Calls: []agent.ToolCall{{Name: "return_refusal", Arguments: `{"Why":"far"}`}}}
	})
	a := newAgentOn(t, m, agent.Options{Output: out})
	events := all(t, a, t.Context(), agent.NewConversation(), agent.Say("where?"))
	if len(of[agent.OutputPartial](events)) > 0 || finished(t, events).Outcome != agent.Completed {
		t.Errorf("%d partials, %+v", len(of[agent.OutputPartial](events)), finished(t, events))
	}
	r, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("where?"))
	if err != nil || r.Structured != "refusal" || string(r.Output) != `{"Why":"far"}` {
		t.Errorf("%+v, %v", r, err)
	}
	if !slices.Equal(names[:min(2, len(names))], []string{"return_place", "return_refusal"}) {
		t.Errorf("the model sees %q", names)
	}
}
