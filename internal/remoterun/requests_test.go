package remoterun_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

// asks returns the open action of a run.
func (w *world) asks(id shoal.RunID) shoal.PendingAction {
	w.t.Helper()
	actions, err := w.hub.Pending.List(w.t.Context(), ann, session, storage.PendingFilter{Run: id, Status: []shoal.PendingStatus{shoal.PendingOpen}})
	w.must(err)
	if len(actions) != 1 {
		w.t.Fatalf("the open actions are %+v", actions)
	}
	return actions[0]
}

func (w *world) answer(id shoal.PendingID, a shoal.PendingAnswer) {
	w.t.Helper()
	_, err := w.hub.Pending.Answer(w.t.Context(), ann, session, id, a)
	w.must(err)
}

func TestQuestions(t *testing.T) {
	w := newWorld(t, 0, remote)
	id := w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "question", "callId": "q", "text": "Red or blue?", "options": ["red", "blue"]}`)
	action := w.asks(id)
	if action.Kind != shoal.PendingQuestion || *action.Question != "Red or blue?" || len(action.Options) != 2 || action.PartID == nil {
		t.Errorf("the question is %+v", action)
	}
	if r := w.run(id); r.Status != shoal.RunWaitingTool || len(r.PendingToolCalls) != 1 || r.WaitingForProgram {
		t.Errorf("the run that waits for an answer is %+v", r)
	}
	blue := "blue"
	w.answer(action.ID, shoal.PendingAnswer{Answer: &blue})
	if o := p.order(); o.CallID != "q" || o.Text != "blue" || o.By != "ann" || o.Approved != nil {
		t.Errorf("the order is %+v", o)
	}
	if r := w.run(id); r.Status != shoal.RunRunning || len(r.PendingToolCalls) != 0 {
		t.Errorf("the run that has got an answer is %+v", r)
	}
	p.report(`{"type": "text", "delta": "Blue it is."}
		{"type": "turn.ended"}`)
	if got := w.shown(); !strings.HasSuffix(got, `"blue"] [done Blue it is.]`) || !strings.HasPrefix(got, "completed: [done ask_user") {
		t.Errorf("shown:\n%s", got)
	}
}

const cardConfig = `"remote": {}, "tools": [{"name": "Trip", "displayTool": true, "display": {"customUI": "TripCard"}, "answer": {"by": ["ann"]}, "outputSchema": {"type": "object", "required": ["ok"]}}]`

// A card of the configuration has its display, its answerers and its schema; without wait it
// is only shown.
func TestCards(t *testing.T) {
	w := newWorld(t, 0, cardConfig)
	id := w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "card", "callId": "a", "tool": "Trip", "args": {"to": "Oslo"}}
		{"type": "card", "callId": "b", "tool": "Trip", "args": {"to": "Bergen"}, "wait": true}`)
	if got, want := w.shown(), `streaming: [done Trip{"to":"Oslo"}] [requires_action Trip{"to":"Bergen"}]`; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
	if display := string(w.messages()[0].Parts[0].Display); display != `{"customUI":"TripCard"}` {
		t.Errorf("the display is %s", display)
	}
	action := w.asks(id)
	if action.Kind != shoal.PendingClientTool {
		t.Errorf("the action is %+v", action)
	}
	if _, err := w.hub.Pending.Answer(t.Context(), ann, session, action.ID, shoal.PendingAnswer{Result: []byte(`{"no": 1}`)}); !errors.Is(err, shoal.InvalidArgument) {
		t.Errorf("a result that does not fit: %v", err)
	}
	w.answer(action.ID, shoal.PendingAnswer{Result: []byte(`{"ok":true}`)})
	if o := p.order(); o.CallID != "b" || string(o.Result) != `{"ok":true}` {
		t.Errorf("the order is %+v", o)
	}
	p.report(`{"type": "turn.ended"}`)
	if got, want := w.shown(), `completed: [done Trip{"to":"Oslo"}] [done Trip{"to":"Bergen"}{"ok":true}]`; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}

// A permission that nobody gives in time is denied, also to a program that claims later.
func TestPermissionExpires(t *testing.T) {
	w := newWorld(t, shortLease, `"remote": {"expiresInMs": 1}`)
	w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "permission", "callId": "pay", "tool": "pay"}`)
	denied := func(o *shoal.Order) bool {
		return o != nil && o.Approved != nil && !*o.Approved && o.Reason == "Nobody answered in time."
	}
	if o := p.order(); !denied(&o) {
		t.Errorf("the order is %+v", o)
	}
	next := w.program(w.two)
	if len(next.r.Calls) != 1 || next.r.Calls[0].State != shoal.ToolDenied || !denied(next.r.Calls[0].Answer) {
		t.Errorf("the next claim says %+v", next.r.Calls)
	}
	next.report(`{"type": "turn.started"}
		{"type": "tool", "callId": "pay", "state": "failed", "output": "denied"}
		{"type": "turn.ended"}`)
	if got, want := w.shown(), "completed: [denied pay{}Nobody answered in time.]"; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}

// Arguments that a person changed reach the program with their own hash.
func TestEditedArguments(t *testing.T) {
	w := newWorld(t, 0, remote)
	id := w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "permission", "callId": "pay", "tool": "pay", "args": {"amount": 70}}`)
	action, yes := w.asks(id), true
	w.answer(action.ID, shoal.PendingAnswer{Approved: &yes, Args: []byte(`{"amount":60}`)})
	o := p.order()
	if !*o.Approved || string(o.EditedArgs) != `{"amount":60}` || o.ArgsHash == action.ArgsHash || len(o.ArgsHash) != 64 {
		t.Errorf("the order is %+v", o)
	}
	if part := w.messages()[0].Parts[0]; string(part.EditedArgs) != `{"amount":60}` || part.Status != shoal.PartRunning {
		t.Errorf("the part is %+v", part)
	}
	p.report(`{"type": "tool", "callId": "pay", "state": "running"}
		{"type": "tool", "callId": "pay", "state": "done", "output": "paid"}
		{"type": "turn.ended"}`)
	if got, want := w.shown(), `completed: [done pay{"amount":70}"paid"]`; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}

// A program that takes no other arguments is not sent any: nobody is offered to change them, and
// somebody that does all the same reads why not. The request stays open.
func TestFixedArguments(t *testing.T) {
	w := newWorld(t, 0, remote)
	id := w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "permission", "callId": "pay", "tool": "pay", "args": {"amount": 70}, "fixedArgs": true}`)
	action, yes := w.asks(id), true
	if action.ArgsSchema != nil {
		t.Errorf("other arguments are offered: %s", action.ArgsSchema)
	}
	_, err := w.hub.Pending.Answer(t.Context(), ann, session, action.ID, shoal.PendingAnswer{Approved: &yes, Args: []byte(`{"amount":60}`)})
	if !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "without args") {
		t.Errorf("a changed approval: %v", err)
	}
	w.answer(w.asks(id).ID, shoal.PendingAnswer{Approved: &yes})
	if o := p.order(); !*o.Approved || o.EditedArgs != nil || o.ArgsHash != action.ArgsHash {
		t.Errorf("the order is %+v", o)
	}
}

// A finished text that mentions a member enters its inbox, and a text in another space is a
// message there.
func TestMentionsAndSpaces(t *testing.T) {
	w := newWorld(t, 0, remote)
	_, err := w.hub.Spaces.Join(t.Context(), admin, session, "attic", "clerk")
	w.must(err)
	w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "text", "delta": "Look, ", "mention": "ann"}
		{"type": "text", "delta": "ann.", "mention": "ann", "end": true}
		{"type": "text", "delta": "Elsewhere.", "spaceId": "attic"}
		{"type": "text", "delta": "Here again."}
		{"type": "turn.ended"}`)
	if got, want := w.shown(), "completed: [done Look, ann.]\ncompleted: [done Here again.]"; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
	if all := w.messages(); !slices.Equal(all[0].Mentions, []shoal.EntityID{"ann"}) || len(all[1].Mentions) != 0 {
		t.Errorf("the mentions are %v and %v", all[0].Mentions, all[1].Mentions)
	}
	attic, err := w.hub.Messages.Read(t.Context(), ann, session, "attic", storage.Page{Limit: 9})
	if err != nil || attic[len(attic)-1].Text() != "Elsewhere." || attic[len(attic)-1].Status != shoal.MessageCompleted || !slices.Equal(attic[len(attic)-1].OnBehalfOf, []shoal.EntityID{"ann"}) {
		t.Errorf("in the attic: %+v, %v", attic, err)
	}
}

// A run is canceled at once, whether its program is there, gone, or never came.
func TestCancel(t *testing.T) {
	for _, c := range []struct{ name, shown string }{
		{"there", "canceled: [interrupted I beg]"}, {"gone", "canceled: [interrupted I beg]"}, {"never", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			lease := time.Duration(0)
			if c.name == "gone" {
				lease = shortLease
			}
			w := newWorld(t, lease, remote)
			id := w.ask("go")
			var p *program
			if c.name != "never" {
				p = w.program(w.one)
				p.report(`{"type": "turn.started"}
					{"type": "text", "delta": "I beg"}`)
			}
			r, err := w.hub.Runs.Cancel(t.Context(), ann, session, id)
			if err != nil || r.Status != shoal.RunCanceled {
				t.Fatalf("the canceled run is %s: %v", r.Status, err)
			}
			if got := w.shown(); got != c.shown {
				t.Errorf("shown:\n%s", got)
			}
			if p == nil {
				return
			}
			if o := p.order(); o.Type != shoal.OrderCancel || o.Reason != "canceled" {
				t.Errorf("the order is %+v", o)
			}
			if err := p.refuses(`{"type": "text", "delta": "in"}`); !errors.Is(err, shoal.Expired) {
				t.Errorf("a line after the end: %v", err)
			}
		})
	}
}

// A program that exceeds what its run may use is stopped, and a run of an agent without a
// budget left fails when it is claimed.
func TestBudgets(t *testing.T) {
	w := newWorld(t, 0, `"remote": {}, "budget": {"maxCostPerDay": 1}`)
	id := w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "text", "delta": "Expensive"}
		{"type": "usage", "cost": 1.5}`)
	if r := w.run(id); r.Status != shoal.RunFailed || r.Error.Code != "budget_exhausted" || r.Usage.Cost != 1.5 {
		t.Errorf("the run is %s: %+v, %+v", r.Status, r.Error, r.Usage)
	}
	if got, want := w.shown(), "failed: [interrupted Expensive]"; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
	next := w.ask("again")
	claimed, _, err := w.one.Claim(t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1})
	if err != nil || len(claimed) != 0 {
		t.Errorf("claimed without a budget: %+v, %v", claimed, err)
	}
	if r := w.run(next); r.Status != shoal.RunFailed || r.Error.Code != "budget_exhausted" {
		t.Errorf("the next run is %s: %+v", r.Status, r.Error)
	}
}

// No more runs are claimed than the configuration permits, by any program.
func TestConcurrency(t *testing.T) {
	w := newWorld(t, 0, `"remote": {"concurrency": 2}`)
	for range 3 {
		w.ask("go")
	}
	first := w.program(w.one)
	claimed, _, err := w.two.Claim(t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 9})
	if err != nil || len(claimed) != 1 {
		t.Fatalf("the second claim: %d runs, %v", len(claimed), err)
	}
	none, open, err := w.two.Claim(t.Context(), admin, session, "clerk", remoterun.Demand{Limit: 9, Wait: patience})
	if err != nil || len(none) != 0 || open == nil {
		t.Fatalf("the third claim: %d runs, %v", len(none), err)
	}
	first.report(`{"type": "turn.started"}
		{"type": "turn.ended"}`)
	more, err := open.Wait(t.Context())
	if err != nil || len(more) != 1 {
		t.Errorf("the claim after the end of a run: %d runs, %v", len(more), err)
	}
}

// An agent that is removed from the space while it writes closes its message there.
func TestRemovedWhileItWrites(t *testing.T) {
	w := newWorld(t, 0, remote)
	w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "text", "delta": "I am "}`)
	_, err := w.hub.Spaces.Leave(t.Context(), admin, session, "shop", "clerk")
	w.must(err)
	if err := p.refuses(`{"type": "text", "delta": "here", "end": true}
		{"type": "text", "delta": "really"}`); !errors.Is(err, shoal.InvalidArgument) && !errors.Is(err, shoal.Conflict) {
		t.Errorf("a text in a space that the agent has left: %v", err)
	}
	p.report(`{"type": "turn.ended"}`)
	if got := w.shown(); !strings.Contains(got, "I am") || strings.Contains(got, "streaming") {
		t.Errorf("shown:\n%s", got)
	}
}

// A program that holds a run while a person is asked is there, although it calls nothing: what the
// agent is shown as, and how it is reached, agree.
func TestAProgramAtWorkIsNotOffline(t *testing.T) {
	w := newWorld(t, time.Hour, remote)
	w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "permission", "callId": "pay", "tool": "pay"}`)
	w.asks(p.r.Run.ID)
	e, err := w.hub.Entities.Get(t.Context(), ann, session, "clerk")
	w.must(err)
	if e.Wake == nil || e.Wake.State != shoal.ReachBusy || e.State != shoal.Connected {
		t.Errorf("the agent is %s, and reached: %+v", e.State, e.Wake)
	}
}
