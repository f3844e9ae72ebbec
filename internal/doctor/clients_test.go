package doctor_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoal-dev/shoal/internal/connect"
	"github.com/shoal-dev/shoal/internal/doctor"
)

// Each client of this machine with an entry for the server either has a sufficient tool
// timeout or gets a finding.
func TestClientsThatGiveUpTooSoon(t *testing.T) {
	w := newWorld(t)
	home := t.TempDir()
	w.o.Machine = &connect.Machine{
		Home: home, Config: filepath.Join(home, ".config"), Dir: filepath.Join(home, "project"), Getenv: func(string) string { return "" },
		Find: func(program string) (string, error) {
			if program == "cursor" {
				return "/bin/cursor", nil
			}
			return "", fs.ErrNotExist
		},
	}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := w.o.URL + "/mcp"
	write(".claude.json", `{"mcpServers":{"shoal":{"type":"http","url":"`+at+`","timeout":60000,"headers":{"Authorization":"Bearer `+w.o.Key+`"}}}}`)
	write(".codex/config.toml", "[mcp_servers.shoal]\nurl = '"+at+"'\ntool_timeout_sec = 900\n")
	write("project/.gemini/settings.json", `{"mcpServers":{"shoal":{"httpUrl":"`+at+`"}}}`)
	write(".gemini/settings.json", `{"mcpServers":{"shoal":{"httpUrl":"http://elsewhere:1/mcp"}}}`)
	found := w.expect("client claude-code", doctor.Warn, "gives a call up after 1m0s")
	for check, want := range map[string]struct {
		status doctor.Status
		says   string
	}{
		"client codex":                {doctor.OK, "a call may take 15m0s"},
		"client gemini-cli (project)": {doctor.Warn, "does not say how long"},
		"clients":                     {doctor.OK, "without an entry that leads here: cursor"},
	} {
		if f := found[check]; f.Status != want.status || !strings.Contains(f.Detail, want.says) {
			t.Errorf("%s: %+v", check, f)
		}
	}
	if _, reported := found["client gemini-cli"]; reported {
		t.Error("an entry for another server has a finding, want none")
	}
	write(".codex/config.toml", "[mcp_servers.shoal\n")
	w.expect("client codex", doctor.Warn, "is not TOML")
}
