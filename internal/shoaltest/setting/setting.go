// Package setting reads the settings of tests from the environment: numbers of repetitions
// and random seeds.
//
//	kills, seed := setting.Number(t, "SHOAL_KILLS", 12), setting.Seed(t, "SHOAL_CRASH_SEED")
package setting

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Number returns the number in the environment variable name, or usual if it is not set. It
// fails the test if the value is not a number.
func Number(t testing.TB, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: want a number", name, text)
	}
	return n
}

// Seed returns the seed in the environment variable name, or a random one if it is not set,
// and logs how to use the same seed again.
func Seed(t testing.TB, name string) uint64 {
	t.Helper()
	seed := Number(t, name, rand.Uint64())
	t.Logf("%s=%d", name, seed)
	return seed
}

// Repeats chooses how often a test repeats what it shows, in other orders or at other moments: it returns all,
// or few with -short, as `make test` and the race detector do.
func Repeats(all, few int) int {
	if testing.Short() {
		return few
	}
	return all
}
