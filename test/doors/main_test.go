// Package doors_test plays one story through every door of one server: the shopping run of an agent, with cards for
// a customer and an approval in another space. Each door is opened with its official client, unmodified, and all of
// them must leave the same messages.
//
// The agent's model is played by aimock (test/models/hosted.mjs); the programs at the clients are those of the tests
// of each door. `make setup` installs what they need.
package doors_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// patience is how long a test waits for what must come. It only ends a test that
// has failed anyway, so it is long enough for a machine that is busy.
const patience = 40 * time.Second

var update = flag.Bool("update", false, "write testdata/stored.json anew")

// vendor is the address of the models.
var vendor string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := withVendor(m.Run)
	if err != nil {
		fmt.Fprintf(os.Stderr, "test/doors: %v; run `make setup`\n", err)
		code = 1
	}
	os.Exit(code)
}

// withVendor runs while aimock does.
func withVendor(run func() int) (code int, err error) {
	for _, needed := range []string{"models/node_modules/@copilotkit/aimock", "agui/node_modules/@ag-ui/client", "aisdk/node_modules/ai", "openai/node_modules/openai", "mcp-ts/node_modules/@modelcontextprotocol/client"} {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(needed))); err != nil {
			return 0, err
		}
	}
	var said struct{ URL string }
	stop, err := program.Serve("../models/hosted.mjs", &said)
	if err != nil {
		return 0, err
	}
	vendor = said.URL
	code = run()
	return code, stop()
}
