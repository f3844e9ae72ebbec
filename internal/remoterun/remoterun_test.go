package remoterun_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/hub/storage"
	"github.com/shoal-dev/shoal/internal/remoterun"
)

const remote = `"remote": {}`

// A run of several texts and tools is one message, with one step, usage and cost.
func TestWorkBecomesOneMessage(t *testing.T) {
	w := newWorld(t, 0, remote)
	id := w.ask("how many laptops?")
	if r := w.run(id); r.Status != shoal.RunQueued || !r.WaitingForProgram {
		t.Errorf("the run without a program is %+v", r)
	}
	p := w.program(w.one)
	if p.r.Instructions != "Be kind." || !strings.Contains(p.r.Prompt, "how many laptops?</message>") || len(p.r.Members) != 1 || p.r.Members[0].EntityID != "ann" {
		t.Errorf("the claim is %+v", p.r)
	}
	p.report(`{"type": "turn.started", "model": "m-1"}
		{"type": "text", "delta": "Let me "}
		{"type": "text", "delta": "look."}
		{"type": "tool", "callId": "c1", "tool": "count", "kind": "read", "title": "Count laptops", "args": {"what": "laptops"}, "state": "running"}`)
	if got, want := w.shown(), `streaming: [done Let me look.] [running count{"what":"laptops"}]`; got != want {
		t.Errorf("shown while the tool runs:\n%s\nwant\n%s", got, want)
	}
	p.report(`{"type": "tool", "callId": "c1", "state": "done", "output": "7"}
		{"type": "usage", "tokens": {"input": 100, "output": 10}, "cost": 0.5}
		{"type": "thought", "delta": "seven"}
		{"type": "text", "delta": "Seven."}
		{"type": "usage", "tokens": {"input": 20, "output": 1}, "cost": 0.25}
		{"type": "turn.ended", "stop": "end_turn"}`)
	if got, want := w.shown(), `completed: [done Let me look.] [done count{"what":"laptops"}7] [done Seven.]`; got != want {
		t.Errorf("shown at the end:\n%s\nwant\n%s", got, want)
	}
	r := w.run(id)
	if r.Status != shoal.RunCompleted || r.Usage.InputTokens != 120 || r.Usage.OutputTokens != 11 || r.Usage.Cost != 0.75 || r.Steps != 1 {
		t.Errorf("the run is %+v", r)
	}
	steps, err := w.hub.Runs.Steps(t.Context(), admin, session, id)
	w.must(err)
	if len(steps) != 1 || steps[0].Text != "Let me look.Seven." || steps[0].Reasoning != "seven" || steps[0].Model != "m-1" || steps[0].FinishReason != "end_turn" ||
		len(steps[0].ToolCalls) != 1 || *steps[0].ToolCalls[0].Result != "7" || steps[0].ToolCalls[0].Status != "ok" || steps[0].EndedAt == nil {
		t.Errorf("the steps are %+v", steps)
	}
	w.ask("and phones?")
	if next := w.program(w.one); strings.Contains(next.r.Prompt, "laptops") || !strings.Contains(next.r.Prompt, "and phones?") {
		t.Errorf("the next run begins with %q, which its agent has read before", next.r.Prompt)
	}
}

// Lines that are stored are ignored, gaps are refused, and a report is stored whole or not.
func TestNumbersOfLines(t *testing.T) {
	w := newWorld(t, 0, remote)
	id := w.ask("go")
	p := w.program(w.one)
	lines := p.lines(`{"type": "turn.started"}
		{"type": "text", "delta": "one "}
		{"type": "text", "delta": "two "}
		{"type": "text", "delta": "three"}
		{"type": "turn.ended"}`)
	for _, c := range []struct{ from, to, n int }{{0, 2, 2}, {0, 3, 3}, {1, 2, 3}, {2, 4, 4}, {0, 0, 4}} {
		got, err := w.one.Work(t.Context(), clerk, session, id, p.r.Generation, lines[c.from:c.to])
		if err != nil || got.N != int64(c.n) {
			t.Errorf("lines %d to %d: %+v, %v, want %d", c.from+1, c.to, got, err, c.n)
		}
	}
	p.n = 5
	gap := []shoal.WorkLine{{N: 6, Type: shoal.WorkText, Delta: "lost"}}
	if _, err := w.one.Work(t.Context(), clerk, session, id, p.r.Generation, gap); !errors.Is(err, shoal.Conflict) || !strings.Contains(err.Error(), "from 5 on") {
		t.Errorf("a gap: %v", err)
	}
	bad := []shoal.WorkLine{{N: 5, Type: shoal.WorkText, Delta: " and four"}, {N: 6, Type: shoal.WorkText, SpaceID: "attic", Delta: "hello"}}
	if _, err := w.one.Work(t.Context(), clerk, session, id, p.r.Generation, bad); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "line 6 writes into the space \"attic\"") {
		t.Errorf("a line into a foreign space: %v", err)
	}
	for range 2 { // the receipt may be lost
		got, err := w.one.Work(t.Context(), clerk, session, id, p.r.Generation, lines)
		if err != nil || got.N != 5 || got.Status != shoal.RunCompleted || got.LeaseUntil != nil {
			t.Errorf("the last line: %+v, %v", got, err)
		}
	}
	if _, err := w.one.Work(t.Context(), clerk, session, id, p.r.Generation, gap); !errors.Is(err, shoal.Expired) {
		t.Errorf("a line after the end: %v", err)
	}
	if got, want := w.shown(), "completed: [done one two three]"; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}

// Lines of one claim are accepted by any server, in any order of the servers, and what they
// show is the same.
func TestLinesThroughAnyServer(t *testing.T) {
	w := newWorld(t, 0, remote)
	w.ask("go")
	p := w.program(w.one)
	for i, lines := range []string{
		`{"type": "turn.started"}`, `{"type": "text", "delta": "Hel"}`, `{"type": "text", "delta": "lo "}`, `{"type": "text", "delta": "wörld."}`,
		`{"type": "tool", "callId": "a", "tool": "t", "state": "running"}`, `{"type": "tool", "callId": "a", "state": "done", "output": "{\"x\": 1}"}`,
		`{"type": "text", "delta": "Bye"}`, `{"type": "text", "delta": "."}`, `{"type": "turn.ended"}`,
	} {
		p.s = []*remoterun.Server{w.one, w.two, w.two}[i%3]
		p.report(lines)
	}
	if got, want := w.shown(), `completed: [done Hello wörld.] [done t{}{"x":1}] [done Bye.]`; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}

// A program that has lost its lease is refused, whatever it sends.
func TestStaleGeneration(t *testing.T) {
	w := newWorld(t, shortLease, remote)
	w.ask("go")
	old := w.program(w.one)
	old.report(`{"type": "turn.started"}
		{"type": "text", "delta": "I am"}`)
	next := w.program(w.two)
	if next.r.Generation <= old.r.Generation || len(next.r.Written) != 1 || next.r.Written[0] != (shoal.WrittenText{SpaceID: "shop", Text: "I am", Interrupted: true}) {
		t.Fatalf("the second claim is %+v", next.r)
	}
	for _, lines := range []string{"", `{"type": "text", "delta": " late"}`} {
		if err := old.refuses(lines); !errors.Is(err, shoal.Conflict) {
			t.Errorf("%q of the old claim: %v", lines, err)
		}
	}
	if err := w.one.Orders(t.Context(), clerk, session, old.r.Run.ID, old.r.Generation, time.Hour, func(*shoal.Order) error { return nil }); !errors.Is(err, shoal.Conflict) {
		t.Errorf("the orders of the old claim: %v", err)
	}
	next.report(`{"type": "turn.started"}
		{"type": "text", "delta": "I am back."}
		{"type": "turn.ended"}`)
	if got, want := w.shown(), "completed: [interrupted I am] [done I am back.]"; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}

// A lease that has ended is a lease again with the next report, as long as no other program has
// claimed the run: its program was cut off, or the server was down, and nothing is wrong.
func TestALeaseIsRevived(t *testing.T) {
	w := newWorld(t, shortLease, remote)
	id := w.ask("go")
	p := w.program(w.one)
	p.report(`{"type": "turn.started"}
		{"type": "text", "delta": "Before, "}`)
	w.until("the lease has ended", func() bool { return w.leaseHasEnded(id) })
	// Any server ends the expired leases of other servers when it claims.
	_, err := w.hub.Work.Claim(t.Context(), "a server", 1, time.Minute)
	w.must(err)
	if err := w.one.Orders(t.Context(), clerk, session, id, p.r.Generation, time.Hour, func(*shoal.Order) error { return errEnough }); !errors.Is(err, errEnough) {
		t.Errorf("the orders: %v", err)
	}
	claimed, _, err := w.two.Claim(t.Context(), clerk, session, "clerk", remoterun.Demand{Limit: 1, Holds: []shoal.RunID{"run_of_long_ago", id}})
	if w.must(err); len(claimed) != 0 {
		t.Errorf("its program takes it from itself: %+v", claimed)
	}
	p.report("")
	p.s = w.two // and so does another server
	p.report(`{"type": "text", "delta": "and after."}
		{"type": "turn.ended"}`)
	if got, want := w.shown(), "completed: [done Before, and after.]"; got != want {
		t.Errorf("shown:\n%s\nwant\n%s", got, want)
	}
}

var errEnough = errors.New("enough")

// leaseHasEnded reports whether the lease of a run is over.
func (w *world) leaseHasEnded(id shoal.RunID) (ended bool) {
	w.t.Helper()
	w.must(w.hub.Work.Read(w.t.Context(), func(tx storage.Tx) error {
		now, err := tx.Now()
		if err != nil {
			return err
		}
		r, err := tx.Run(session, id)
		ended = r.LeaseExpired(now)
		return err
	}))
	return ended
}

// plan is what the program of TestKilledPrograms does, a report in each line.
var plan = []string{
	`{"type": "turn.started"}`,
	`{"type": "text", "delta": "First "}`,
	`{"type": "text", "delta": "I count. "}`,
	`{"type": "tool", "callId": "count", "tool": "count", "state": "running"}`,
	`{"type": "tool", "callId": "count", "state": "done", "output": "7"}`,
	`{"type": "text", "delta": "Now I pay. "}`,
	`{"type": "permission", "callId": "pay", "tool": "pay", "args": {"amount": 7}}`,
	`{"type": "tool", "callId": "pay", "state": "running"}`,
	`{"type": "tool", "callId": "pay", "state": "done", "output": "paid"}`,
	`{"type": "text", "delta": "Done."}`,
	`{"type": "usage", "tokens": {"input": 5, "output": 5}}`,
	`{"type": "turn.ended"}`,
}

// A program that dies after any of its reports is continued by the next one, which knows what
// was done: no word appears twice or is lost, and no tool is reported twice. The same holds
// when the server dies instead.
func TestKilledPrograms(t *testing.T) {
	for _, kill := range []string{"program", "server"} {
		for at := range plan {
			t.Run(fmt.Sprintf("%s after %d", kill, at), func(t *testing.T) {
				lease := shortLease
				if kill == "server" {
					lease = 0
				}
				w := newWorld(t, lease, remote)
				id := w.ask("count and pay")
				p := w.program(w.one)
				for i, line := range plan {
					if i == at && kill == "program" {
						p = w.program(w.two)
						p.report(plan[0])
					}
					if i == at && kill == "server" {
						w.one.Stop()
						w.one = w.start()
						p.s = w.one
					}
					p.resume(line)
				}
				r := w.run(id)
				if r.Status != shoal.RunCompleted {
					t.Fatalf("the run is %s: %+v", r.Status, r.Error)
				}
				text, tools := "", ""
				for _, m := range w.messages() {
					for _, part := range m.Parts {
						text += part.Text
						if part.Type == shoal.ToolPart {
							tools += string(part.Status) + " " + part.ToolName + string(part.Result) + ";"
						}
					}
				}
				if text != "First I count. Now I pay. Done." || tools != `done count7;done pay"paid";` || len(w.messages()) != 1 {
					t.Errorf("shown is\n%s", w.shown())
				}
			})
		}
	}
}

// resume reports a line of the plan unless what the claim says shows that it was done.
func (p *program) resume(line string) {
	p.t.Helper()
	l := p.lines(line)[0]
	p.n--
	state := shoal.ToolState("")
	for _, c := range p.r.Calls {
		if c.CallID == l.CallID {
			state = c.State
		}
	}
	switch {
	case l.Type == shoal.WorkTurnStarted && p.n > 0:
		return
	case l.Type == shoal.WorkText && p.wrote(l.Delta):
		return
	case l.Type == shoal.WorkTool && state == shoal.ToolDone:
		return
	}
	p.report(line)
	if l.Type == shoal.WorkPermission {
		p.approve(l.CallID)
	}
}

// wrote reports whether an earlier claim has written a text.
func (p *program) wrote(text string) bool {
	for _, t := range p.r.Written {
		if strings.Contains(t.Text, text) {
			return true
		}
	}
	return false
}

// approve lets ann approve a call, unless she did, and waits for the order.
func (p *program) approve(call string) {
	p.t.Helper()
	actions, err := p.hub.Pending.List(p.t.Context(), ann, session, storage.PendingFilter{Run: p.r.Run.ID})
	p.must(err)
	yes := true
	for _, a := range actions {
		if a.Status == shoal.PendingOpen {
			_, err := p.hub.Pending.Answer(p.t.Context(), ann, session, a.ID, shoal.PendingAnswer{Approved: &yes})
			p.must(err)
		}
	}
	if o := p.order(); o.Type != shoal.OrderAnswer || o.CallID != call || o.Approved == nil || !*o.Approved || o.By != "ann" {
		p.t.Errorf("the order is %+v", o)
	}
}

// order returns the first order.
func (p *program) order() shoal.Order {
	p.t.Helper()
	return p.orders(1)[0]
}

// orders returns the first n orders, or those up to the end of the run.
func (p *program) orders(n int) (out []shoal.Order) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	done := errors.New("done")
	err := p.s.Orders(ctx, clerk, session, p.r.Run.ID, p.r.Generation, time.Hour, func(o *shoal.Order) error {
		if o != nil {
			out = append(out, *o)
		}
		if len(out) == n {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) && (err != nil || len(out) == 0 || out[len(out)-1].Type != shoal.OrderCancel) {
		p.t.Fatalf("%d orders: %v", len(out), err)
	}
	return out
}
