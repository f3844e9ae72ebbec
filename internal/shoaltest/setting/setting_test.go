package setting_test

import (
	"fmt"
	"testing"

	"github.com/shoal-dev/shoal/internal/shoaltest/setting"
)

// told is a test that keeps what it is told, and goes on.
type told struct {
	testing.TB
	failed, logged string
}

func (*told) Helper()                          {}
func (t *told) Fatalf(format string, a ...any) { t.failed = fmt.Sprintf(format, a...) }
func (t *told) Logf(format string, a ...any)   { t.logged = fmt.Sprintf(format, a...) }

func TestNumber(t *testing.T) {
	const name = "SHOAL_TEST_NUMBER"
	for text, want := range map[string]uint64{"": 12, "7": 7, "0": 0} {
		t.Setenv(name, text)
		if got := setting.Number(t, name, 12); got != want {
			t.Errorf("%q is read as %d, want %d", text, got, want)
		}
	}
	t.Setenv(name, "many")
	var refused told
	setting.Number(&refused, name, 12)
	if want := `SHOAL_TEST_NUMBER="many" is no number`; refused.failed != want {
		t.Errorf("many: %q, want %q", refused.failed, want)
	}
}

// What is logged has the same seed again.
func TestSeed(t *testing.T) {
	var first told
	seed := setting.Seed(&first, "SHOAL_TEST_SEED")
	t.Setenv("SHOAL_TEST_SEED", first.logged[len("SHOAL_TEST_SEED="):])
	if again := setting.Seed(t, "SHOAL_TEST_SEED"); again != seed {
		t.Errorf("after %q the seed is %d, want %d", first.logged, again, seed)
	}
}
