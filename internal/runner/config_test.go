package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/internal/harness"
)

// What is not set has a careful default, and a relative directory is one beside the file.
func TestConfigIsCompleted(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := ParseConfig([]byte("agents:\n  scout: {kind: codex, dir: app}\n  sweep:\n    kind: acp\n    dir: "+dir+
		"\n    command: [sweep, --acp]\n    mode: edit\n    environ: [GITHUB_TOKEN]\n    respondTo: [members]\nidle: 90s\nmaxProcessMemory: 1.5GiB\nmaxMemory: 3GiB\n"), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Agents: map[shoal.EntityID]AgentConfig{
			"scout": {Kind: "codex", Dir: filepath.Join(dir, "app"), Mode: harness.ModeAsk, RespondTo: []string{"owner"}, Approve: []string{"owner"}, Budget: Budget{MaxTurnsPerHour: 30}},
			"sweep": {Kind: "acp", Dir: dir, Command: []string{"sweep", "--acp"}, Mode: harness.ModeEdit, Environ: []string{"GITHUB_TOKEN"}, RespondTo: []string{"members"}, Approve: []string{"owner"}, Budget: Budget{MaxTurnsPerHour: 30}},
		},
		MaxProcesses: DefaultMaxProcesses, Idle: 90 * time.Second, MaxProcessMemory: 3 << 29, MaxMemory: 3 << 30,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the configuration (-want +got):\n%s", diff)
	}
}

// What cannot be right is refused, with the place and what is accepted.
func TestConfigIsChecked(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"", "agents: name at least one"},
		{"agents: {scout: {kind: emacs, dir: .}}", `agents.scout.kind: "emacs" is not one of acp, claude-code, codex, gemini-cli, opencode`},
		{"agents: {scout: {kind: acp, dir: .}}", "agents.scout.command: the kind acp needs the command"},
		{"agents: {scout: {kind: codex}}", "agents.scout.dir: name the directory"},
		{"agents: {scout: {kind: codex, dir: nowhere}}", "nowhere is not a directory"},
		{"agents: {scout: {kind: codex, dir: ., mode: bypass}}", `agents.scout.mode: "bypass" is not one of read, ask, edit`},
		{"agents: {scout: {kind: codex, dir: ., environ: ['*']}}", `agents.scout.environ: "*" is not the name of a variable`},
		{"agents: {scout: {kind: codex, dir: ., environ: ['A=1']}}", `"A=1" is not the name of a variable`},
		{"agents: {scout: {kind: codex, dir: ., respondTo: ['not an id']}}", `agents.scout.respondTo: "not an id" is not owner, members or an id`},
		{"agents: {scout: {kind: codex, dir: ., approve: ['a b']}}", `agents.scout.approve: "a b" is not owner, members or an id`},
		{"agents: {'not an id': {kind: codex, dir: .}}", `agents: "not an id" is not an id`},
		{"agents: {scout: {kind: codex, dir: ., budget: {maxCostPerDay: -1}}}", "agents.scout.budget: must not be negative"},
		{"agents: {scout: {kind: codex, dir: ., allowBypass: true}}", "allowBypass"},
		{"agents: {scout: {kind: codex, dir: .}}\nmaxProcesses: 99", "maxProcesses: must be from 1 to 32"},
		{"agents: {scout: {kind: codex, dir: .}}\nidle: 1ms", "idle: must be at least 1s"},
		{"agents: {scout: {kind: codex, dir: .}}\nmaxMemory: lots", `"lots" is not an amount of memory such as 512MiB or 2GiB`},
		{"agents: {scout: {kind: codex, dir: .}}\nmaxMemory: 4096", `"4096" is not an amount of memory such as 512MiB or 2GiB`},
		{"agents: {scout: {kind: codex, dir: .}}\nmaxProcessMemory: 1KiB", "maxProcessMemory: must be at least 1MiB"},
		{"agents: {scout: {kind: codex, dir: .}}\nmaxProcessMemory: 2GiB\nmaxMemory: 1GiB", "maxMemory: must be at least 2GiB"},
		{"agents: [scout]", "cannot"},
	} {
		_, err := ParseConfig([]byte(c.text), dir)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n\t%v\nwant\n\t%s", c.text, err, c.want)
		}
	}
}

// An agent works for its owner alone unless its configuration names others.
func TestResponds(t *testing.T) {
	ada := shoal.EntityID("ada")
	for _, c := range []struct {
		to     []string
		sender shoal.EntityID
		owner  *shoal.EntityID
		want   bool
	}{
		{[]string{"owner"}, "ada", &ada, true},
		{[]string{"owner"}, "ben", &ada, false},
		{[]string{"owner"}, "ada", nil, false},
		{[]string{"owner", "ben"}, "ben", &ada, true},
		{[]string{"ben"}, "ada", &ada, false},
		{[]string{"members"}, "anyone", nil, true},
	} {
		a := AgentConfig{RespondTo: c.to, Approve: c.to}
		if responds, approves := a.Responds(c.sender, c.owner), a.Approves(c.sender, c.owner); responds != c.want || approves != c.want {
			t.Errorf("%v and %s: responds %v, approves %v", c.to, c.sender, responds, approves)
		}
	}
}
