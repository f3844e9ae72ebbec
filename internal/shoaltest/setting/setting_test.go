package setting_test

import (
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// recorder is a test that records its messages and continues after a failure.
type recorder struct {
	testing.TB
	failed, logged string
}

func (*recorder) Helper()                          {}
func (t *recorder) Fatalf(format string, a ...any) { t.failed = fmt.Sprintf(format, a...) }
func (t *recorder) Logf(format string, a ...any)   { t.logged = fmt.Sprintf(format, a...) }

func TestNumber(t *testing.T) {
	const name = "SHOAL_TEST_NUMBER"
	for text, want := range map[string]uint64{"": 12, "7": 7, "0": 0} {
		t.Setenv(name, text)
		if got := setting.Number(t, name, 12); got != want {
			t.Errorf("Number(%q) = %d, want %d", text, got, want)
		}
	}
	t.Setenv(name, "many")
	var refused recorder
	setting.Number(&refused, name, 12)
	if want := `SHOAL_TEST_NUMBER="many": want a number`; refused.failed != want {
		t.Errorf("got message %q, want %q", refused.failed, want)
	}
}

// The logged setting reproduces the seed.
func TestSeed(t *testing.T) {
	var first recorder
	seed := setting.Seed(&first, "SHOAL_TEST_SEED")
	t.Setenv("SHOAL_TEST_SEED", first.logged[len("SHOAL_TEST_SEED="):])
	if again := setting.Seed(t, "SHOAL_TEST_SEED"); again != seed {
		t.Errorf("with %q: got seed %d, want %d", first.logged, again, seed)
	}
}
