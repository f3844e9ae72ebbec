// Package setting reads what the environment tells a test: how often it does what it
// does, and which chance it takes.
//
//	kills, seed := setting.Number(t, "SHOAL_KILLS", 12), setting.Seed(t, "SHOAL_CRASH_SEED")
package setting

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Number returns the number that the environment has under name, or else usual. It
// fails the test where something else is there.
func Number(t testing.TB, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// Seed returns the seed that the environment has under name, or else one that
// chance chooses, and logs how to have it again.
func Seed(t testing.TB, name string) uint64 {
	t.Helper()
	seed := Number(t, name, rand.Uint64())
	t.Logf("%s=%d", name, seed)
	return seed
}
