package runner

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/cli"
)

// installed returns a shell and the service of a command in an empty home.
func installed(t *testing.T, c *Command) (*cli.Shell, service) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("PATH", os.Getenv("PATH"))
	sh := &cli.Shell{Output: &cli.Output{Out: io.Discard, Notes: io.Discard}}
	sh.Globals = &cli.Globals{URL: "https://shoal.example", Session: "default", Key: "sk_secret"}
	s, err := c.newService(sh)
	if err != nil {
		t.Fatal(err)
	}
	return sh, s
}

var scout = Command{
	Kind: "acp", Agent: "scout", Dir: `/srv/my "shop" 100%`, Mode: "ask", Idle: time.Minute, MaxProcesses: 2, MaxMemory: 3 << 29, Worktree: true,
	Program: []string{"agent", "--acp", "$HOME"}, RespondTo: []string{"owner", "ben"}, Approve: []string{"owner"},
}

// The service runs the command that was given, and holds no key. systemd reads it without a complaint.
func TestUnit(t *testing.T) {
	sh, s := installed(t, &scout)
	if err := s.install(sh, "linux"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.home, ".config", "systemd", "user", "shoal-runner-scout.service")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"runner" "--url" "https://shoal.example" "--session" "default" "acp" "--agent" "scout"`, `"--dir" "/srv/my \"shop\" 100%%"`,
		`"--worktree" "--program=agent" "--program=--acp" "--program=$$HOME" "--respond-to=owner" "--respond-to=ben"`, "KillMode=mixed\n", `Environment="PATH=`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the unit lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Errorf("the unit holds the key:\n%s", text)
	}
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--user", path).CombinedOutput()
		if strings.Contains(string(out), "shoal-runner-scout") { // other complaints are about the machine
			t.Errorf("systemd: %v\n%s", err, out)
		}
	}
	if err := s.uninstall(sh, "linux"); err != nil {
		t.Error(err)
	}
	if err := s.uninstall(sh, "linux"); !errors.Is(err, shoal.NotFound) {
		t.Errorf("a second removal: %v", err)
	}
}

// The arguments of the service are those of the command.
func TestArguments(t *testing.T) {
	var again Command
	parser, err := kong.New(&again)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(scout.arguments()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scout, again); diff != "" {
		t.Errorf("the service runs another command (-want +got):\n%s", diff)
	}
}

// The property list is XML with the command, word for word.
func TestPlist(t *testing.T) {
	sh, s := installed(t, &scout)
	if err := s.install(sh, "darwin"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.home, "Library", "LaunchAgents", "dev.shoal.runner-scout.plist"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Dict struct {
			Words []string `xml:"array>string"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(list.Dict.Words, s.command) || strings.Contains(string(text), "secret") {
		t.Errorf("the command is %q, want %q:\n%s", list.Dict.Words, s.command, text)
	}
}

// Elsewhere there is no such service, and all agents of the file are one.
func TestOtherServices(t *testing.T) {
	sh, s := installed(t, &Command{File: "/etc/runner.yaml"})
	if err := s.install(sh, "plan9"); err == nil {
		t.Error("plan9 has no service that could be installed")
	}
	if s.name != "shoal-runner" || !slices.Equal(s.command[len(s.command)-2:], []string{"--file", "/etc/runner.yaml"}) {
		t.Errorf("the service is %+v", s)
	}
}
