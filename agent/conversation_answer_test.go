package agent

import (
	"testing"
	"testing/synctest"
	"time"
)

// waiting returns a conversation whose turn has done one step and waits in the
// second one for the given requests; the call c2 has its result.
func waiting(t *testing.T, store Store, id string, requests ...Pending) *Conversation {
	t.Helper()
	c := OpenConversation(store, id)
	ctx, ref := t.Context(), TurnRef{ID: "t", Attempt: 1}
	ok(t, store.Begin(ctx, id, Turn{ID: "t", Attempt: 1, Input: []Message{Say("go")}, StartedAt: time.Now()}))
	first := tale("At")
	ok(t, store.Commit(ctx, id, ref, Step{
		Assistant: first[0], Results: first[1].Results(), Done: true,
		Pending: []Pending{{ID: "earlier", Kind: Permission, Conversation: id}},
	}))
	calls := Message{Role: Assistant}
	for _, call := range []string{"c1", "c2", "c3"} {
		calls.Parts = append(calls.Parts, Part{Type: CallPart, Call: &ToolCall{ID: call, Name: "x"}})
	}
	ok(t, store.Commit(ctx, id, ref, Step{
		Index: 1, Assistant: calls, Pending: requests, Results: []ToolResult{{CallID: "c2", Name: "x", Status: ResultOK, Text: "done"}},
	}))
	ok(t, store.End(ctx, id, ref, TurnEnd{Outcome: Waiting, At: time.Now()}))
	return c
}

func TestAnswersMatchTheirRequests(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   PendingKind
		answer Answer
		wrong  string // the field, empty if the answer is taken
	}{
		{"allowed", Permission, Answer{Approved: true}, ""},
		{"allowed for ever", Permission, Answer{Approved: true, Rule: AlwaysAllow, By: "ann"}, ""},
		{"denied with a reason", Permission, Answer{Reason: "no", Rule: AlwaysDeny}, ""},
		{"allowed and never again", Permission, Answer{Approved: true, Rule: AlwaysDeny}, "choice"},
		{"denied and always allowed", Permission, Answer{Rule: AlwaysAllow}, "choice"},
		{"an unknown choice", Permission, Answer{Rule: "maybe"}, "choice"},
		{"a permission with a text", Permission, Answer{Approved: true, Text: "x"}, "text"},
		{"a result", ClientCall, Answer{Text: "x", Files: []File{{MediaType: "a/b", Data: []byte("x")}}}, ""},
		{"an empty result", ClientCall, Answer{}, ""},
		{"a failure", ClientCall, Answer{Text: "x", Failed: true}, ""},
		{"a result that is approved", ClientCall, Answer{Text: "x", Approved: true}, "approved"},
		{"a result with a reason", ClientCall, Answer{Text: "x", Reason: "y"}, "reason"},
		{"an answer", Clarification, Answer{Text: "blue"}, ""},
		{"no answer", Clarification, Answer{Text: " "}, "text"},
		{"an answer that failed", Clarification, Answer{Text: "x", Failed: true}, "failed"},
		{"an answer with files", Clarification, Answer{Text: "x", Files: []File{{}}}, "files"},
		{"go on", Continuation, Answer{Approved: true}, ""},
		{"stop", Continuation, Answer{}, ""},
		{"stop with words", Continuation, Answer{Text: "x"}, "text"},
		{"go on and remember", Continuation, Answer{Approved: true, Rule: AskEachTime}, "choice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conv := waiting(t, NewMemory(), "c", Pending{ID: "p", Kind: c.kind, Conversation: "c"})
			c.answer.PendingID = "p"
			before := loaded(t, conv)
			err := conv.Answer(t.Context(), c.answer)
			after := loaded(t, conv)
			if c.wrong != "" {
				kind(t, err, ErrInvalidArgument, c.wrong)
				if after.Revision != before.Revision {
					t.Error("the refused answer was stored")
				}
				return
			}
			ok(t, err)
			stored := after.Open.Steps[1].Pending[0].Answer
			if stored == nil || stored.Text != c.answer.Text || stored.Approved != c.answer.Approved || !after.Open.Waiting {
				t.Errorf("stored is %+v", stored)
			}
			if before.Open.Steps[1].Pending[0].Answer != nil {
				t.Error("the answer was written into a snapshot")
			}
			kind(t, conv.Answer(t.Context(), c.answer), ErrConflict, "already")
		})
	}
}

func TestAnswersWithoutARequest(t *testing.T) {
	ctx := t.Context()
	c := waiting(t, NewMemory(), "c", Pending{ID: "p", Kind: Continuation, Conversation: "c"})
	kind(t, c.Answer(ctx, Answer{PendingID: "q"}), ErrNotFound, "q")
	kind(t, c.Answer(ctx, Answer{PendingID: "earlier"}), ErrConflict, "went on")
	kind(t, OpenConversation(c.store, "none").Answer(ctx, Answer{PendingID: "p"}), ErrNotFound)

	// While somebody goes on with the turn, an answer could be written over.
	ok(t, c.store.Begin(ctx, "c", Turn{ID: "t", Attempt: 2}))
	kind(t, c.Answer(ctx, Answer{PendingID: "p"}), ErrConflict, "does not wait")
	ok(t, c.store.End(ctx, "c", TurnRef{ID: "t", Attempt: 2}, TurnEnd{Outcome: Failed}))
	kind(t, c.Answer(ctx, Answer{PendingID: "p"}), ErrConflict, "ended")
}

func TestExpiredRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c := waiting(t, NewMemory(), "c",
			Pending{ID: "short", Kind: Permission, Conversation: "c", ExpiresAt: time.Now().Add(time.Minute)},
			Pending{ID: "long", Kind: Permission, Conversation: "c"})
		listed := func() (ids string) {
			pending, err := c.Pending(ctx)
			ok(t, err)
			for _, p := range pending {
				ids += p.ID + " "
			}
			return ids
		}
		if got := listed(); got != "short long " {
			t.Errorf("pending are %s", got)
		}
		<-time.After(time.Minute)
		if got := listed(); got != "long " {
			t.Errorf("after a minute pending are %s", got)
		}
		kind(t, c.Answer(ctx, Answer{PendingID: "short", Approved: true}), ErrConflict, "expired", "denied")
		ok(t, c.Answer(ctx, Answer{PendingID: "long", Approved: true}))
		if got := listed(); got != "" {
			t.Errorf("after the answer pending are %s", got)
		}
	})
}

func TestSubAgentRequestIsAnsweredInItsConversation(t *testing.T) {
	store := NewMemory()
	child := waiting(t, store, "child", Pending{ID: "p", Kind: Clarification, Conversation: "child"})
	parent := waiting(t, store, "parent", Pending{ID: "p", Kind: Clarification, Conversation: "child"})
	ctx := t.Context()
	kind(t, parent.Answer(ctx, Answer{PendingID: "p"}), ErrInvalidArgument, "text")
	ok(t, parent.Answer(ctx, Answer{PendingID: "p", Text: "blue"}))
	for _, c := range []*Conversation{child, parent} {
		if a := loaded(t, c).Open.Steps[1].Pending[0].Answer; a == nil || a.Text != "blue" {
			t.Errorf("in %s the answer is %+v", c.ID(), a)
		}
	}
	kind(t, parent.Answer(ctx, Answer{PendingID: "p", Text: "red"}), ErrConflict, "already")
}

func TestOperationsRejectedDuringOpenTurn(t *testing.T) {
	ctx := t.Context()
	c := waiting(t, NewMemory(), "c")
	_, reduced := c.Reduce(ctx, Reduction{}, nil)
	for name, err := range map[string]error{
		"Add": c.Add(ctx, Say("x")), "Clear": c.Clear(ctx), "Reduce": reduced, "ReplaceOldest": c.ReplaceOldest(ctx, 1, "x"),
	} {
		t.Run(name, func(t *testing.T) { kind(t, err, ErrConflict, "unfinished turn t", "discard") })
	}
	ok(t, c.SetDisplayName(ctx, "allowed"))
	ok(t, c.SetMetadata(ctx, "k", "v"))
	fork, err := c.Fork(ctx, "")
	ok(t, err)
	if r := loaded(t, fork); r.Open != nil || len(r.Messages) != 3 {
		t.Errorf("the fork has %d messages and the turn %+v", len(r.Messages), r.Open)
	}
}

func TestDiscard(t *testing.T) {
	ctx, store := t.Context(), NewMemory()
	child := waiting(t, store, "child", Pending{ID: "q", Kind: Permission, Conversation: "child"})
	c := waiting(t, store, "c", Pending{ID: "p", Kind: Permission, Conversation: "c"}, Pending{ID: "q", Kind: Permission, Conversation: "child"})

	release, err := c.claim(&liveTurn{})
	ok(t, err)
	kind(t, c.Discard(ctx), ErrConflict, "ThreadRunActive")
	release()

	ok(t, c.Discard(ctx))
	r := loaded(t, c)
	if r.Open != nil || len(r.Messages) != 5 || checkHistory("messages", r.Messages) != nil {
		t.Fatalf("left is the turn %+v and %d messages", r.Open, len(r.Messages))
	}
	var statuses []ResultStatus
	for _, result := range r.Messages[4].Results() {
		statuses = append(statuses, result.Status)
	}
	if len(statuses) != 3 || statuses[0] != ResultCanceled || statuses[1] != ResultOK || statuses[2] != ResultCanceled {
		t.Errorf("the results are %v", statuses)
	}
	if loaded(t, child).Open != nil {
		t.Error("the sub-agent's turn is still open")
	}
	// A process that still runs the turn is stopped.
	kind(t, store.Commit(ctx, "c", TurnRef{ID: "t", Attempt: 1}, Step{Index: 1}), ErrConflict)
	ok(t, c.Discard(ctx))
	if loaded(t, c).Revision != r.Revision {
		t.Error("a second Discard wrote something")
	}
	ok(t, c.Add(ctx, Say("next")))
	ok(t, NewConversation().Discard(ctx))
}
