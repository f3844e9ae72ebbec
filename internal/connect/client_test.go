package connect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
)

// The entries, letter by letter: clients are strict about the names of fields.
// With a key in the file, and without.
func TestEntries(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"claude-code": {
			`"type": "http", "url": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer shoal_secret"}, "timeout": 660000`,
			`"type": "http", "url": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer ${SHOAL_SCOUT_KEY}"}, "timeout": 660000`,
		},
		"codex": {
			"url = \"http://127.0.0.1:7462/mcp\"\nhttp_headers = { Authorization = \"Bearer shoal_secret\" }\ntool_timeout_sec = 660",
			"url = \"http://127.0.0.1:7462/mcp\"\nbearer_token_env_var = \"SHOAL_SCOUT_KEY\"\ntool_timeout_sec = 660",
		},
		"cursor": {
			`"url": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer shoal_secret"}`,
			`"url": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer ${env:SHOAL_SCOUT_KEY}"}`,
		},
		"vscode": {
			`"type": "http", "url": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer ${input:shoal-key}"}`,
			`"type": "http", "url": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer ${input:shoal-key}"}`,
		},
		"gemini-cli": {
			`"httpUrl": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer shoal_secret"}, "timeout": 660000`,
			`"httpUrl": "http://127.0.0.1:7462/mcp", "headers": {"Authorization": "Bearer ${SHOAL_SCOUT_KEY}"}, "timeout": 660000`,
		},
	} {
		c := clientOf(t, id)
		for i, key := range []string{"shoal_secret", ""} {
			text, err := c.Text("shoal", Target{URL: "http://127.0.0.1:7462/", Agent: "scout", Key: key})
			if err != nil {
				t.Fatal(err)
			}
			got := text
			if c.format == jsonFormat {
				_, got, _ = strings.Cut(compact(text), `"shoal": {`)
				got, _, _ = strings.Cut(got, "}}")
				got = strings.TrimSuffix(got, "}") + map[bool]string{true: "}"}[strings.HasSuffix(want[i], "}")]
			}
			if !strings.Contains(got, want[i]) {
				t.Errorf("%s: the entry is\n%s\nwant\n%s", id, text, want[i])
			}
		}
	}
}

// A client is found by every name that people call it.
func TestClientOf(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{
		"claude": "claude-code", "Claude-Code": "claude-code", "codex": "codex", "cursor": "cursor", "code": "vscode", "vscode": "vscode", "gemini": "gemini-cli",
	} {
		if c, err := ClientOf(name); err != nil || c.ID != id {
			t.Errorf("%s is %v, %v", name, c, err)
		}
	}
	if _, err := ClientOf("emacs"); !errors.Is(err, shoal.InvalidArgument) || !strings.Contains(err.Error(), "gemini-cli") {
		t.Errorf("emacs: %v", err)
	}
}

// Each client has its own place, and its own variable that moves it.
func TestFiles(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	m := Machine{
		Home: "/u", Config: "/u/.config", Dir: "/p",
		Getenv: func(name string) string { return env[name] },
		Find:   func(string) (string, error) { return "", os.ErrNotExist },
	}
	places := func() (all []string) {
		for _, c := range Clients {
			all = append(all, filepath.ToSlash(m.File(c, User)), filepath.ToSlash(m.File(c, Project)))
		}
		return all
	}
	want := []string{
		"/u/.claude.json", "/p/.mcp.json",
		"/u/.codex/config.toml", "/p/.codex/config.toml",
		"/u/.cursor/mcp.json", "/p/.cursor/mcp.json",
		"/u/.config/Code/User/mcp.json", "/p/.vscode/mcp.json",
		"/u/.gemini/settings.json", "/p/.gemini/settings.json",
	}
	if diff := cmp.Diff(want, places()); diff != "" {
		t.Error(diff)
	}
	env["CLAUDE_CONFIG_DIR"], env["CODEX_HOME"], env["GEMINI_CLI_HOME"] = "/c", "/x", "/g"
	want[0], want[2], want[8] = "/c/.claude.json", "/x/config.toml", "/g/.gemini/settings.json"
	if diff := cmp.Diff(want, places()); diff != "" {
		t.Error(diff)
	}
	if dir := filepath.ToSlash(m.Records().Dir); dir != "/u/.local/state/shoal/connect" {
		t.Errorf("records are in %s", dir)
	}
	env["XDG_STATE_HOME"] = "/s"
	if dir := filepath.ToSlash(m.Records().Dir); dir != "/s/shoal/connect" {
		t.Errorf("records are in %s", dir)
	}
}

// A client is there if its program is, or what it keeps.
func TestInstalled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	found := map[string]string{}
	m := Machine{
		Home: home, Config: filepath.Join(home, ".config"), Getenv: func(string) string { return "" },
		Find: func(program string) (string, error) {
			if at, is := found[program]; is {
				return at, nil
			}
			return "", os.ErrNotExist
		},
	}
	codex, claude := clientOf(t, "codex"), clientOf(t, "claude")
	if _, err := m.Installed(codex); !errors.Is(err, shoal.NotFound) || !strings.Contains(err.Error(), "npm install -g @openai/codex") {
		t.Errorf("nothing is there: %v", err)
	}
	found["codex"] = "/bin/codex"
	if at, err := m.Installed(codex); at != "/bin/codex" || err != nil {
		t.Errorf("its program is there: %s, %v", at, err)
	}
	if _, err := m.Installed(claude); !errors.Is(err, shoal.NotFound) {
		t.Errorf("it is found only because the home directory exists: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if at, err := m.Installed(claude); at != filepath.Join(home, ".claude.json") || err != nil {
		t.Errorf("its file is there: %s, %v", at, err)
	}
}

func TestVariable(t *testing.T) {
	t.Parallel()
	for agent, want := range map[shoal.EntityID]string{"claude": "SHOAL_CLAUDE_KEY", "my.agent-2": "SHOAL_MY_AGENT_2_KEY"} {
		if got := Variable(agent); got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
}

// Only a key is taken for one, wherever it is in the entry.
func TestEntryIsRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		client, text string
		want         Entry
		found        bool
	}{
		{"cursor", `{}`, Entry{}, false},
		{"cursor", `{"mcpServers": {"shoal": {"command": "x"}}}`, Entry{}, true},
		{"cursor", `{"mcpServers": {"shoal": {"url": "http:\/\/h/mcp", "headers": {"Authorization": "Bearer k"}}}}`, Entry{URL: "http://h/mcp", Key: "k"}, true},
		{"cursor", `{"mcpServers": {"shoal": {"url": "u", "headers": {"Authorization": "Bearer ${env:K}"}}}}`, Entry{URL: "u"}, true},
		{"gemini", `{"mcpServers": {"shoal": {"httpUrl": "u", "headers": {"Authorization": "Bearer $K"}}}}`, Entry{URL: "u"}, true},
		{"codex", "[mcp_servers.shoal]\nurl = 'u'\nhttp_headers.Authorization = 'Bearer k'\n", Entry{URL: "u", Key: "k"}, true},
		{"codex", "[mcp_servers.shoal]\nurl = 'u'\nbearer_token_env_var = 'K'\n", Entry{URL: "u"}, true},
	} {
		c, err := config(t, test.client, test.text)
		if err != nil {
			t.Fatal(err)
		}
		if got, found, err := c.Entry("shoal"); got != test.want || found != test.found || err != nil {
			t.Errorf("%s: %+v, %v, %v", test.text, got, found, err)
		}
	}
	if e := (Entry{URL: "http://h/mcp/"}); !e.Leads("http://h") || !e.Leads("http://h/") || e.Leads("http://h2") {
		t.Error("Leads mistakes the server")
	}
}
