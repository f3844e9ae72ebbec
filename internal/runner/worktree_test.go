package runner

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoal-dev/shoal/internal/harness"
)

// gitIn runs git for a test.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// An agent works in a working tree of its own for each conversation, which is kept whatever is in it,
// and a conversation goes on where it was.
func TestWorktrees(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(home, "shop")
	if err := os.MkdirAll(filepath.Join(repo, "api"), 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn(t, home, "init", "-q", repo)
	if err := os.WriteFile(filepath.Join(repo, "api", "main.go"), []byte("package main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &script{turns: [][]harness.Event{{started, well}}}
	var dirs []string
	run := func(conversation string) error {
		t.Helper()
		r, err := New(Options{State: filepath.Join(home, "conversations.json"), MaxProcesses: 4, Idle: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Stop()
		start := func(ctx context.Context, spec harness.Spec) (harness.Session, error) {
			dirs = append(dirs, spec.Dir)
			return s.start(ctx, spec)
		}
		r.kinds = map[string]kind{"scout": {title: "Scout", start: start}}
		a := Agent{ID: "scout", AgentConfig: AgentConfig{Kind: "scout", Dir: filepath.Join(repo, "api"), Worktree: true}}
		return r.Execute(t.Context(), a, Job{Run: "run_1", Conversation: conversation, Prompt: "Do it: please"}, &recorded{})
	}
	if err := run("lab"); err == nil || !strings.Contains(err.Error(), "not in a git repository with a commit") {
		t.Errorf("without a commit: %v", err)
	}
	gitIn(t, repo, "add", ".")
	gitIn(t, repo, "commit", "-q", "-m", "begin")

	for _, conversation := range []string{"lab", "Ops.1", "run:run_7"} {
		if err := run(conversation); err != nil {
			t.Fatal(err)
		}
	}
	lab := filepath.Join(home, ".shoal", "shop-scout-lab")
	if len(dirs) != 3 || dirs[0] != filepath.Join(lab, "api") || dirs[1] == dirs[0] || dirs[2] != filepath.Join(home, ".shoal", "shop-scout-runs", "api") {
		t.Fatalf("the agent works in %q", dirs)
	}
	if got := gitIn(t, lab, "branch", "--show-current"); got != "shoal/scout/lab" {
		t.Errorf("its branch is %s", got)
	}

	note := filepath.Join(lab, "api", "note.txt")
	if err := os.WriteFile(note, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("lab"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(note); err != nil || dirs[3] != dirs[0] || s.log[len(s.log)-2] != `start "ref"` {
		t.Errorf("the next time it works in %s, after %q: %v", dirs[3], s.log, err)
	}

	gitIn(t, lab, "add", ".")
	gitIn(t, lab, "commit", "-q", "-m", "a note")
	if err := os.RemoveAll(lab); err != nil {
		t.Fatal(err)
	}
	if err := run("lab"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(note); err != nil {
		t.Errorf("a tree that somebody has deleted is not that of its branch: %v", err)
	}

	if err := os.MkdirAll(filepath.Join(home, ".shoal", "shop-scout-taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run("taken"); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("with a directory that is something else: %v", err)
	}
}
