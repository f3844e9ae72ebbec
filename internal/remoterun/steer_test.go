package remoterun_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

const steering = `"remote": {}, "loop": {"onNewMessage": "steer"}`

// say makes ann mention clerk and returns the message.
func (w *world) say(text string) shoal.Message {
	w.t.Helper()
	m, err := w.hub.Messages.Post(w.t.Context(), ann, session, "shop", shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: []shoal.EntityID{"clerk"}}, "")
	w.must(err)
	return m
}

// receipt returns what became of a mention of clerk.
func (w *world) receipt(m shoal.Message) shoal.Receipt {
	w.t.Helper()
	all, err := w.hub.Messages.Receipts(w.t.Context(), ann, session, m.ID)
	w.must(err)
	if len(all) != 1 {
		w.t.Fatalf("the receipts are %+v", all)
	}
	return all[0]
}

// steered is the line that takes in the message of a run.
func steered(id shoal.RunID) string { return fmt.Sprintf(`{"type": "steered", "runId": %q}`, id) }

// claimable reports whether a program could claim a run now.
func (w *world) claimable() bool {
	w.t.Helper()
	claimed, _, err := w.one.Claim(w.t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1})
	w.must(err)
	return len(claimed) > 0
}

// A message that arrives during a run is offered to its program. What the program takes in is part of
// the run, with its receipt, and starts no other.
func TestSteering(t *testing.T) {
	w := newWorld(t, 0, steering)
	w.ask("look for tents")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "text", "delta": "I look."}`)
	second := w.say("and for boots")
	id := second.Runs[0].RunID
	if r := w.run(id); r.QueuedBehind == nil || *r.QueuedBehind != p.r.Run.ID {
		t.Errorf("the run of the second message is %+v", r)
	}
	o := p.order()
	if o.Type != shoal.OrderSteer || o.RunID != id || o.MessageID != second.ID || o.By != "ann" || !slices.Equal(o.ActingFor, []shoal.EntityID{"ann"}) ||
		!strings.Contains(o.Text, "<message ") || !strings.Contains(o.Text, "and for boots</message>") || strings.Contains(o.Text, "tents") || strings.Contains(o.Text, "I look") {
		t.Errorf("the order is %+v", o)
	}
	if r := w.receipt(second); r.State != shoal.ReceiptSent || r.ResumedAt != nil {
		t.Errorf("before the model has it, its receipt is %+v", r)
	}
	p.report(steered(id))
	if r := w.receipt(second); r.State != shoal.ReceiptResumed || r.RunID == nil || *r.RunID != p.r.Run.ID {
		t.Errorf("when the model has it, its receipt is %+v", r)
	}
	p.s = w.two // repeats what is stored
	p.report(`{"type": "text", "delta": "Tents and boots."}
		{"type": "turn.ended"}`)
	if got, want := w.shown(), "completed: [done I look.] [done Tents and boots.]"; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
	if r := w.receipt(second); r.State != shoal.ReceiptAnswered || *r.AnsweredBy != w.messages()[0].ID {
		t.Errorf("its receipt is %+v", r)
	}
	if r := w.run(id); r.Status != shoal.RunCompleted || r.PartOf == nil || *r.PartOf != p.r.Run.ID || r.Steps != 0 {
		t.Errorf("the run of the second message is %+v", r)
	}
	if w.claimable() {
		t.Error("the second message can be claimed, too")
	}
	w.ask("and for maps")
	if next := w.program(w.one); strings.Contains(next.r.Prompt, "boots") || !strings.Contains(next.r.Prompt, "and for maps") {
		t.Errorf("the next run begins with %q", next.r.Prompt)
	}
}

// What the program does not take in before the end of its run is the next run.
func TestOffersThatAreNotTaken(t *testing.T) {
	for _, end := range []string{`{"type": "turn.ended"}`, `{"type": "failed", "code": "agent_failed", "text": "No."}`, "cancel"} {
		w := newWorld(t, 0, steering)
		first := w.ask("look for tents")
		p := w.program(w.one)
		p.report(`{"type": "turn.started"}`)
		second := w.say("and for boots")
		if o := p.order(); o.RunID != second.Runs[0].RunID {
			t.Errorf("the order is %+v", o)
		}
		if end == "cancel" {
			_, err := w.hub.Runs.Cancel(t.Context(), ann, session, first)
			w.must(err)
		} else {
			p.report(end)
		}
		next := w.program(w.two)
		if next.r.Run.ID != second.Runs[0].RunID || strings.Count(next.r.Prompt, "and for boots") != 1 {
			t.Errorf("after %s the next run is %s with %q", end, next.r.Run.ID, next.r.Prompt)
		}
		next.report(`{"type": "turn.started"}
			{"type": "text", "delta": "Boots."}
			{"type": "turn.ended"}`)
		if r := w.receipt(second); r.State != shoal.ReceiptAnswered || *r.RunID != next.r.Run.ID {
			t.Errorf("after %s its receipt is %+v", end, r)
		}
	}
}

// A message is offered while its run waits for an approval, and the messages before it that mention
// nobody with the first.
func TestOffersDuringAnApproval(t *testing.T) {
	w := newWorld(t, 0, steering)
	_, err := w.hub.Spaces.Join(t.Context(), admin, session, "shop", "ann")
	w.must(err)
	first := w.ask("buy a tent")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "permission", "callId": "b", "tool": "buy", "args": {}}`)
	second, third := w.say("a red one"), w.say("no, a blue one")
	for i, m := range []shoal.Message{second, third} {
		if r := w.run(m.Runs[0].RunID); r.QueuedBehind == nil || *r.QueuedBehind != first {
			t.Errorf("message %d: its run is %+v", i, r)
		}
	}
	if w.claimable() {
		t.Error("another program can claim what is offered to this one")
	}
	got := p.orders(2)
	if got[0].RunID != second.Runs[0].RunID || got[1].RunID != third.Runs[0].RunID || strings.Contains(got[1].Text, "red") {
		t.Errorf("the orders are %+v", got)
	}
	p.report(steered(third.Runs[0].RunID))
	if r := w.run(second.Runs[0].RunID); r.Status != shoal.RunQueued {
		t.Errorf("the run that was not taken in is %s", r.Status)
	}
	yes := true
	w.answer(w.asks(first).ID, shoal.PendingAnswer{Approved: &yes})
	p.report(`{"type": "text", "delta": "Blue."}
		{"type": "turn.ended"}`)
	if next := w.program(w.one); next.r.Run.ID != second.Runs[0].RunID {
		t.Errorf("the next run is %s", next.r.Run.ID)
	}
}

// A line about a run that does not wait for this one changes nothing there.
func TestSteeredRunsThatDoNotWait(t *testing.T) {
	w := newWorld(t, 0, steering)
	w.ask("look for tents")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}`)
	second := w.say("and for boots").Runs[0].RunID
	_, err := w.hub.Runs.Cancel(t.Context(), ann, session, second)
	w.must(err)
	p.report(steered(second) + "\n" + steered("run_unknown") + "\n" + steered(p.r.Run.ID))
	if r := w.run(second); r.Status != shoal.RunCanceled || r.PartOf != nil {
		t.Errorf("the canceled run is %+v", r)
	}
	if r := w.run(p.r.Run.ID); r.Status != shoal.RunRunning || r.PartOf != nil {
		t.Errorf("the run itself is %+v", r)
	}
	if _, err := remoterun.ParseLines([]byte(`{"n": 1, "type": "steered"}`)); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "runId") {
		t.Errorf("without a run: %v", err)
	}
}

// An agent that queues messages has none offered.
func TestNoOffersWithoutSteering(t *testing.T) {
	w := newWorld(t, 0, `"remote": {}, "loop": {"onNewMessage": "enqueue"}`)
	w.ask("look for tents")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}`)
	id := w.ask("and for boots")
	p.report(steered(id) + `
		{"type": "question", "callId": "q", "text": "Red or blue?"}`)
	blue := "blue"
	w.answer(w.asks(p.r.Run.ID).ID, shoal.PendingAnswer{Answer: &blue})
	if o := p.order(); o.Type != shoal.OrderAnswer {
		t.Errorf("the order is %+v", o)
	}
	if r := w.run(id); r.Status != shoal.RunQueued {
		t.Errorf("the queued run is %+v", r)
	}
	actions, err := w.hub.Runs.List(t.Context(), admin, session, storage.RunFilter{Agent: "clerk", Limit: 9})
	w.must(err)
	if len(actions) != 2 {
		t.Errorf("the runs are %+v", actions)
	}
}
