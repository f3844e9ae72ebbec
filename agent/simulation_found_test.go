package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// The defects that the simulation found, and those found next to them, one by one.

// clerkAgent is a sub-agent that plays a script anew for each call.
func clerkAgent(t *testing.T, text string) agent.Tool {
	t.Helper()
	clerk := newAgentOn(t, script.PerTurn(parse(t, text)...), agent.Options{Name: "clerk", Tools: storyTools()})
	return agent.AsTool(clerk, agent.SubAgent{WithoutPermission: true})
}

// nestedOf returns the events of the sub-agents.
func nestedOf(events []agent.Event) []agent.Event {
	var out []agent.Event
	for _, n := range of[agent.Nested](events) {
		out = append(out, n.Event)
	}
	return out
}

// The progress that an abandoned tool reports is discarded.
func TestNoEventAfterToolEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		talks := agent.Func("talks", "", func(ctx context.Context, _ struct{}) (string, error) {
			for range 30 { // ignores its context
				<-time.After(100 * time.Millisecond)
				agent.Progress(ctx, "on and on", 1)
			}
			return "late", nil
		})
		short := agent.Configure(talks, func(s *agent.ToolSpec) { s.Timeout = time.Second })
		a := newAgent(t, "call talks#t {}\ncall slow#s {\"a\":\"4s\"}\n---\nsay done", agent.Options{
			Tools: append(storyTools(), short), Grace: time.Millisecond,
		})
		over := false
		for _, e := range all(t, a, t.Context(), agent.NewConversation(), agent.Say("go")) {
			switch e := e.(type) {
			case agent.ToolFinished:
				over = over || e.Result.CallID == "t"
			case agent.ToolProgress:
				if over {
					t.Fatal("progress after the end")
				}
			}
		}
	})
}

// The turn ends while a sub-agent works: the sub-agent's turn is canceled, its
// events are whole, and the time or store that ended the turn is not called its
// own. (It went round in circles when the store had failed.)
func TestSubAgentEndsWithItsCaller(t *testing.T) {
	for name, test := range map[string]struct {
		clerk  string
		opts   agent.Options
		refuse string
		want   agent.Reason
	}{
		"time":  {"say Let\npause 10s", agent.Options{TurnTimeout: time.Second}, "", agent.ReasonTimeout},
		"store": {"say Let\npause 10s", agent.Options{}, "open 0 results=1", agent.ReasonStorage},
		"stuck": {"call stuck {}", agent.Options{TurnTimeout: time.Second}, "", agent.ReasonTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.opts.Tools = append(storyTools(), clerkAgent(t, test.clerk))
				a := newAgent(t, "call slow#e {\"a\":\"500ms\"}\ncall clerk#c {\"input\":\"pay\"}\n---\nsay done", test.opts)
				store := &tap{Store: agent.NewMemory(), refuse: test.refuse}
				events := all(t, a, t.Context(), agent.OpenConversation(store, "c"), agent.Say("go"))
				if end := finished(t, events); end.Reason != test.want {
					t.Errorf("ends as %s", end.Reason)
				}
				checkBalance(t, nestedOf(events))
				if end := finished(t, nestedOf(events)); end.Outcome != agent.Canceled {
					t.Errorf("the sub-agent ends as %s %s", end.Outcome, end.Reason)
				}
				<-time.After(time.Hour) // for the abandoned tool
			})
		})
	}
}

// A sub-agent begins to wait at the moment in which its caller is canceled: the
// call has no result, which is not an empty one.
func TestCancelDuringPendingCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := newAgent(t, "call clerk#c {\"input\":\"pay\"}", agent.Options{Tools: []agent.Tool{clerkAgent(t, "call pay {}")}})
	var results []agent.ToolResult
	for e, err := range a.Stream(ctx, agent.NewConversation(), agent.Say("go")) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.Nested:
			if _, ok := e.Event.(agent.TurnFinished); ok {
				cancel()
			}
		case agent.ToolFinished:
			results = append(results, e.Result)
		}
	}
	if len(results) != 1 || results[0].Status != agent.ResultCanceled || results[0].Text == "" {
		t.Errorf("results: %+v", results)
	}
}

// Two sub-agents ask at once; the person is asked one thing at a time.
func TestAnswerIsCalledSequentially(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, together atomic.Int32
		a := newAgent(t, "call clerk#a {\"input\":\"1\"}\ncall clerk#b {\"input\":\"2\"}\n---\nsay done", agent.Options{
			Tools: []agent.Tool{clerkAgent(t, "call pay {}\n---\nsay Paid.")},
			Answer: func(context.Context, agent.Pending) (agent.Answer, bool) {
				if together.Add(1) > 1 {
					t.Error("two are asked at once")
				}
				defer together.Add(-1)
				asked.Add(1)
				<-time.After(time.Second)
				return agent.Answer{Approved: true}, true
			},
		})
		if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil || asked.Load() != 2 {
			t.Errorf("asked %d times, %v", asked.Load(), err)
		}
	})
}

// One request is left open; the others are asked all the same.
func TestEveryRequestIsEmitted(t *testing.T) {
	var asked []string
	a := newAgent(t, "call pay#a {}\ncall pay#b {\"a\":\"2\"}\n---\nsay done", agent.Options{
		Answer: func(_ context.Context, p agent.Pending) (agent.Answer, bool) {
			asked = append(asked, p.Call.ID)
			return agent.Answer{Approved: true}, p.Call.ID == "b"
		},
	})
	end := finished(t, all(t, a, t.Context(), agent.NewConversation(), agent.Say("go")))
	if d := cmp.Diff([]string{"a", "b"}, asked); d != "" || len(end.Pending) != 1 || end.Pending[0].Call.ID != "a" {
		t.Errorf("asked %q, open %+v", asked, end.Pending)
	}
}

// A structured answer breaks off and is given again: what is shown of it begins
// anew.
func TestPartialOutputRestartsOnRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, "pause 200ms\nsay {\"a\":\"one two\nfail network\n---\npause 200ms\nsay {\"a\":\"one two three\"}", agent.Options{
			Output: &agent.Structured{Mode: agent.OutputNative, Types: []agent.OutputSchema{{Name: "a", Schema: argumentA}}},
		})
		var last struct{ A string }
		retried, partials := false, 0
		for _, e := range all(t, a, t.Context(), agent.NewConversation(), agent.Say("go")) {
			switch e := e.(type) {
			case agent.ModelRetrying:
				retried = true
			case agent.OutputPartial:
				if err := json.Unmarshal(e.Value, &last); err != nil || !strings.HasPrefix("one two three", last.A) {
					t.Errorf("partial %s, %v", e.Value, err)
				}
				if retried {
					partials++
				}
			}
		}
		if partials == 0 || last.A != "one two three" {
			t.Errorf("%d partials after the retry, the last is %q", partials, last.A)
		}
	})
}

// The consumer panics inside of the range: the tools are ended, and the turn goes
// on in the next run.
func TestConsumerPanicLeaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := agent.NewConversation()
		a := newAgent(t, "call busy#s {}", agent.Options{})
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			for e, err := range a.Stream(t.Context(), c, agent.Say("go")) {
				if err != nil {
					t.Error(err)
				}
				if _, ok := e.(agent.ToolProgress); ok {
					panic("oops")
				}
			}
		}()
		r, err := newAgent(t, "say done", agent.Options{}).Run(t.Context(), c)
		if err != nil || r.Text() != "done" {
			t.Errorf("the next run: %v", err)
		}
	})
}

// A turn that waited cannot be prepared any more: what its tools did stays.
func TestFailedResumeKeepsResults(t *testing.T) {
	c := agent.NewConversation()
	all(t, newAgent(t, "call echo#e {}\ncall client#q {}", agent.Options{}), t.Context(), c, agent.Say("go"))
	broken := agent.Middleware{Name: "broken", BeforeTurn: func(context.Context, []agent.Message) error { return errors.New("no") }}
	end := finished(t, all(t, newAgent(t, "say never", agent.Options{Middleware: []agent.Middleware{broken}}), t.Context(), c))
	if end.Reason != agent.ReasonInternal {
		t.Errorf("ends as %s", end.Reason)
	}
	checkResults(t, c)
	if got := messages(t, c); len(got) != 3 || !strings.Contains(got[2], "[ok echo ]") {
		t.Errorf("the history is %q", got)
	}
	if _, err := newAgent(t, "say hi", agent.Options{}).Run(t.Context(), c, agent.Say("again")); err != nil {
		t.Error(err)
	}
}

// A store takes its time with a whole step; that is not the turn's.
func TestTurnTimeoutExcludesStoreWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &tap{Store: agent.NewMemory(), block: make(chan struct{})}
		time.AfterFunc(10*time.Second, func() { close(store.block) })
		a := newAgent(t, "call echo {}\n---\ncall echo {\"a\":\"2\"}\n---\nsay done", agent.Options{TurnTimeout: 5 * time.Second})
		if _, err := a.Run(t.Context(), agent.OpenConversation(store, "c"), agent.Say("go")); err != nil {
			t.Error(err)
		}
	})
}

// The input is stored only at the end of the time for it; reading it back has its own.
func TestTurnBeginsOnSlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, "say done", agent.Options{})
		if _, err := a.Run(t.Context(), agent.OpenConversation(lateBegin{agent.NewMemory()}, "c"), agent.Say("go")); err != nil {
			t.Error(err)
		}
	})
}

// lateBegin is a store that finishes Begin after the time for it.
type lateBegin struct{ agent.Store }

func (s lateBegin) Begin(ctx context.Context, id string, turn agent.Turn) error {
	err := s.Store.Begin(ctx, id, turn)
	<-ctx.Done()
	return err
}

// A middleware takes long before it calls the model; that is not the time of the attempt,
// which the model has for itself.
func TestAttemptTimeoutExcludesMiddleware(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := agent.Middleware{Name: "late", Model: func(next agent.ModelFunc) agent.ModelFunc {
			return func(ctx context.Context, req *agent.Request) iter.Seq2[agent.Chunk, error] {
				return func(yield func(agent.Chunk, error) bool) {
					<-time.After(3 * time.Second)
					next(ctx, req)(yield)
				}
			}
		}}
		for pause, want := range map[string]bool{"1500ms": true, "2500ms": false} {
			a := newAgent(t, "pause "+pause+"\nsay done", agent.Options{AttemptTimeout: 2 * time.Second, Middleware: []agent.Middleware{late}, Retry: agent.Retry{Attempts: 1}})
			var failed *agent.ModelError
			_, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go"))
			if late := errors.As(err, &failed) && failed.Class == agent.ClassTimeout; late == want || err != nil && !late {
				t.Errorf("a model that begins after %s: %v", pause, err)
			}
		}
	})
}

// A person whom a sub-agent asks takes long; that is not the caller's time.
func TestTurnTimeoutExcludesAnswersInSubAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, "call clerk {\"input\":\"pay\"}\n---\nsay done", agent.Options{
			Tools: []agent.Tool{clerkAgent(t, "call pay {}\n---\nsay Paid.")}, TurnTimeout: time.Second,
			Answer: func(context.Context, agent.Pending) (agent.Answer, bool) {
				<-time.After(time.Minute)
				return agent.Answer{Approved: true}, true
			},
		})
		if _, err := a.Run(t.Context(), agent.NewConversation(), agent.Say("go")); err != nil {
			t.Error(err)
		}
	})
}
