// Package storetest is the conformance suite of [agent.Store]: what the
// interface says, as tests. A store runs it from a test of its own:
//
//	func TestStore(t *testing.T) {
//		storetest.Exercise(t, func(t *testing.T) agent.Store { return openEmpty(t) })
//	}
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/agent"
)

// Exercise runs the whole suite, each part on an empty store of its own that
// open returns. The suite closes nothing; open uses t.Cleanup for that. Times
// must come back to the microsecond, in whatever zone. What the store implements of
// [agent.Lister], [agent.Deleter] and [agent.Expirer] is exercised, too.
func Exercise(t *testing.T, open func(t *testing.T) agent.Store) {
	t.Helper()
	groups := [][]part{loadParts, beginParts, commitParts, endParts, replaceParts, sharingParts}
	store := open(t)
	if _, ok := store.(agent.Lister); ok {
		groups = append(groups, listParts)
	}
	if _, ok := store.(agent.Deleter); ok {
		groups = append(groups, deleteParts)
	}
	if _, ok := store.(agent.Expirer); ok {
		groups = append(groups, expireParts)
	}
	for _, group := range groups {
		for _, p := range group {
			t.Run(p.name, func(t *testing.T) { p.run(&suite{T: t, ctx: t.Context(), store: open(t)}) })
		}
	}
}

// part is one promise of the interface.
type part struct {
	name string
	run  func(s *suite)
}

type suite struct {
	*testing.T
	ctx   context.Context
	store agent.Store
}

const conv = "cnv_1"

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)

// at returns a time that is n minutes after the first one.
func at(n int) time.Time { return epoch.Add(time.Duration(n) * time.Minute) }

func say(id string) agent.Message {
	return agent.Message{ID: id, Role: agent.User, Parts: []agent.Part{agent.Text("said " + id)}, CreatedAt: at(0)}
}

func turn(id string, attempt int, input ...agent.Message) agent.Turn {
	return agent.Turn{ID: id, Attempt: attempt, Agent: "tester", Input: input, StartedAt: at(attempt)}
}

func ref(id string, attempt int) agent.TurnRef { return agent.TurnRef{ID: id, Attempt: attempt} }

// answered is a step without calls.
func answered(index int) agent.Step {
	return agent.Step{
		Index: index, Done: true, Finish: agent.FinishStop, Usage: agent.Usage{InputTokens: 7, OutputTokens: 3}, Cost: 0.25,
		Assistant: agent.Message{ID: "a", Role: agent.Assistant, Parts: []agent.Part{agent.Text("answer")}, CreatedAt: at(2)},
	}
}

// calling is a step with two calls and the given results of them.
func calling(index int, done bool, results ...string) agent.Step {
	step := agent.Step{
		Index: index, Done: done, Finish: agent.FinishCalls, Started: []string{"c1", "c2"},
		Assistant: agent.Message{ID: "b", Role: agent.Assistant, CreatedAt: at(2), Parts: []agent.Part{
			{Type: agent.ReasoningPart, Text: "hm", Opaque: json.RawMessage(`{"sig":"x"}`)},
			{Type: agent.CallPart, Call: &agent.ToolCall{ID: "c1", Name: "look", Arguments: `{"at":"<b>"}`}},
			{Type: agent.CallPart, Call: &agent.ToolCall{ID: "c2", Name: "ask", Arguments: `not json`}},
		}},
	}
	for _, id := range results {
		step.Results = append(step.Results, agent.ToolResult{
			CallID: id, Name: "look", Status: agent.ResultOK, Text: "seen", Files: []agent.File{{MediaType: "image/png", Data: []byte{0, 255, 10}}},
		})
	}
	if !done {
		step.Pending = []agent.Pending{{ID: "p", Kind: agent.Permission, Call: agent.ToolCall{ID: "c2", Name: "ask"}, Conversation: conv, RequestedAt: at(2)}}
	}
	return step
}

func (s *suite) begin(turn agent.Turn) {
	s.Helper()
	s.must(s.store.Begin(s.ctx, conv, turn))
}

func (s *suite) commit(r agent.TurnRef, step agent.Step) {
	s.Helper()
	s.must(s.store.Commit(s.ctx, conv, r, step))
}

func (s *suite) end(r agent.TurnRef, outcome agent.Outcome) {
	s.Helper()
	s.must(s.store.End(s.ctx, conv, r, agent.TurnEnd{Outcome: outcome, At: at(3)}))
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

func (s *suite) load() agent.Record {
	s.Helper()
	r, err := s.store.Load(s.ctx, conv)
	s.must(err)
	return r
}

// refuses checks that write fails with the kind and a sentence, and that the
// record is as before.
func (s *suite) refuses(kind agent.ErrorKind, write func() error) {
	s.Helper()
	before, beforeErr := s.store.Load(s.ctx, conv)
	err := write()
	var said *agent.Error
	if !errors.As(err, &said) || said.Kind != kind {
		s.Fatalf("got the error %v, want one of kind %s", err, kind)
	}
	if len(said.Msg) < 20 {
		s.Errorf("the error says %q; it must say what is wrong and what to do", said.Msg)
	}
	after, afterErr := s.store.Load(s.ctx, conv)
	if agent.KindOf(beforeErr) != agent.KindOf(afterErr) {
		s.Errorf("a refused write changed what Load says from %v to %v", beforeErr, afterErr)
	}
	s.same("after a refused write", after, before)
}

// same compares by what JSON says, times to the microsecond.
func (s *suite) same(what string, got, want any) {
	s.Helper()
	if a, b := plain(s.T, got), plain(s.T, want); !reflect.DeepEqual(a, b) {
		s.Errorf("%s:\n got %v\nwant %v", what, a, b)
	}
}

func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return normal(out)
}

// normal writes times in one zone and drops what is empty.
func normal(v any) any {
	switch v := v.(type) {
	case string:
		if when, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return when.UTC().Truncate(time.Microsecond)
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case map[string]any:
		for k := range v {
			if v[k] = normal(v[k]); v[k] == nil {
				delete(v, k)
			}
		}
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

func ids(messages []agent.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return out
}

// history checks the ids of the stored messages; results have none.
func (s *suite) history(want ...string) {
	s.Helper()
	if got := ids(s.load().Messages); !slices.Equal(got, want) {
		s.Errorf("the messages are %q, want %q", got, want)
	}
}
