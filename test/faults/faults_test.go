// Package faults does to a real server what happens to servers, under load, and
// holds what its clients saw against what it says afterwards.
//
//	go test ./test/faults                                    # every fault a few times
//	make torture                                             # every fault often, every planted bug
//	SHOAL_FAULT_SEED=7 SHOAL_KILLS=150 go test ./test/faults -run '^TestKill$'
//
// A fault is a kill at a random moment or at a named point of the program, a power
// cut, a full disk, a disk that fails or is slow, a damaged file. The rig:
//   - server: the real binary with its data directory, over many lives;
//   - world: writers that repeat what got no answer under the same key, waiters
//     that acknowledge explicitly, implicitly or not at all, readers that resume
//     their streams, hosted agents at work whose tools write a ledger;
//   - history: what all of them sent and saw, kept in this process, where no
//     fault reaches it. An answer that never came makes an outcome unknown,
//     never a failure;
//   - checker: pure, so that planted histories can prove that it finds each fault
//     (plantedhistory_test.go); beside it Porcupine looks for one order of all
//     posts and reads of a space that explains every answer (order_test.go).
//
// What must hold after every restart (the invariants of docs/reliability.md):
//   - I1: no acknowledged message is lost or changed;
//   - I2: none is there twice, and a retry under a key returns the first id;
//   - I3: a retry finds out the one fate of an unknown post;
//   - I4: seq of a space is 1…n, and agrees with the order in which posts were
//     acknowledged before others were sent;
//   - I5: what is in an inbox is delivered until it is acknowledged and never
//     afterwards; nobody sleeps beside a message;
//   - I6: a stream that is resumed has every event once, or a snapshot;
//   - I7: a finished tool call is not executed again, a run has one message for
//     its space with every text once;
//   - I8: the server answers again within two seconds, the database is sound, and
//     when the load is gone the server takes no more than it did (leak_test.go).
//
// A round under load with fewer than 200 answers a second does not count.
// Where root is needed and missing, a lane is reported as skipped, in the output
// and in the table at the end. Named points and planted bugs are put into
// the program by `go build -overlay` (build_test.go): nothing of them is in the
// product.
package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

const (
	minRate      = 200 // answered posts, waits and reads a second; a round below it does not count
	minLife      = 50 * time.Millisecond
	maxLife      = 1500 * time.Millisecond
	restartLimit = 2 * time.Second
	settleLimit  = 30 * time.Second // how long clients may take to see everything at the end
	wakeLimit    = time.Second      // how long somebody may sleep beside a message
	shownFaults  = 20
)

func TestMain(m *testing.M) {
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
	_ = os.RemoveAll(dir) // it holds nothing but binaries
	os.Exit(code)
}

// times reads how often a lane does its fault.
func times(t *testing.T, name string, fallback uint64) int {
	t.Helper()
	return int(setting.Number(t, name, fallback))
}

// seeded returns the seed of a test, chosen by chance unless one is given, and
// says how to have it again.
func randomSeed(t *testing.T) uint64 {
	t.Helper()
	return setting.Seed(t, "SHOAL_FAULT_SEED")
}

// random is the chance of one iteration of a test.
func random(seed, iteration uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, iteration)) }
