package hub_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/shoaltest"
)

var update = flag.Bool("update", false, "rewrite the expected output of the scenarios")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The rules of the conversation, one promise in each file. The package comment of shoaltest
// describes the format.
func TestScenarios(t *testing.T) { shoaltest.Play(t, "testdata/*.txt", *update) }
