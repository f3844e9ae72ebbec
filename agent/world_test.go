package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shoal-dev/shoal/agent"
	"github.com/shoal-dev/shoal/agent/provider/script"
)

// tap is a store that reports what is written, in order, and can refuse a write.
type tap struct {
	agent.Store
	mu     sync.Mutex
	log    []string
	refuse string        // the first write with this prefix fails
	block  chan struct{} // if set, writes of whole steps wait for it
}

var errDisk = errors.New("disk full")

func (s *tap) note(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	s.log = append(s.log, line)
	if s.refuse != "" && strings.HasPrefix(line, s.refuse) {
		return errDisk
	}
	return nil
}

func (s *tap) wrote() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *tap) Begin(ctx context.Context, id string, t agent.Turn) error {
	if err := s.note("begin %d", t.Attempt); err != nil {
		return err
	}
	return s.Store.Begin(ctx, id, t)
}

func (s *tap) Commit(ctx context.Context, id string, ref agent.TurnRef, step agent.Step) error {
	word := "open"
	if step.Done {
		word = "whole"
	}
	if step.Done && s.block != nil {
		<-s.block
	}
	if err := s.note("%s %d results=%d", word, step.Index, len(step.Results)); err != nil {
		return err
	}
	return s.Store.Commit(ctx, id, ref, step)
}

func (s *tap) End(ctx context.Context, id string, ref agent.TurnRef, end agent.TurnEnd) error {
	if err := s.note("end %s", end.Outcome); err != nil {
		return err
	}
	return s.Store.End(ctx, id, ref, end)
}

// parse reads a script.
func parse(t *testing.T, text string) []script.Answer {
	t.Helper()
	answers, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// newAgent makes an agent that plays a script.
func newAgent(t *testing.T, text string, o agent.Options) *agent.Agent {
	t.Helper()
	if o.Tools == nil {
		o.Tools = storyTools()
	}
	return newAgentOn(t, script.New(parse(t, text)...), o)
}

func newAgentOn(t *testing.T, m agent.Model, o agent.Options) *agent.Agent {
	t.Helper()
	a, err := agent.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// all takes a turn to its end and returns its events.
func all(t *testing.T, a *agent.Agent, ctx context.Context, c *agent.Conversation, in ...agent.Message) []agent.Event {
	t.Helper()
	var out []agent.Event
	for e, err := range a.Stream(ctx, c, in...) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// finished returns the last event, which is a TurnFinished, and checks that it
// is the only one.
func finished(t *testing.T, events []agent.Event) agent.TurnFinished {
	t.Helper()
	var ends []agent.TurnFinished
	for _, e := range events {
		if end, ok := e.(agent.TurnFinished); ok {
			ends = append(ends, end)
		}
	}
	if len(ends) != 1 || len(events) == 0 {
		t.Fatalf("%d TurnFinished among %d events", len(ends), len(events))
	}
	if _, ok := events[len(events)-1].(agent.TurnFinished); !ok {
		t.Fatalf("the last event is %T", events[len(events)-1])
	}
	return ends[0]
}

// of returns the events of one type.
func of[T agent.Event](events []agent.Event) []T {
	var out []T
	for _, e := range events {
		if v, ok := e.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

// messages returns the stored history as text: role and what it holds.
func messages(t *testing.T, c *agent.Conversation) []string {
	t.Helper()
	stored, err := c.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range stored {
		line := string(m.Role) + ": " + m.Text()
		for _, call := range m.Calls() {
			line += fmt.Sprintf("[%s %s]", call.Name, call.Arguments)
		}
		for _, r := range m.Results() {
			line += fmt.Sprintf("[%s %s]", r.Status, r.Text)
		}
		out = append(out, line)
	}
	return out
}

// checkBalance fails unless every start has its end and nothing follows an end.
func checkBalance(t *testing.T, events []agent.Event) {
	t.Helper()
	open, closed := map[string]bool{}, map[string]bool{}
	begin := func(id string) {
		if open[id] || closed[id] {
			t.Errorf("%s begins twice", id)
		}
		open[id] = true
	}
	inside := func(id string) {
		if !open[id] {
			t.Errorf("something of %s comes outside of it", id)
		}
	}
	end := func(id string) {
		inside(id)
		delete(open, id)
		closed[id] = true
	}
	for _, e := range events {
		switch e := e.(type) {
		case agent.TurnStarted:
			begin("turn")
		case agent.StepStarted:
			begin(fmt.Sprint("step ", e.Step))
		case agent.MessageStarted:
			begin(e.MessageID)
		case agent.TextStarted:
			begin(e.PartID)
		case agent.TextDelta:
			inside(e.PartID)
		case agent.TextEnded:
			end(e.PartID)
		case agent.ReasoningStarted:
			begin(e.PartID)
		case agent.ReasoningDelta:
			inside(e.PartID)
		case agent.ReasoningEnded:
			end(e.PartID)
		case agent.ToolCallStarted:
			begin("call " + e.MessageID + e.CallID)
		case agent.ToolStarted:
			begin("tool " + e.Call.ID)
		case agent.ToolFinished:
			delete(open, "tool "+e.Result.CallID)
		case agent.MessageEnded:
			end(e.MessageID)
			for id := range open { // the message distinguishes the calls
				if strings.HasPrefix(id, "call "+e.MessageID) {
					delete(open, id)
				}
			}
		case agent.StepFinished:
			end(fmt.Sprint("step ", e.Step))
		case agent.TurnFinished:
			end("turn")
			if e.Outcome == agent.Waiting {
				return
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
}
