package clients_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/client"
	"github.com/shoal-dev/shoal/internal/app"
	"github.com/shoal-dev/shoal/internal/apptest"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

var (
	shellBlock  = regexp.MustCompile("(?s)```sh\n(.*?)```")
	runnerBlock = regexp.MustCompile("(?s)```yaml file=runner.yaml\n(.*?)```")
)

// elsewhere are the commands of the page that the test does otherwise, with the reason.
var elsewhere = map[string]string{
	"shoal up":                "the test has a server",
	"shoal down":              "the same",
	"shoal tail review -n 20": "follows the space until it is stopped",
}

// before is what a person waits for, or sees, before they type a command: the agents need a moment.
var before = map[string]string{
	`shoal spaces create "Review" --id review -m author,reviewer --admin-agent author`: "until grep -q 'reviewer works' runner.out; do read -rt 0.2 <> <(:) || :; done",
	"shoal approvals":            "until shoal approvals -q | grep -q .; do read -rt 0.2 <> <(:) || :; done; if grep -s Hello, ~/src/greeter/greet.sh; then echo it was not approved; exit 1; fi",
	"cat ~/src/greeter/greet.sh": "until grep -q Hello, ~/src/greeter/greet.sh; do read -rt 0.2 <> <(:) || :; done",
}

// The commands of docs/two-coding-agents.md, in their order, have the real Claude Code and Codex write and
// review a file, with two approvals.
func TestTheCommandsForTwoCodingAgents(t *testing.T) {
	t.Parallel()
	var models struct{ URL string }
	stop, err := program.Serve("review-model.mjs", &models)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	page, err := os.ReadFile("../../docs/two-coding-agents.md")
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	server, key := apptest.Run(t, app.Config{Data: data})
	m := newMachine(t, server.URL(), data)
	for i, pair := range m.env {
		m.env[i] = strings.ReplaceAll(pair, model.URL, models.URL)
	}
	m.env = append(m.env, "ANTHROPIC_MODEL=claude-opus-4-6", "XDG_STATE_HOME="+m.home)
	m.keeps(".claude.json", claudeSettings)
	m.keeps(".codex/config.toml", strings.ReplaceAll(codexSettings, "OPENAI", models.URL+"/v1"))
	config := runnerBlock.FindStringSubmatch(string(page))
	if config == nil {
		t.Fatal("the page has no runner.yaml")
	}
	// The models are those of the test.
	own := strings.ReplaceAll(config[1], "    mode:", "    environ: [\"ANTHROPIC_*\", AIMOCK_KEY, HTTP_PROXY, NO_PROXY]\n    mode:")
	if err := os.WriteFile(filepath.Join(m.project, "runner.yaml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	script := []string{"set -eu"}
	for _, block := range shellBlock.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			line = strings.TrimSpace(line)
			if _, skipped := elsewhere[line]; skipped {
				continue
			}
			if strings.HasPrefix(line, "shoal runner ") { // in a second terminal
				line += " >runner.out 2>&1 & runner=$!; trap 'kill -INT $runner; wait $runner || :; cat runner.out >&2' EXIT"
			}
			script = append(script, before[line], line)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", strings.Join(script, "\n"))
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // then it ends the runner
	command.Dir, command.Env, command.WaitDelay = m.project, m.env, time.Minute
	var printed, notes bytes.Buffer
	command.Stdout, command.Stderr = &printed, &notes
	err = command.Run()
	space := clientOf(t, client.Options{URL: server.URL(), Key: key, As: shoal.Operator}).Session(shoal.DefaultSession)
	var said []string
	for m, err := range space.Timeline(context.WithoutCancel(t.Context()), "review", 0) {
		if err != nil {
			t.Error(err)
			break
		}
		said = append(said, string(m.EntityID)+": "+m.Text())
	}
	out := printed.String()
	if err != nil {
		t.Fatalf("%v\n%s\n%s\nThe space says\n%s", err, out, &notes, strings.Join(said, "\n"))
	}
	for _, want := range []string{`printf 'echo \"Hello\"\\n' > greet.sh`, `printf 'echo \"Hello, $1\"\\n' > greet.sh`, "\necho \"Hello, $1\"\n", "\nHello, Ann\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands do not print %q:\n%s", want, out)
		}
	}
	for _, want := range []string{
		"author: Please review greet.sh.", "reviewer: greet.sh greets nobody by name: print the first argument, too.", "reviewer: I have reviewed greet.sh.",
	} {
		if !slices.Contains(said, want) {
			t.Errorf("the space does not show %q:\n%s", want, strings.Join(said, "\n"))
		}
	}
}
