package faults

import (
	"fmt"
	"testing"
	"time"
)

// round is what a lane under load does again and again.
type round struct {
	rounds int
	agents int
	seed   uint64
	// uncounted says that the disk refuses writes while the server still answers.
	uncounted bool
	// strike harms the server, which is under load, leaves it dead, and says what was
	// wrong meanwhile.
	strike func(n int) []string
	// repair, if it is there, makes that the server can start again.
	repair func()
}

// play lets the world live, strikes, restarts and checks, so often, and checks
// everything at the end. A round without load does not count.
func play(t *testing.T, s *server, r round) (outcome, *world) {
	t.Helper()
	s.start(t)
	w := newWorld(t, s, r.seed, r.agents)
	w.uncounted = r.uncounted
	counted := 0
	for tries := 0; counted < r.rounds; tries++ {
		if tries == 2*r.rounds+5 {
			t.Fatalf("only %d of %d rounds reached %d responses/s: this machine is too busy to test under load", counted, tries, minRate)
		}
		dice := random(r.seed, uint64(1000+tries))
		l := w.live(t, minLife+time.Duration(dice.Int64N(int64(maxLife-minLife))), func() {
			w.found = append(w.found, r.strike(tries)...)
		})
		if l.died {
			w.found = append(w.found, fmt.Sprintf("end: the server exited by itself: %v", s.process.ProcessState))
		}
		if l.rate() >= minRate {
			counted++
		} else {
			t.Logf("round %d with %.0f responses/s does not count", tries, l.rate())
		}
		if w.work != nil && w.work.underWay() > 0 {
			w.atWork++
		}
		if r.repair != nil {
			r.repair()
		}
		s.start(t)
		if !w.check(t, false) {
			t.Logf("seed %d, round %d: %d findings", r.seed, tries, len(w.found))
			break
		}
	}
	w.finish(t)
	return outcome{count: counted, operations: w.operations(), found: w.found, slowest: s.slowest}, w
}

// A server that is killed at random moments, with posts, waits and runs under way.
func TestKill(t *testing.T) {
	seed := randomSeed(t)
	s := newServer(t, productBinary(t))
	o, w := play(t, s, round{rounds: times(t, "SHOAL_KILLS", 12), agents: 3, seed: seed, strike: func(int) []string {
		s.kill()
		return nil
	}})
	h := w.harm()
	o.fault, o.note = "kill -9 at a random moment", fmt.Sprintf("runs under way at %d, %v", w.atWork, h)
	if h.cutPosts == 0 || h.cutWaits == 0 || h.redelivered == 0 {
		t.Error("the kills hit nobody: no post or no wait was cut, or nothing had to be delivered again")
	}
	report(t, o)
}
