package hub_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/shoal-dev/shoal/internal/shoaltest"
)

var update = flag.Bool("update", false, "write the outcomes of the scenarios anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The rules of the conversation, one promise a file. What the files say and how
// they are written stands in the package comment of shoaltest.
func TestScenarios(t *testing.T) { shoaltest.Play(t, "testdata/*.txt", *update) }
