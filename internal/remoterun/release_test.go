package remoterun_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

// A run that its program gives back is claimed at once, with what was done and what was asked. The program
// may send its last lines again, and nothing after them.
func TestRelease(t *testing.T) {
	w := newWorld(t, 0, remote)
	id := w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "text", "delta": "I ask. "}
		{"type": "question", "callId": "q", "text": "Red or blue?"}
		{"type": "released"}`)
	if r := w.run(id); r.Status != shoal.RunWaitingTool || !r.WaitingForProgram {
		t.Errorf("the run that was given back is %+v", r)
	}
	again := []shoal.WorkLine{{N: 4, Type: shoal.WorkReleased}}
	if _, err := w.one.Work(t.Context(), clerk, session, id, p.r.Generation, again); !errors.Is(err, shoal.Conflict) {
		t.Errorf("the last line again: %v", err)
	}
	if _, err := w.two.Work(t.Context(), clerk, session, id, p.r.Generation, nil); !errors.Is(err, shoal.Conflict) {
		t.Errorf("a renewal afterwards: %v", err)
	}
	next := w.program(w.two)
	if next.r.Run.ID != id || next.r.Generation <= p.r.Generation || len(next.r.Written) != 1 || next.r.Written[0].Text != "I ask. " || len(next.r.Calls) != 1 {
		t.Errorf("the next claim is %+v", next.r)
	}
	blue := "blue"
	w.answer(w.asks(id).ID, shoal.PendingAnswer{Answer: &blue})
	next.report(`{"type": "turn.started"}
		{"type": "text", "delta": "Blue."}`)
	if err := next.refuses(`{"type": "released"}
		{"type": "text", "delta": "And red."}`); !errors.Is(err, shoal.InvalidArgument) {
		t.Errorf("a line after the release: %v", err)
	}
	next.report(`{"type": "turn.ended"}`)
	if r := w.run(id); r.Status != shoal.RunCompleted {
		t.Errorf("the run is %+v", r)
	}
}

// A run whose claim did not reach its program is claimed at once by the next one.
func TestGiveBack(t *testing.T) {
	w := newWorld(t, 0, remote)
	id := w.ask("go")
	lost := w.program(w.one).r
	if claimed, _, err := w.two.Claim(t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1}); err != nil || len(claimed) != 0 {
		t.Fatalf("a second claim got %+v: %v", claimed, err)
	}
	gone, disconnect := context.WithCancel(t.Context())
	disconnect()
	w.one.GiveBack(gone, clerk, session, []shoal.RemoteRun{lost})
	if next := w.program(w.two); next.r.Run.ID != id || next.r.Generation <= lost.Generation {
		t.Errorf("the next claim is %+v", next.r)
	}
}

// Members read that a program could not continue its conversation, once in a claim.
func TestANewSessionIsAnnounced(t *testing.T) {
	w := newWorld(t, 0, remote)
	w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "session.began", "known": 20}
		{"type": "session.began", "known": 20}`)
	p.s = w.two
	p.report(`{"type": "text", "delta": "Here."}
		{"type": "turn.ended"}`)
	all, err := w.hub.Messages.Read(t.Context(), admin, session, "shop", storage.Page{Limit: 100})
	w.must(err)
	var said []string
	for _, m := range all {
		if m.EntityID == shoal.System {
			said = append(said, m.Text())
		}
	}
	if len(said) != 1 || said[0] != "Clerk began a new session; it knows the last 20 messages before." {
		t.Errorf("the space reads %q", said)
	}
	if _, err := remoterun.ParseLines([]byte(`{"n": 1, "type": "session.began", "known": -1}`)); !errors.Is(err, shoal.InvalidArgument) {
		t.Errorf("a wrong number: %v", err)
	}
}
