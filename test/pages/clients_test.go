package pages

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// The agent of clients.md, compiled against the client as it is published, answers.
func TestTheTypeScriptOfClientsAnswers(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "scout.ts")
	if err := os.WriteFile(source, []byte(programOf(t, "clients.md", "scout.ts")), 0o600); err != nil {
		t.Fatal(err)
	}
	compiled := program.TypeScript(t, source)
	text, err := os.ReadFile(compiled)
	if err != nil {
		t.Fatal(err)
	}
	s := apptest.Start(t)
	start(t, s, filepath.Dir(compiled), find(t, "node", "apt-get install nodejs"), "scout.js", string(text))
	done := make(chan string, 1)
	go func() { done <- s.Ask("scout", "Hello scout") }()
	select {
	case got := <-done:
		if got != "You said: Hello scout" {
			t.Errorf("scout answered %q", got)
		}
	case <-time.After(30 * time.Second):
		t.Error("scout did not answer within 30 s")
	}
}
