// Package crash kills a real server again and again, at random moments and under
// load, and holds what its clients saw against what it says after each restart.
//
//	go test ./test/crash -run TestKill
//	SHOAL_CRASH_ROUNDS=300 SHOAL_CRASH_SEED=7 go test -timeout 30m ./test/crash -run TestKill
//
// The clients keep their own history outside the server's data directory: for
// every post what was sent, when, and what was answered; for every wait what it
// acknowledged and what it got; every event of every stream. An answer that
// never came makes an outcome unknown, never a failure. The checker is pure, so
// that planted histories can prove that it finds each fault (check_test.go).
//
// What must hold:
//   - no acknowledged message is lost or changed, and none is there twice;
//   - a retry under the same key finds out the one fate of an unknown post;
//   - seq of a space is 1…n, and agrees with the order in which posts were
//     acknowledged before others were sent;
//   - a mention is delivered until it is acknowledged and never afterwards;
//     delivery numbers never fall, acknowledgements are never taken back;
//   - a stream that is resumed has every event once, or a snapshot;
//   - the server answers again within two seconds, and the database is sound.
package crash

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

const (
	leastRate    = 200 // acknowledged posts a second; a round below it does not count
	leastLife    = 50 * time.Millisecond
	mostLife     = 1500 * time.Millisecond
	restartLimit = 2 * time.Second
	settleLimit  = 20 * time.Second // how long clients may take to see everything at the end
	shownFaults  = 20
)

// number reads a number from the environment.
func number(t *testing.T, name string, fallback uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

func TestKill(t *testing.T) {
	rounds := int(number(t, "SHOAL_CRASH_ROUNDS", 30))
	seed := number(t, "SHOAL_CRASH_SEED", rand.Uint64())
	t.Logf("SHOAL_CRASH_SEED=%d SHOAL_CRASH_ROUNDS=%d", seed, rounds)
	dice := rand.New(rand.NewPCG(seed, 0))

	server := newServer(t)
	server.start(t)
	w := newWorld(t, server, seed)
	slowest, counted := time.Duration(0), 0
	for tries := 0; counted < rounds; tries++ {
		if tries == 2*rounds+5 {
			t.Fatalf("only %d of %d rounds reached %d posts/s: this machine is too busy to test under load", counted, tries, leastRate)
		}
		life := leastLife + time.Duration(dice.Int64N(int64(mostLife-leastLife)))
		rate := w.live(t, life)
		if rate >= leastRate {
			counted++
		} else {
			t.Logf("a round with %.0f posts/s does not count", rate)
		}
		slowest = max(slowest, server.start(t))
		w.check(t, false)
	}
	w.settle(t)
	w.check(t, true)
	w.checkReread(t)
	server.stop(t)
	w.close(t)
	server.checkDatabase(t)
	if slowest > restartLimit {
		t.Errorf("the slowest restart took %v until the first answer; the limit is %v", slowest, restartLimit)
	}
	w.report(t, rounds, slowest)
}
