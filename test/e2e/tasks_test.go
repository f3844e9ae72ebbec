package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// The official SDK waits with a task: no request of it is open for long. Another task is canceled, and loses
// nothing.
func TestWaitAsTask(t *testing.T) {
	t.Parallel()
	p := meet(t, serve(t, t.TempDir()), ts1HTTP)
	a := p.agent.(*nodeAgent)
	order := args{"tool": "wait_for_mentions", "arguments": args{"timeoutMs": 600_000}, "task": args{"ttl": 900_000}, "timeout": 20_000}
	_, done := a.order(t, order)
	var first task
	for range 3 { // it polls
		if first = a.state(t); first.Status != "working" {
			t.Fatalf("the task is %+v", first)
		}
	}
	p.untilWaiting(t, shoal.DefaultSession, p.id)
	p.post("hello")
	var got shoal.WaitResult
	succeeded(t, &call{"wait_for_mentions", done, nil}, &got)
	if diff := cmp.Diff(map[string]int{"hello": 2}, texts(got)); diff != "" { // the wait of the task has delivered it, too
		t.Errorf("the task brought (-want +got):\n%s", diff)
	}

	_, done = a.order(t, order)
	second := first
	for second.ID == first.ID { // after the last state of the first
		second = a.state(t)
	}
	_, canceled := a.order(t, args{"cancelTask": second.ID})
	var state task
	if o := <-canceled; o.err != nil || json.Unmarshal(o.result.Structured, &state) != nil || state.Status != "cancelled" {
		t.Errorf("canceled is %s, %v", o.result.Structured, o.err)
	}
	if o := <-done; o.err == nil {
		t.Errorf("the canceled task brought %s", o.result.Structured)
	}
	p.post("later")
	do(t, p.agent, "wait_for_mentions", args{"timeoutMs": 0}, &got)
	if diff := cmp.Diff(map[string]int{"later": 1}, texts(got)); diff != "" {
		t.Errorf("the next wait brought (-want +got):\n%s", diff)
	}
}

// state returns the next state of a task, which must come soon.
func (a *nodeAgent) state(t *testing.T) task {
	t.Helper()
	select {
	case got := <-a.tasks:
		return got
	case <-time.After(patience):
		t.Fatal("no state of a task came")
	}
	panic("unreachable")
}
