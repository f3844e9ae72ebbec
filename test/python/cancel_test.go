package python_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/clienttest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// A canceled task of asyncio keeps no task, no thread and no connection open, whatever it waits for.
func TestCanceledTasksLeaveNothing(t *testing.T) {
	t.Parallel()
	s, key := clienttest.Hosted(t)
	clienttest.Ask(t, s, "Hello")
	type count struct{ Tasks, Threads, Sockets int }
	var got struct {
		Waiting, Canceled, Left, Closed count
		Ends                            []string
	}
	command := append(program.PythonClient(t), "canceled.py", s.URL, key)
	program.StartLines(t, command[0], command[1:]...).Next(patience, &got)
	if got.Waiting.Tasks < 7 || got.Waiting.Sockets < 6 {
		t.Errorf("%+v exist while all of it waits", got.Waiting)
	}
	if slices.ContainsFunc(got.Ends, func(end string) bool { return end != "CancelledError" }) || len(got.Ends) != 6 {
		t.Errorf("the tasks ended with %v", got.Ends)
	}
	// A connection that is idle may be kept for the next call.
	for name, c := range map[string]count{"canceled": got.Canceled, "left": got.Left} {
		if c.Tasks != 1 || c.Threads != 1 || c.Sockets > 3 {
			t.Errorf("%s: %+v are left", name, c)
		}
	}
	if got.Closed != (count{1, 1, 0}) {
		t.Errorf("the closed client leaves %+v", got.Closed)
	}
	if taken := clienttest.Claim(t, s, key); len(taken) != 1 || len(taken[0].Written) != 1 || taken[0].Written[0].Text != "Working" {
		t.Errorf("the next program gets %+v, want the run that was given back", taken)
	}
}

// An interrupted call of the sync client ends, gives runs back, and keeps no thread.
func TestInterruptedCallsEnd(t *testing.T) {
	t.Parallel()
	installed := program.PythonClient(t)
	for _, task := range []string{"serve", "watch", "wait"} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			s, key := clienttest.Hosted(t)
			clienttest.Ask(t, s, "Hello")
			p := program.StartLines(t, installed[0], append(slices.Clone(installed[1:]), "interrupted.py", task, s.URL, key)...)
			var got struct {
				PID         int
				Ended       string
				Interrupted bool
				Threads     []string
			}
			for got.PID == 0 {
				p.Next(patience, &got)
			}
			if err := syscall.Kill(got.PID, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			for got.Threads == nil {
				p.Next(patience, &got)
			}
			if !got.Interrupted || !slices.Equal(got.Threads, []string{"MainThread"}) {
				t.Errorf("interrupted %v, the threads %v are left", got.Interrupted, got.Threads)
			}
			if task != "serve" {
				return
			}
			if taken := clienttest.Claim(t, s, key); got.Ended != "closed" || len(taken) != 1 || len(taken[0].Written) != 1 || taken[0].Written[0].Text != "Working" {
				t.Errorf("the run ended with %q, the next program gets %+v", got.Ended, taken)
			}
		})
	}
}
