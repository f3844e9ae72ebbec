package connect_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/connect"
)

// An entry as it is written lets a call take as long as wanted; one that somebody has
// written by hand may not.
func TestPatience(t *testing.T) {
	for _, c := range connect.Clients {
		text, err := c.Text("shoal", connect.Target{URL: "http://127.0.0.1:7462", Agent: "a", Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "file")
		open := func() *connect.Config {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			config, err := connect.Open(c, path)
			if err != nil {
				t.Fatal(err)
			}
			return config
		}
		set, wanted, err := open().ToolTimeout("shoal")
		if err != nil || set != wanted {
			t.Errorf("%s: %s is set, %s is wanted, %v", c.ID, set, wanted, err)
		}
		if can := c.ID != "cursor" && c.ID != "vscode"; can != (wanted >= 10*time.Minute) {
			t.Errorf("%s: %s is wanted", c.ID, wanted)
		}
		if set, _, err = open().ToolTimeout("other"); set != 0 || err != nil {
			t.Errorf("%s without an entry: %s, %v", c.ID, set, err)
		}
	}
}
