package clients_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// spoken is what the page has the person say to the client after its restart.
var spoken = regexp.MustCompile(`\*(Call wait_for_mentions [^*]+)\*`)

// Claude Code is given one page, as a server serves it, and connects itself: it runs the
// commands of the page, and after its restart calls the tools as the page says. It needs
// no admin key for that.
func TestAnAgentSetsItselfUp(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server, key := apptest.Run(t, app.Config{Data: data})
	at := clientOf(t, client.Options{URL: server.URL(), Key: key}).Session(shoal.DefaultSession)
	operators := operatorsDirectory(t, data)
	m := newMachine(t, server.URL(), operators)
	m.keeps(".claude.json", claudeSettings)
	page := setupPage(t, server.URL())

	first := m.runs("claude", "-p", "Follow this page.\n\n"+page, "--model", "claude-opus-4-6", "--allowedTools", "Bash(shoal:*)")
	if !strings.Contains(first, "I have run: shoal doctor --ready; shoal connect claude-code --write --yes.") {
		t.Fatalf("Claude Code says\n%s", first)
	}
	if list := m.runs("claude", "mcp", "list"); !strings.Contains(list, "shoal: "+server.URL()+"/mcp (HTTP) - ✔ Connected") {
		t.Fatalf("Claude Code sees these servers:\n%s", list)
	}
	made, err := at.Entity(t.Context(), "claude")
	if err != nil || made.Kind != shoal.Agent || made.OwnerID == nil || *made.OwnerID != shoal.Operator {
		t.Errorf("the agent is %+v, %v", made, err)
	}

	prompt := spoken.FindStringSubmatch(page)
	if prompt == nil {
		t.Fatal("the page does not say how to go on after the restart")
	}
	claude := m.works("claude", "-p", prompt[1], "--model", "claude-opus-4-6", "--allowedTools", "mcp__shoal")
	untilWaiting(t, at, "claude")
	space := clientOf(t, client.Options{URL: server.URL(), Key: key, As: shoal.Operator}).Session(shoal.DefaultSession)
	post(t, space, "Hello claude, who are you?", "claude")
	answer, err := space.Wait(t.Context(), shoal.Operator, client.WaitRequest{Timeout: patience})
	if err != nil || answer.TimedOut {
		t.Fatalf("the operator heard nothing: %v", err)
	}
	untilWaiting(t, at, "claude")
	post(t, space, "Thank you.", "claude")
	if last := claude.done(t); !strings.Contains(last, "My work is done.") {
		t.Errorf("Claude Code ends with\n%s", last)
	}
	if lines := said(t, at); !slices.Contains(lines, "claude > operator: I am claude.") {
		t.Errorf("what was said: %q", lines)
	}

	// Step 5 takes all of it back.
	_, last, _ := strings.Cut(page, "## 5.")
	undo := regexp.MustCompile("(?s)```sh\nshoal (.*?)\n```").FindStringSubmatch(last)
	if undo == nil {
		t.Fatal("the page does not say how to take it back")
	}
	m.runs("shoal", strings.Fields(undo[1])...)
	if list := m.runs("claude", "mcp", "list"); strings.Contains(list, "shoal") {
		t.Errorf("afterwards Claude Code sees\n%s", list)
	}
}

// operatorsDirectory is a data directory that holds the operator's key and nothing else.
func operatorsDirectory(t *testing.T, data string) string {
	t.Helper()
	dir := t.TempDir()
	key, err := os.ReadFile(filepath.Join(data, app.OperatorKeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, app.OperatorKeyFile), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// setupPage reads the page from a server, without a key.
func setupPage(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/docs/setup.md", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", res.Status, err)
	}
	return string(text)
}
