package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// roundLife is the minimum duration of a round of load.
const roundLife = 500 * time.Millisecond

// leaks is a test with rounds of load, after which the server must not use more resources
// than after the first rounds.
type leaks struct {
	rounds int // the number of rounds that are compared
	seed   uint64
	// between, if not nil, stops the server after the n-th round and returns findings.
	// The server is started again.
	between func(n int) []string
}

// warmUps returns the number of rounds that determine the base level: a single round may
// not use every resource that stays allocated.
func (l leaks) warmUps() int { return 2 + l.rounds/5 }

// play runs the rounds until one leaks a resource.
func (l leaks) play(t *testing.T, s *program.Server) outcome {
	t.Helper()
	s.Start(t)
	w := newWorld(t, s, l.seed, 1)
	w.endLastingClients()
	w.fillCaches(t)
	g := w.newGuests(t)
	most, last := serverMetrics{}, serverMetrics{}
	counted := 0
	for counted < l.warmUps()+l.rounds && len(w.Found) == 0 {
		lifeResult := g.round(t)
		if lifeResult.died {
			w.Found = append(w.Found, fmt.Sprintf("end: the server exited by itself: %v", s.Process.ProcessState))
			break
		}
		counted++
		if counted <= l.warmUps() {
			most.raise(w.rest(t, nil))
		} else {
			last = w.rest(t, most)
			w.Found = append(w.Found, last.above(most, idleBounds)...)
		}
		if l.between != nil {
			w.Found = append(w.Found, l.between(counted-1)...)
			s.Start(t)
		}
		w.Check(t, false)
	}
	w.finish(t)
	return outcome{
		count: counted, operations: w.Operations(), found: w.Found, slowest: s.Slowest,
		note: fmt.Sprintf("%v after the first %d, %v after the last", most, l.warmUps(), last),
	}
}

// String returns the figures of an idle server that are not 0.
func (f serverMetrics) String() string {
	return fmt.Sprintf("%.0f goroutines, %.0f files, %.1f MiB of heap, %.1f MiB resident",
		f["go_goroutines"], f["process_open_fds"], f["go_heap_objects_bytes"]/(1<<20), f["process_resident_memory_bytes"]/(1<<20))
}

// After rounds of load without a restart, when the clients have disconnected, the server
// uses no more resources than after the first rounds.
func TestRounds(t *testing.T) {
	t.Parallel() // it mostly waits until the server is idle
	o := leaks{rounds: times(t, "SHOAL_ROUNDS", 2), seed: randomSeed(t)}.play(t, program.NewServer(t, productBinary(t)))
	o.fault = "rounds of load"
	report(t, o)
}

// After restarts on the same data, some of them kills, the server uses no more resources
// than after the first ones, and a message no more disk space.
func TestRestarts(t *testing.T) {
	t.Parallel() // as above
	s := program.NewServer(t, productBinary(t))
	var sizes []size
	o := leaks{rounds: times(t, "SHOAL_RESTARTS", 2), seed: randomSeed(t), between: func(n int) (wrong []string) {
		if n%4 == 3 {
			s.Kill()
			return nil
		}
		if wrong := s.Stop(); wrong != "" {
			return []string{wrong}
		}
		sizes = append(sizes, sizeOf(t, s))
		return nil
	}}.play(t, s)
	o.fault = "restarts on the same data"
	if len(o.found) == 0 {
		each, wrong := compareSizes(sizes)
		o.found, o.note = append(o.found, wrong...), o.note+", "+each
	}
	report(t, o)
}
