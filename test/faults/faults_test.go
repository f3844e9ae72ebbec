// Package faults injects faults into a real server under load, and compares what its
// clients observed with the state of the server afterwards.
//
//	go test ./test/faults                                    # every fault a few times
//	make torture                                             # every fault many times, every planted bug
//	SHOAL_FAULT_SEED=7 SHOAL_KILLS=150 go test ./test/faults -run '^TestKill$'
//
// A fault is a kill at a random moment or at a named point of the program, a power
// cut, a full disk, a disk that fails or is slow, a damaged file, and so on. The parts:
//   - server: the real binary with its data directory, restarted many times. The
//     time between two restarts is called a life;
//   - world: the server and the clients of internal/shoaltest/crowd, which keep a history
//     in this process and check it.
//
// The invariants that must hold after every restart (docs/reliability.md):
//   - I1: no acknowledged message is lost or changed;
//   - I2: no message is stored twice, and a retry with a key returns the first id;
//   - I3: a retry determines the outcome of an unknown post;
//   - I4: the seq numbers of a space are 1…n, and a post that was acknowledged before
//     another was sent has the lower one;
//   - I5: an inbox entry is delivered until it is acknowledged and never afterwards;
//     no waiter sleeps while its inbox has an unread message;
//   - I6: a resumed stream has every event once, or starts with a snapshot;
//   - I7: a finished tool call is not executed again; a run has one message in its
//     space that contains every text once;
//   - I8: the server responds within two seconds, the database is intact, and when
//     the load has ended the server uses no more resources than before (leak_test.go).
//
// A fault waits until its life had as many responses as at 200 per second. A test that
// requires root is reported as skipped without it, in the output and in the table
// at the end. Named points and planted bugs are compiled into the program with
// `go build -overlay` (build_test.go); the product contains none of them.
package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/coder"
	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

const (
	minRate     = 200 // responses per second of a life; a fault waits until there were as many
	minLife     = 50 * time.Millisecond
	maxLife     = 1500 * time.Millisecond
	shownFaults = 20
)

func TestMain(m *testing.M) {
	coder.Main()
	dir, err := os.MkdirTemp("", "shoal-faults-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	builtPrograms.dir = dir
	code := m.Run()
	if err := printTable(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(dir) // contains only binaries
	os.Exit(code)
}

// times returns how often a test injects its fault: the value of an environment variable,
// or fallback.
func times(t *testing.T, name string, fallback uint64) int {
	t.Helper()
	return int(setting.Number(t, name, fallback))
}

// randomSeed returns the seed of a test, random unless SHOAL_FAULT_SEED is set, and logs
// it.
func randomSeed(t *testing.T) uint64 {
	t.Helper()
	return setting.Seed(t, "SHOAL_FAULT_SEED")
}

// random returns the random numbers of one iteration of a test.
func random(seed, iteration uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, iteration)) }
