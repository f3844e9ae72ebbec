package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/shoal-dev/shoal/agent"
)

// frozen is a store that remembers each step as it was when it was given.
type frozen struct {
	agent.Store
	steps []agent.Step
	texts []string
	// taken is called when a turn is taken over, before it is.
	taken func()
}

func (f *frozen) Commit(ctx context.Context, id string, ref agent.TurnRef, step agent.Step) error {
	f.steps, f.texts = append(f.steps, step), append(f.texts, text(step))
	return f.Store.Commit(ctx, id, ref, step)
}

func (f *frozen) Begin(ctx context.Context, id string, t agent.Turn) error {
	if f.taken != nil && t.Attempt > 1 {
		f.taken()
	}
	return f.Store.Begin(ctx, id, t)
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// What a store was given stays as it was: it may encode it later.
func TestStoredStepIsImmutable(t *testing.T) {
	store := &frozen{Store: agent.NewMemory()}
	a := newAgent(t, "call pay {}\ncall client {\"n\":1}\ncall client {\"n\":2}\n---\nsay Done.", agent.Options{
		Answer: func(context.Context, agent.Pending) (agent.Answer, bool) {
			return agent.Answer{Approved: true, Text: "x"}, true
		},
	})
	all(t, a, t.Context(), agent.OpenConversation(store, "c"), agent.Say("go"))
	if len(store.steps) < 5 {
		t.Fatalf("only %d steps were stored", len(store.steps))
	}
	for i, s := range store.steps {
		if text(s) != store.texts[i] {
			t.Errorf("step %d was changed after it was stored:\n%s\n%s", i, store.texts[i], text(s))
		}
	}
}

// An answer that comes while the turn is being taken over is not lost.
func TestAnswerDuringTakeoverCounts(t *testing.T) {
	store := &frozen{Store: agent.NewMemory()}
	c := agent.OpenConversation(store, "c")
	a := newAgent(t, "call client {}\ncall client {\"n\":2}\n---\nsay Done.", agent.Options{})
	end := finished(t, all(t, a, t.Context(), c, agent.Say("go")))
	mustAnswer(t, c, agent.Answer{PendingID: end.Pending[1].ID, Text: "x"})
	store.taken = func() {
		store.taken = nil
		mustAnswer(t, c, agent.Answer{PendingID: end.Pending[0].ID, Text: "x"})
	}
	if end = finished(t, all(t, a, t.Context(), c)); end.Outcome != agent.Completed {
		t.Errorf("the answer was lost: the turn is %s", end.Outcome)
	}
}
