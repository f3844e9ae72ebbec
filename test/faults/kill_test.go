package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// round describes the rounds of a test under load.
type round struct {
	rounds int
	agents int
	seed   uint64
	// uncounted means that the disk refuses writes while the server still responds.
	uncounted bool
	// strike injects the fault into the server under load, leaves the server stopped,
	// and returns its findings.
	strike func(n int) []string
	// repair, if not nil, makes a restart of the server possible.
	repair func()
}

// play runs the rounds: load, fault, restart, check; and checks everything at the end.
func play(t *testing.T, s *program.Server, r round) (outcome, *world) {
	t.Helper()
	s.Start(t)
	w := newWorld(t, s, r.seed, r.agents)
	w.Uncounted = r.uncounted
	counted := 0
	for ; counted < r.rounds; counted++ {
		dice := random(r.seed, uint64(1000+counted))
		l := w.live(t, minLife+time.Duration(dice.Int64N(int64(maxLife-minLife))), func() {
			w.Found = append(w.Found, r.strike(counted)...)
		})
		if l.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", s.Process.ProcessState))
		}
		if w.Work != nil && w.Work.UnderWay() > 0 {
			w.atWork++
		}
		if r.repair != nil {
			r.repair()
		}
		s.Start(t)
		if !w.Check(t, false) {
			t.Logf("seed %d, round %d: %d findings", r.seed, counted, len(w.Found))
			break
		}
	}
	w.finish(t)
	return outcome{count: counted, operations: w.Operations(), found: w.Found, slowest: s.Slowest}, w
}

// A server is killed at random moments, with posts, waits and runs in progress.
func TestKill(t *testing.T) {
	seed := randomSeed(t)
	s := program.NewServer(t, productBinary(t))
	o, w := play(t, s, round{rounds: times(t, "SHOAL_KILLS", 5), agents: 3, seed: seed, strike: func(int) []string {
		s.Kill()
		return nil
	}})
	h := w.Harm()
	o.fault, o.note = "kill -9 at a random moment", fmt.Sprintf("runs in progress at %d, %v", w.atWork, h)
	if h.CutPosts == 0 || h.CutWaits == 0 || h.Redelivered == 0 {
		t.Error("the kills had no effect: want interrupted posts and waits, and repeated deliveries")
	}
	report(t, o)
}
