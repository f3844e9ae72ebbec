package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// agentOptions makes up an agent of the given depth below the first.
func (s *simulation) agentOptions(name string, depth int) (agent.Options, *simModel) {
	r := s.rand("agent", name)
	o := agent.Options{
		Name: name, MaxSteps: 1 + r.IntN(4), Continuation: pick(r, 0, 0, 1, 2), NoClosingAnswer: pick(r, true, false),
		MaxErrors: pick(r, 0, 1, -1), MaxIdenticalCalls: pick(r, 0, 2, -1), MaxParallelTools: 1 + r.IntN(4),
		StopOnUnknownTool: one(r, 10), DetailedErrors: one(r, 50), FullAccess: one(r, 10), KeepReasoning: one(r, 50),
		MaxAnswerBytes: pick(r, 0, 0, 500), MaxArgumentBytes: pick(r, 0, 100), MaxResultBytes: pick(r, 0, 8),
		TurnTimeout: pick(r, 0, 3*time.Second, -1), AttemptTimeout: 5 * time.Second, StallTimeout: 5 * time.Second,
		ToolTimeout: pick(r, time.Second, time.Second, -1), Grace: time.Second,
		Retry:         agent.Retry{Attempts: 1 + r.IntN(3), Base: 100 * time.Millisecond},
		AnswerTimeout: 2 * time.Second, MaxTokens: int64(pick(r, 0, 0, 30)),
		Observers: []agent.Observer{simObserver{s}},
	}
	if one(r, 20) {
		o.Reduction = agent.Reduction{Strategy: agent.ReduceCount, Target: 4, Threshold: 1, Hard: one(r, 50)}
	}
	if one(r, 15) {
		o.Output = &agent.Structured{Mode: agent.OutputTool, Types: []agent.OutputSchema{{Name: "final", Schema: argumentA}}}
	}
	if depth == 0 && one(r, 40) || depth > 0 && one(r, 20) {
		o.Answer = s.answerer(name)
	}
	if one(r, 20) {
		o.Middleware = []agent.Middleware{blocking}
	}
	m := &simModel{s: s, name: name, asked: map[string]int{}}
	for _, t := range s.tools(name, depth) {
		o.Tools = append(o.Tools, t)
		m.tools = append(m.tools, t.Spec().Name)
	}
	m.tools = append(m.tools, "quick", "quick", "nobody")
	if o.Output != nil {
		m.tools = append(m.tools, "return_final")
	}
	return o, m
}

// blocking refuses some calls.
var blocking = agent.Middleware{Name: "blocking", BeforeTools: func(_ context.Context, b *agent.Batch) error {
	for _, c := range b.Calls {
		if len(c.Arguments)%5 == 0 {
			b.Block(c.ID, agent.ResultDenied, "not today")
		}
	}
	return nil
}}

// answerer is a person who answers during the call.
func (s *simulation) answerer(name string) func(context.Context, agent.Pending) (agent.Answer, bool) {
	asking := make(chan struct{}, 1)
	return func(ctx context.Context, p agent.Pending) (agent.Answer, bool) {
		select {
		case asking <- struct{}{}:
			defer func() { <-asking }()
		default:
			if s.alone(name) {
				s.fail("two are asked at once: %s", p.ID)
			}
		}
		r := s.rand("answerer", name, p.ID)
		if p.Conversation == s.conv.ID() { // the turn runs: it takes neither answers nor inputs
			if err := s.conv.Answer(ctx, agent.Answer{PendingID: p.ID}); err == nil {
				s.fail("%s is answered past the running turn", p.ID)
			}
			if _, err := newAgentOn(s.t, plainModel{}, agent.Options{}).Run(ctx, s.conv, agent.Say("?")); !errors.Is(err, agent.ErrConflict) && ctx.Err() == nil {
				s.fail("a turn inside of a turn: %v", err)
			}
		}
		switch r.IntN(10) {
		case 0:
			return agent.Answer{}, false
		case 1:
			panic("nobody home")
		case 2:
			<-ctx.Done()
			return agent.Answer{}, false
		}
		<-time.After(time.Duration(r.IntN(3)) * 100 * time.Millisecond)
		return someAnswer(r, p), true
	}
}

// alone reports whether the agent's Answer is asked by one turn at a time: the
// first agent's is, with all those below it; another's may be by each of its own.
func (s *simulation) alone(name string) bool { return name == "boss" }

var argumentA = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`)

// tools are what an agent can call.
func (s *simulation) tools(name string, depth int) []agent.Tool {
	tool := func(spec agent.ToolSpec, f func(ctx context.Context, r *rand.Rand) (string, error)) agent.Tool {
		spec.Schema = argumentA
		return agent.Dynamic(spec, func(ctx context.Context, c agent.ToolCall) (agent.Output, error) {
			s.executed(ctx, c, spec)
			text, err := f(ctx, s.rand("tool", c.ID, c.Arguments))
			return agent.Output{Text: text}, err
		})
	}
	out := []agent.Tool{
		tool(agent.ToolSpec{Name: "quick"}, quick),
		tool(agent.ToolSpec{Name: "again", Idempotent: true}, quick),
		tool(agent.ToolSpec{Name: "pay", RequiresPermission: true}, quick),
		tool(agent.ToolSpec{Name: "fail"}, func(context.Context, *rand.Rand) (string, error) { return "", errors.New("broken") }),
		tool(agent.ToolSpec{Name: "panic"}, func(context.Context, *rand.Rand) (string, error) { panic("oops") }),
		tool(agent.ToolSpec{Name: "hang"}, hang),
		tool(agent.ToolSpec{Name: "stuck"}, stuck),
		tool(agent.ToolSpec{Name: "chatty"}, chatty),
		agent.External(agent.ToolSpec{Name: "client", Schema: argumentA, RequiresPermission: depth > 0}),
		agent.AskUser(),
	}
	for i := range 2 - depth {
		below := fmt.Sprintf("%s.%d", name, i)
		o, m := s.agentOptions(below, depth+1)
		sub := newAgentOn(s.t, s.fallback(m), o)
		out = append(out, agent.AsTool(sub, agent.SubAgent{Name: fmt.Sprintf("sub%d", i), WithoutPermission: i == 0, WithHistory: i == 1}))
	}
	return out
}

func quick(ctx context.Context, r *rand.Rand) (string, error) {
	for range r.IntN(3) {
		agent.Progress(ctx, "on the way", -1)
		<-time.After(time.Duration(r.IntN(200)) * time.Millisecond)
	}
	return "done with it", nil
}

func hang(ctx context.Context, _ *rand.Rand) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(10 * time.Second):
		return "at last", nil
	}
}

// stuck ignores its context and keeps reporting progress.
func stuck(ctx context.Context, _ *rand.Rand) (string, error) {
	for range 80 {
		<-time.After(100 * time.Millisecond)
		agent.Progress(ctx, "still there", 1)
	}
	return "late", nil
}

// chatty starts a goroutine that reports progress after the tool has returned.
func chatty(ctx context.Context, _ *rand.Rand) (string, error) {
	go func() {
		for range 20 {
			agent.Progress(ctx, "and another thing", 1)
			<-time.After(time.Millisecond)
		}
	}()
	return "bye", nil
}

// where says which turn and which call a context belongs to.
type where struct{ conversation, turn, call string }

type whereKey struct{}

// simObserver marks contexts with where they belong.
type simObserver struct{ s *simulation }

func (simObserver) Name() string { return "where" }

func (o simObserver) Start(ctx context.Context, op agent.Operation) (context.Context, func(agent.OperationResult)) {
	at, _ := ctx.Value(whereKey{}).(where)
	if op.Kind == agent.OpTurn && at.call != "" {
		o.s.mu.Lock()
		o.s.began[at.turn+" "+at.call] = true
		o.s.mu.Unlock()
	}
	return context.WithValue(ctx, whereKey{}, where{op.Conversation, op.TurnID, op.Call.ID}), func(agent.OperationResult) {}
}

// executed checks that a tool may run now: its step is stored, its result is not,
// and it did not run before unless it may run twice.
func (s *simulation) executed(ctx context.Context, c agent.ToolCall, spec agent.ToolSpec) {
	at := ctx.Value(whereKey{}).(where)
	key := fmt.Sprint(at.conversation, at.turn, c.ID)
	s.mu.Lock()
	s.runs[key]++
	runs := s.runs[key]
	named := agent.CallKey(ctx)
	other, call := s.keys[key], s.keys[named]
	s.keys[key], s.keys[named] = named, key
	s.mu.Unlock()
	if runs > 1 && other != named || call != "" && call != key {
		s.fail("%s of %s is called %q, after %q, which was %q", c.ID, at.conversation, named, other, call)
	}
	started, finished := s.store.knows(key)
	switch {
	case !started:
		s.fail("%s of %s runs before that is stored", c.ID, at.conversation)
	case finished:
		s.fail("%s of %s runs although its result is stored", c.ID, at.conversation)
	case runs > 1 && !spec.Idempotent:
		s.fail("%s of %s runs for the %d. time", c.ID, at.conversation, runs)
	}
}
