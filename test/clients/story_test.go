package clients_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
)

// What the person had in the files before Shoal came.
const (
	codexSettings = `# My Codex.
model = "gpt-5"          # played by aimock
model_provider = "aimock"

[model_providers.aimock]
name     = "aimock"
base_url = "OPENAI"
env_key  = "AIMOCK_KEY"
wire_api = "responses"

# [mcp_servers.shoal] would go here
[mcp_servers.other]
command = "false"
enabled = false
`
	claudeSettings = `{
    "hasCompletedOnboarding": true,
    "mcpServers": {}
}
`
	geminiSettings = `{
  // My Gemini.
  "security": {"auth": {"selectedType": "gemini-api-key"}}, // as in the environment
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false}
}
`
	openCodeSettings = `{
  "autoupdate": false,
  "provider": {
    "aimock": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "OPENAI", "apiKey": "none"},
      "models": {"gpt-5": {}}
    }
  }
}
`
)

// Three agents of three vendors are connected with one command each, meet in a
// space and work together; another command, and they never were there.
func TestClientsWorkTogether(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server, key := apptest.Run(t, app.Config{Data: data})
	admin := clientOf(t, client.Options{URL: server.URL(), Key: key})
	at := admin.Session(shoal.DefaultSession)

	m := newMachine(t, server.URL(), data)
	codexBefore := strings.ReplaceAll(codexSettings, "OPENAI", model.OpenAI)
	m.keeps(".codex/config.toml", codexBefore)
	m.keeps(".claude.json", claudeSettings)
	m.keeps(".gemini/settings.json", geminiSettings)

	// What was written is what the clients themselves read.
	m.runs("shoal", "connect", "claude-code", "--write", "--agent", "claude", "--yes")
	m.runs("shoal", "connect", "codex", "--write", "--agent", "codex", "--yes")
	m.runs("shoal", "connect", "gemini-cli", "--write", "--agent", "gemini", "--yes")
	if list := m.runs("claude", "mcp", "list"); !strings.Contains(list, "shoal: "+server.URL()+"/mcp (HTTP) - ✔ Connected") {
		t.Errorf("Claude Code sees these servers:\n%s", list)
	}
	if list := m.runs("codex", "mcp", "list"); !strings.Contains(list, server.URL()+"/mcp") {
		t.Errorf("Codex sees these servers:\n%s", list)
	}

	// All wait; nobody has said anything yet.
	claude := m.works("claude", "-p", "Work on shoal.", "--model", "claude-opus-4-6", "--allowedTools", "mcp__shoal")
	codex := m.works("codex", "exec", "--skip-git-repo-check", "Work on shoal.")
	gemini := m.works("gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", "Work on shoal.")
	untilWaiting(t, at, "claude", "codex", "gemini")

	// The first is mentioned and asks the second, which asks the third.
	space := clientOf(t, client.Options{URL: server.URL(), Key: key, As: shoal.Operator}).Session(shoal.DefaultSession)
	post(t, space, "Claude, ask codex what 6 times 7 is.", "claude")
	heard, err := space.Wait(t.Context(), shoal.Operator, client.WaitRequest{Timeout: patience})
	if err != nil || heard.TimedOut {
		t.Fatalf("the operator heard nothing: %v", err)
	}
	untilWaiting(t, at, "claude", "codex", "gemini")
	post(t, space, "Thank you all.", "claude", "codex", "gemini")
	for _, c := range []*working{claude, codex, gemini} {
		if said := c.done(t); !strings.Contains(said, "My work is done.") {
			t.Errorf("%s ended with\n%s", c.name, said)
		}
	}
	if diff := cmp.Diff([]string{
		"operator > claude: Claude, ask codex what 6 times 7 is.",
		"claude > codex: What is 6 times 7?",
		"codex > gemini: Is 6 times 7 really 42?",
		"gemini > codex: Yes, it is.",
		"codex > claude: 42",
		"claude > operator: Codex says that it is 42.",
		"operator > claude,codex,gemini: Thank you all.",
	}, said(t, at)); diff != "" {
		t.Errorf("what was said (-want +got):\n%s", diff)
	}

	// And back.
	claudeWith := m.file(".claude.json")
	m.runs("shoal", "connect", "claude", "--undo", "--yes")
	m.runs("shoal", "connect", "codex", "--undo", "--yes")
	m.runs("shoal", "connect", "gemini", "--undo", "--yes")
	if diff := cmp.Diff(codexBefore, m.file(".codex/config.toml")); diff != "" {
		t.Errorf("Codex's file is not what it was (-was +is):\n%s", diff)
	}
	if diff := cmp.Diff(geminiSettings, m.file(".gemini/settings.json")); diff != "" {
		t.Errorf("Gemini CLI's file is not what it was (-was +is):\n%s", diff)
	}
	// Claude Code writes its own file all the time: the entry alone is to go.
	want := decoded(t, claudeWith)
	delete(want["mcpServers"].(map[string]any), "shoal")
	if diff := cmp.Diff(want, decoded(t, m.file(".claude.json"))); diff != "" {
		t.Errorf("Claude Code's file lost more than the entry (-want +got):\n%s", diff)
	}
	for _, list := range []string{m.runs("claude", "mcp", "list"), m.runs("codex", "mcp", "list")} {
		if strings.Contains(list, "shoal") {
			t.Errorf("after --undo a client still sees\n%s", list)
		}
	}
	for key, err := range admin.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if key.EntityID != nil && *key.EntityID != shoal.Operator {
			t.Errorf("after --undo the key %s of %s is still valid", key.ID, *key.EntityID)
		}
	}
	records, err := filepath.Glob(filepath.Join(m.home, ".local", "state", "shoal", "connect", "*"))
	if err != nil || len(records) > 0 {
		t.Errorf("after --undo there are still the records %q (%v)", records, err)
	}
}

func clientOf(t *testing.T, options client.Options) *client.Client {
	t.Helper()
	c, err := client.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func post(t *testing.T, at *client.Session, text string, mentions ...shoal.EntityID) {
	t.Helper()
	if _, err := at.Post(t.Context(), app.Welcome, shoal.Draft{Parts: []shoal.Part{shoal.Text(text)}, Mentions: mentions}); err != nil {
		t.Fatal(err)
	}
}

// untilWaiting returns when all of the agents have an open wait.
func untilWaiting(t *testing.T, at *client.Session, ids ...shoal.EntityID) {
	t.Helper()
	for _, id := range ids {
		untilOneWaits(t, at, id)
	}
}

func untilOneWaits(t *testing.T, at *client.Session, id shoal.EntityID) {
	t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		switch who, err := at.Entity(t.Context(), id); {
		case err != nil && !errors.Is(err, shoal.NotFound):
			t.Fatal(err)
		case who.State == shoal.Waiting:
			return
		case time.Now().After(deadline):
			t.Fatalf("%s does not wait; it is %s", id, who.State)
		}
	}
}

// said returns the timeline of Welcome after the greeting as "sender > mentioned: text".
func said(t *testing.T, at *client.Session) []string {
	t.Helper()
	var lines []string
	for m, err := range at.Timeline(t.Context(), app.Welcome, 1) {
		if err != nil {
			t.Fatal(err)
		}
		whom := make([]string, len(m.Mentions))
		for i, id := range m.Mentions {
			whom[i] = string(id)
		}
		lines = append(lines, string(m.EntityID)+" > "+strings.Join(whom, ",")+": "+m.Text())
	}
	return lines
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return out
}
