package tasks_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/mcpapi/tasks"
	"github.com/shoal-dev/shoal/internal/mcpapi/tools"
)

// A task is kept for its time, and then forgotten; a wait that is still open ends. One more than a caller may
// have forgets the oldest that has ended, else cancels the oldest.
func TestRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r tasks.Registry
		ann := tools.Caller{Session: "ann"}
		var canceled []string
		begin := func(owner tools.Caller, name string, ttl time.Duration) *tasks.Task {
			x, err := r.Begin(owner, nil, []byte(name), ttl, func(error) { canceled = append(canceled, name) })
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		one, two := begin(ann, "one", time.Minute), begin(ann, "two", 0)
		two.End(tasks.Completed, "")
		two.End(tasks.Failed, "late") // changes nothing
		if s := two.State(); s.Status != tasks.Completed || s.Message != "" || s.TTL != tasks.DefaultTTL.Milliseconds() {
			t.Errorf("the second task is %+v", s)
		}
		three, four := begin(ann, "three", 0), begin(ann, "four", 0)
		canceled = nil
		five := begin(ann, "five", 0) // forgets two, which has ended
		if r.Get(ann, two.State().ID) != nil || len(canceled) != 0 {
			t.Errorf("two is kept, or canceled are %q", canceled)
		}
		begin(ann, "six", 0) // forgets one
		<-one.Done()
		if s := one.State(); s.Status != tasks.Cancelled || r.Get(ann, s.ID) != nil || len(canceled) != 1 {
			t.Errorf("one is %+v, canceled are %q", s, canceled)
		}
		if listed := r.List(ann); len(listed) != tasks.Most || listed[0].ID != three.State().ID || listed[2].ID != five.State().ID {
			t.Errorf("listed are %+v", listed)
		}
		if x, worked := r.Cancel(ann, four.State().ID); x != four || !worked || four.State().Status != tasks.Cancelled {
			t.Error("four is not canceled")
		}
		if _, worked := r.Cancel(ann, four.State().ID); worked {
			t.Error("four is canceled twice")
		}
		if x, _ := r.Cancel(tools.Caller{Session: "bob"}, five.State().ID); x != nil {
			t.Error("another caller has the task")
		}
		<-time.After(tasks.DefaultTTL)
		synctest.Wait()
		if listed := r.List(ann); len(listed) != 0 || five.State().Status != tasks.Cancelled {
			t.Errorf("kept are %+v", listed)
		}
		seven := begin(ann, "seven", 24*time.Hour)
		if got := seven.State().TTL; got != tasks.MaxTTL.Milliseconds() {
			t.Errorf("the ttl is %d", got)
		}
		r.Stop()
		<-seven.Done()
	})
}

// The server has a bound of its own.
func TestTooManyTasks(t *testing.T) {
	var r tasks.Registry
	defer r.Stop()
	cancel := context.CancelCauseFunc(func(error) {})
	for n := range tasks.MostInAll {
		if _, err := r.Begin(tools.Caller{Session: shoal.SessionID(strconv.Itoa(n))}, nil, nil, 0, cancel); err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := r.Begin(tools.Caller{}, nil, nil, 0, cancel); shoal.KindOf(err) != shoal.TooManyWaiters {
		t.Errorf("one more: %v", err)
	}
}
