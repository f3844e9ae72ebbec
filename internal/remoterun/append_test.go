package remoterun_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/core"
	"github.com/shoal-dev/shoal/internal/localbus"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

// calls claims a run for a program that calls tools.
func (w *world) calls(s *remoterun.Server) remoterun.ClaimID {
	w.t.Helper()
	claimed, _, err := s.Claim(w.t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1, ByCalls: true})
	w.must(err)
	if len(claimed) != 1 {
		w.t.Fatalf("claimed %d runs, want one", len(claimed))
	}
	return remoterun.ClaimID{Run: claimed[0].Run.ID, Generation: claimed[0].Generation}
}

// appends reports a line as a tool does.
func (w *world) appends(s *remoterun.Server, id remoterun.ClaimID, l shoal.WorkLine) remoterun.Progress {
	w.t.Helper()
	out, err := s.Append(w.t.Context(), clerk, session, id, remoterun.Report{Line: l})
	w.must(err)
	return out
}

func TestClaimIDs(t *testing.T) {
	id := remoterun.ClaimID{Run: "run_x.y", Generation: 12}
	if got, ok := remoterun.ParseClaimID(id.String()); !ok || got != id {
		t.Errorf("%q is read as %+v, %v", id, got, ok)
	}
	for _, text := range []string{"", "run_x", "run_x.", "run_x.0", "run_x.-1", "run_x.1a", ".1", "run x.1", "run_x.99999999999999999999"} {
		if got, ok := remoterun.ParseClaimID(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// Calls of one claim may reach any server, and each begins where the last one ended.
func TestCallsReachAnyServer(t *testing.T) {
	w := newWorld(t, 0, remote)
	run := w.ask("go")
	id := w.calls(w.one)
	for i, word := range []string{"One ", "two ", "three."} {
		s := []*remoterun.Server{w.one, w.two}[i%2]
		if got := w.appends(s, id, shoal.WorkLine{Type: shoal.WorkText, Delta: word}); got.N != int64(i+2) {
			t.Errorf("after %q, line %d is the last one", word, got.N)
		}
	}
	asked := w.appends(w.two, id, shoal.WorkLine{Type: shoal.WorkQuestion, Text: "Go on?"})
	yes := "yes"
	w.answer(w.asks(run).ID, shoal.PendingAnswer{Answer: &yes})
	got, err := w.one.Await(t.Context(), clerk, session, id, asked.CallID, patience)
	w.must(err)
	if got.Order == nil || got.Order.Text != "yes" || got.Status != shoal.RunRunning {
		t.Errorf("the answer is %+v", got)
	}
	if _, err := w.one.Await(t.Context(), clerk, session, id, "other", 0); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a call that has asked nothing: %v", err)
	}
	w.appends(w.two, id, shoal.WorkLine{Type: shoal.WorkTurnEnded})
	if r := w.run(run); r.Status != shoal.RunCompleted || r.Steps != 1 {
		t.Errorf("the run is %+v", r)
	}
	if got, want := w.shown(), `completed: [done One two three.] [done ask_user{}"yes"]`; got != want {
		t.Errorf("the space shows %s, want %s", got, want)
	}
}

// deafBus loses every notification for programs.
type deafBus struct{ core.Bus }

func (b deafBus) Publish(n core.Notification) {
	if n.Topic != core.ProgramTopic(session, "clerk") {
		b.Bus.Publish(n)
	}
}

// An answer whose notification is lost arrives within seconds.
func TestAnAnswerWithoutNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOn(t, deafBus{localbus.New()}, 0, remote)
		run := w.ask("go")
		id := w.calls(w.one)
		asked := w.appends(w.one, id, shoal.WorkLine{Type: shoal.WorkQuestion, Text: "Go on?"})
		got := make(chan remoterun.Answer, 1)
		go func() {
			a, err := w.one.Await(t.Context(), clerk, session, id, asked.CallID, time.Minute)
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		synctest.Wait()
		yes := "yes"
		w.answer(w.asks(run).ID, shoal.PendingAnswer{Answer: &yes})
		began := time.Now()
		if a := <-got; a.Order == nil || a.Order.Text != "yes" || time.Since(began) > 10*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), a)
		}
	})
}

// A run cannot be claimed by name before it has begun, nor by others.
func TestReclaim(t *testing.T) {
	w := newWorld(t, 0, remote)
	run := w.ask("go")
	if _, err := w.one.Reclaim(t.Context(), clerk, session, run, remoterun.Demand{}); !errors.Is(err, shoal.Conflict) {
		t.Errorf("a run that has not begun: %v", err)
	}
	id := w.calls(w.one)
	if _, err := w.two.Reclaim(t.Context(), ann, session, run, remoterun.Demand{}); !errors.Is(err, shoal.Forbidden) {
		t.Errorf("by a member: %v", err)
	}
	again, err := w.two.Reclaim(t.Context(), clerk, session, run, remoterun.Demand{ByCalls: true})
	w.must(err)
	if again.Generation <= id.Generation || again.Run.ID != run {
		t.Errorf("the second claim is %+v", again)
	}
	if _, err := w.one.Append(t.Context(), clerk, session, id, remoterun.Report{Line: shoal.WorkLine{Type: shoal.WorkText, Delta: "x"}}); !errors.Is(err, shoal.Conflict) {
		t.Errorf("the first claim: %v", err)
	}
	_, err = w.hub.Runs.Cancel(t.Context(), ann, session, run)
	w.must(err)
	if _, err := w.two.Reclaim(t.Context(), clerk, session, run, remoterun.Demand{}); !errors.Is(err, shoal.Expired) {
		t.Errorf("a canceled run: %v", err)
	}
}

// A program that calls tools keeps its run while its model thinks, for minutes; the run is shown as
// stalled meanwhile, unless it waits for a person.
func TestSilenceBetweenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 30*time.Second, remote)
		run := w.ask("go")
		id := w.calls(w.one)
		w.appends(w.one, id, shoal.WorkLine{Type: shoal.WorkText, Delta: "I think. "})
		<-time.After(100 * time.Second)
		if r := w.run(run); r.StalledSince == nil || r.Activity == nil || !r.StalledSince.Equal(r.Activity.At.Time) {
			t.Errorf("after more than a minute of silence: %+v", r)
		}
		<-time.After(12 * time.Minute)
		if claimed, _, err := w.two.Claim(t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1}); err != nil || len(claimed) != 0 {
			t.Errorf("after 14 minutes another program gets %+v, %v", claimed, err)
		}
		w.appends(w.one, id, shoal.WorkLine{Type: shoal.WorkQuestion, Text: "Go on?"})
		<-time.After(100 * time.Second)
		if r := w.run(run); r.StalledSince != nil || r.Status != shoal.RunWaitingTool {
			t.Errorf("while it waits for a person: %+v", r)
		}
		<-time.After(14 * time.Minute)
		if claimed, _, err := w.two.Claim(t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1}); err != nil || len(claimed) != 1 {
			t.Errorf("after 16 minutes another program gets %+v, %v", claimed, err)
		}
	})
}
