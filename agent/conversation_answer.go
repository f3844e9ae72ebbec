package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Answer stores the answer to a pending request of the unfinished turn, which
// resumes when the conversation is run without input. The answer is durable when
// Answer returns nil. The answer to a sub-agent's request is stored in the
// sub-agent's conversation.
//
// Answer fails with ErrNotFound if the request does not exist; with
// ErrInvalidArgument if the answer has fields that do not belong to the request's
// kind; and with ErrConflict if the request was answered or has expired, if its turn
// has ended, or while its turn is running: a request accepts an answer after
// [TurnFinished] with the outcome Waiting (until then Options.Answer is called).
func (c *Conversation) Answer(ctx context.Context, a Answer) error {
	r, err := c.Load(ctx)
	if err != nil {
		return err
	}
	p, err := r.request(a.PendingID)
	if err != nil {
		return err
	}
	if p.Conversation != "" && p.Conversation != c.id {
		if err := OpenConversation(c.store, p.Conversation).Answer(ctx, a); err != nil {
			return err
		}
		return c.reflect(ctx, a)
	}
	return c.change(ctx, func(r *Record) error {
		p, err := r.request(a.PendingID)
		if err != nil {
			return err
		}
		if err := p.takes(a, time.Now()); err != nil {
			return err
		}
		if !r.Open.Waiting {
			return answerConflict(fmt.Sprintf("The turn %s does not wait yet; answer when it has finished as waiting, or resume it with a run without input if its process died.", r.Open.ID))
		}
		r.setAnswer(a)
		return nil
	})
}

// reflect records the answer to a sub-agent's request in the turn that waits for it.
// Only [Conversation.Pending] depends on it: the sub-agent's conversation is
// authoritative, so a turn that has continued meanwhile is not changed.
func (c *Conversation) reflect(ctx context.Context, a Answer) error {
	return c.change(ctx, func(r *Record) error {
		if p, err := r.request(a.PendingID); err == nil && p.Answer == nil && r.Open.Waiting {
			r.setAnswer(a)
		}
		return nil
	})
}

func answerConflict(text string) error { return NewError("agent.Answer", ErrConflict, text) }

// request finds a request of the open turn; the unanswered one, if several have
// the id.
func (r *Record) request(id string) (Pending, error) {
	if r.Revision > 0 && r.Open == nil {
		return Pending{}, answerConflict(fmt.Sprintf("Conversation %s has no unfinished turn: the one that asked has ended; say what you have to say as a new input.", r.ID))
	}
	if r.Open != nil {
		for i, step := range slices.Backward(r.Open.Steps) {
			p := findRequest(step.Pending, id)
			if p == nil {
				continue
			}
			if i < len(r.Open.Steps)-1 {
				return Pending{}, answerConflict(fmt.Sprintf("The turn %s went on without the answer to %s; see Pending for what it waits for now.", r.Open.ID, id))
			}
			return *p, nil
		}
	}
	return Pending{}, NewError("agent.Answer", ErrNotFound, fmt.Sprintf("Conversation %s has no request %s; see Pending for those that it has.", r.ID, id))
}

func findRequest(requests []Pending, id string) (found *Pending) {
	for i := range requests {
		if p := &requests[i]; p.ID == id && (found == nil || p.Answer == nil) {
			found = p
			if p.Answer == nil {
				break
			}
		}
	}
	return found
}

// setAnswer stores a in the last step of the open turn, and copies everything that it
// changes.
func (r *Record) setAnswer(a Answer) {
	open := *r.Open
	open.Steps = slices.Clone(open.Steps)
	step := &open.Steps[len(open.Steps)-1]
	step.Pending = slices.Clone(step.Pending)
	findRequest(step.Pending, a.PendingID).Answer = &a
	r.Open = &open
}

// takes returns an error if the request can no longer be answered, or not by a.
func (p *Pending) takes(a Answer, now time.Time) error {
	switch {
	case p.Answer != nil:
		return answerConflict(fmt.Sprintf("The request %s was answered already; the first answer stays.", p.ID))
	case p.expired(now):
		return answerConflict(fmt.Sprintf("The request %s expired at %s and counts as denied; run the conversation without input to go on.", p.ID, p.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000Z")))
	}
	set := map[string]bool{
		"approved": a.Approved, "reason": a.Reason != "", "arguments": a.Arguments != "", "ask": a.Ask != "", "choice": a.Rule != "",
		"text": a.Text != "", "failed": a.Failed, "files": len(a.Files) > 0,
	}
	allowed := answerFields[p.Kind]
	for _, field := range []string{"approved", "reason", "arguments", "ask", "choice", "text", "failed", "files"} {
		if set[field] && !slices.Contains(allowed, field) {
			return Invalid(field, fmt.Sprintf("does not belong to an answer of kind %s, which has %s", p.Kind, strings.Join(allowed, ", ")))
		}
	}
	switch {
	case p.Kind == Clarification && strings.TrimSpace(a.Text) == "":
		return Invalid("text", "is missing: it is the answer to the question")
	case a.Arguments != "" && !a.Approved:
		return Invalid("arguments", "are what is approved: they need approved")
	case a.Ask != "" && (a.Approved || a.Reason != "" || a.Rule != ""):
		return Invalid("ask", "sends the call back: it goes with nothing else")
	case !slices.Contains([]PermissionRule{"", AskEachTime, AlwaysAllow, AlwaysDeny}, a.Rule):
		return Invalid("choice", fmt.Sprintf("is %q; it must be ask, always_allow or always_deny", a.Rule))
	case a.Rule == AlwaysAllow && !a.Approved, a.Rule == AlwaysDeny && a.Approved:
		return Invalid("choice", fmt.Sprintf("is %s, which contradicts approved", a.Rule))
	}
	return nil
}

// answerFields are the fields that an answer to a request may have.
var answerFields = map[PendingKind][]string{
	Permission:    {"approved", "reason", "arguments", "ask", "choice"},
	ClientCall:    {"text", "failed", "files"},
	Clarification: {"text"},
	Continuation:  {"approved"},
}

// Discard ends an unfinished turn as canceled, so that the next input is accepted.
// Its calls without results get the result canceled. The unfinished turns of its
// sub-agents are discarded, too. Without an unfinished turn Discard does nothing. It
// fails with ErrConflict while the turn runs in this process; in another process, the
// next write of the turn fails and ends it.
func (c *Conversation) Discard(ctx context.Context) error {
	release, err := c.claim(&liveTurn{})
	if err != nil {
		return err
	}
	defer release()
	r, err := c.Load(ctx)
	if err != nil || r.Open == nil {
		return err
	}
	// From here on the turn has no other writer.
	turn := r.Open.Turn
	turn.Attempt++
	if err := c.store.Begin(ctx, c.id, turn); err != nil {
		return err
	}
	if r, err = c.Load(ctx); err != nil {
		return err
	}
	ref := TurnRef{ID: turn.ID, Attempt: turn.Attempt}
	if n := len(r.Open.Steps); n > 0 && !r.Open.Steps[n-1].Done {
		step := r.Open.Steps[n-1]
		if err := c.discardNested(ctx, step.Pending); err != nil {
			return err
		}
		if err := c.store.Commit(ctx, c.id, ref, step.canceled()); err != nil {
			return err
		}
	}
	return c.store.End(ctx, c.id, ref, TurnEnd{
		Outcome: Canceled, Reason: ReasonCanceled, Message: "The turn was discarded.", At: nowUTC(),
	})
}

// discardNested discards the turns of sub-agents that wait.
func (c *Conversation) discardNested(ctx context.Context, requests []Pending) error {
	for _, p := range requests {
		if p.Conversation == "" || p.Conversation == c.id {
			continue
		}
		if err := OpenConversation(c.store, p.Conversation).Discard(ctx); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// canceled returns the step with a result for every call.
func (s Step) canceled() Step {
	had := map[string]ToolResult{}
	for _, r := range s.Results {
		had[r.CallID] = r
	}
	s.Results = nil
	for _, call := range s.Assistant.Calls() {
		r, ok := had[call.ID]
		if !ok {
			r = ToolResult{CallID: call.ID, Name: call.Name, Status: ResultCanceled, Text: "Error: the turn was discarded before this call had a result."}
		}
		s.Results = append(s.Results, r)
	}
	s.Done = true
	return s
}
