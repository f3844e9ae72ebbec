package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/shoaltest/crowd"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// A server is stopped while it executes a run, and continued when another one has taken
// over the run: it must not write any more.

const (
	chunkPause = 30 * time.Millisecond // between two chunks of the agent's model
	takenOver  = 20 * time.Second
)

// asleep stops a server in the middle of a run, starts another one on the same
// database, and continues the first while the other executes the run.
func stopDuringRuns(t *testing.T, binary string, env []string, rounds int, seed uint64) (o outcome) {
	t.Helper()
	for n := 0; n < rounds && len(o.found) == 0; n++ {
		s := program.NewServer(t, binary)
		s.Env = env
		s.Start(t)
		w := newWorld(t, s, seed+uint64(n), 0)
		w.Work = crowd.NewWork(t, w.Crowd, 1)
		j := w.Work.Jobbers[0]
		j.Texts = nil // the stream is not followed
		w.Work.Hire(t, j, chunkPause)
		other := program.NewServerIn(t, binary, s.Data)
		other.Env = env
		takeOverRun(t, w, other, random(seed, uint64(n)).Int64N(int64(400*time.Millisecond)))
		w.Work.Admin = (&crowd.Crowd{URL: other.URL(), Key: w.Key}).Session(t, w.Key)
		w.untilEnded(t, j.Agent)
		o.found = append(o.found, w.Work.Check(t.Context())...)
		o.count, o.operations, o.slowest = o.count+1, o.operations+1, max(o.slowest, other.Slowest)
		w.Close()
		s.Kill()
		other.Kill()
		o.found = append(o.found, checkDatabase(t.Context(), other)...)
	}
	return o
}

// overtake posts a job, stops the server of the world while the job is in progress, and
// continues it when the other server executes the run. If the server is stopped while it
// has locked the database, it is continued and stopped again.
func takeOverRun(t *testing.T, w *world, other *program.Server, into int64) {
	t.Helper()
	j := w.Work.Jobbers[0]
	j.Jobs = append(j.Jobs, &crowd.Job{Word: j.Word(0)})
	if err := j.HandIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	crowd.Pause(t.Context(), 100*time.Millisecond+time.Duration(into))
	w.server.Signal(syscall.SIGSTOP)
	for tries := 0; locked(t.Context(), w.server); tries++ {
		if tries == 100 {
			t.Fatal("the server could not be stopped without a lock on the database")
		}
		w.server.Signal(syscall.SIGCONT)
		crowd.Pause(t.Context(), 7*time.Millisecond)
		w.server.Signal(syscall.SIGSTOP)
	}
	// The stopped server still holds the lock file that prevents a second server. An
	// operator that believes it to be dead removes the file.
	if err := os.Remove(filepath.Join(w.server.Data, "shoal.db.lock")); err != nil {
		t.Fatal(err)
	}
	other.Start(t)
	began := time.Now()
	admin := (&crowd.Crowd{URL: other.URL(), Key: w.Key}).Session(t, w.Key)
	for at := int64(-1); ; crowd.Pause(t.Context(), 10*time.Millisecond) {
		if time.Since(began) > takenOver {
			t.Fatalf("no server took over the run within %v", takenOver)
		}
		// The new server writes events of the run once it executes it.
		if n := eventsOf(t, admin, j.Space); at < 0 {
			at = n
		} else if n > at {
			break
		}
	}
	w.server.Signal(syscall.SIGCONT)
}

// eventsOf measures the progress of the messages of a space: each growing text increases
// it.
func eventsOf(t *testing.T, admin *client.Session, space shoal.SpaceID) (n int64) {
	t.Helper()
	page, err := admin.Messages(t.Context(), space, client.MessagesOptions{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range page {
		n += 1 + m.UpdatedAt.UnixMicro()
	}
	return n
}

// untilEnded waits until no run of an agent is in progress.
func (w *world) untilEnded(t *testing.T, agent shoal.EntityID) {
	t.Helper()
	for began := time.Now(); ; crowd.Pause(t.Context(), 50*time.Millisecond) {
		open := 0
		for r, err := range w.Work.Admin.Runs(t.Context(), client.RunsOptions{Agent: agent}) {
			if err != nil {
				t.Fatal(err)
			}
			if !r.Status.Ended() {
				open++
			}
		}
		if open == 0 {
			return
		}
		if time.Since(began) > crowd.SettleLimit {
			w.Found = append(w.Found, fmt.Sprintf("stuck: %d runs of %s have not ended", open, agent))
			return
		}
	}
}

func TestTakeover(t *testing.T) {
	o := stopDuringRuns(t, productBinary(t), nil, times(t, "SHOAL_SLEEPS", 1), randomSeed(t))
	o.fault = "SIGSTOP, takeover of the run, SIGCONT"
	report(t, o)
}
