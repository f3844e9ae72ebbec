package coders

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/client"
)

// machine is the home directory of a coding agent and its project.
type machine struct {
	home, project string
	program, env  []string
}

// newMachine writes the settings with which the coding agents use the models at a URL, and nothing
// of the machine's own.
func (b *Bench) newMachine(c coder, models string) (*machine, error) {
	m := &machine{home: b.NewPath("home"), project: b.NewPath("project")}
	path, err := filepath.Abs(filepath.Join(clients, "node_modules", filepath.FromSlash(c.program[0])))
	if err != nil {
		return nil, err
	}
	m.program = append([]string{path}, c.program[1:]...)
	m.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "XDG_STATE_HOME=" + m.home,
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1",
		"ANTHROPIC_BASE_URL=" + models, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		"MAX_THINKING_TOKENS=0", "ENABLE_TOOL_SEARCH=false", "AIMOCK_KEY=none",
		"GOOGLE_GEMINI_BASE_URL=" + models, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true",
		"OPENCODE_DISABLE_MODELS_FETCH=1",
	}
	err = os.MkdirAll(m.project, 0o755)
	for name, text := range map[string]string{
		".claude.json":                   `{"hasCompletedOnboarding": true}`,
		".codex/config.toml":             fmt.Sprintf("model = \"gpt-5\"\nmodel_provider = \"aimock\"\n[model_providers.aimock]\nname = \"aimock\"\nbase_url = %q\nenv_key = \"AIMOCK_KEY\"\nwire_api = \"responses\"\n", models+"/v1"),
		".gemini/settings.json":          `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}`,
		".config/opencode/opencode.json": fmt.Sprintf(`{"autoupdate": false, "provider": {"aimock": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": %q, "apiKey": "none"}, "models": {"gpt-5": {}}}}}`, models+"/v1"),
	} {
		file := filepath.Join(m.home, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600))
	}
	return m, err
}

// configuration writes that of a runner with the coding agent, and returns its path.
func (m *machine) configuration(c coder) (string, error) {
	text, err := json.Marshal(map[string]any{"agents": map[string]any{string(agent): map[string]any{ // JSON is YAML, too
		"kind": c.kind, "dir": m.project, "model": c.model, "command": m.program,
		"environ": []string{"ANTHROPIC_*", "AIMOCK_KEY", "HTTP_PROXY", "NO_PROXY"}, "budget": map[string]any{"maxTurnsPerHour": 10_000},
	}}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(m.home, "runner.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// woken is a coding agent that mentions wake.
type woken struct {
	server *process.Process
	runner *exec.Cmd
	at     *client.Session // of the operator
	spaces int
}

const agent = shoal.EntityID("scout")

// wake starts a server, and a runner for the coding agent.
func (b *Bench) wake(ctx context.Context, c coder, m *machine) (w *woken, err error) {
	data := b.NewPath("shoal")
	w = &woken{}
	if w.server, err = b.StartShoal(ctx, data); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	_, key, err := driver.AdminClient(w.server)
	if err != nil {
		return w, err
	}
	admin, err := client.New(client.Options{URL: w.server.URL(), Key: key, As: shoal.Operator})
	if err != nil {
		return w, err
	}
	w.at = admin.Session(shoal.DefaultSession)
	file, err := m.configuration(c)
	if err != nil {
		return w, err
	}
	w.runner = exec.Command(b.Shoal, "runner", "--file", file)
	w.runner.Env = append(m.env, "SHOAL_URL="+w.server.URL(), "SHOAL_DATA="+data)
	w.runner.WaitDelay = within
	return w, w.await()
}

// await starts the runner and returns when it serves the agent.
func (w *woken) await() error {
	out, in := io.Pipe()
	w.runner.Stdout, w.runner.Stderr = in, in
	if err := w.runner.Start(); err != nil {
		w.runner = nil
		return err
	}
	var printed strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		printed.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), string(agent)+" works in") {
			go func() { _, _ = io.Copy(io.Discard, out) }() // until the runner ends
			return nil
		}
	}
	return fmt.Errorf("the runner ended:\n%s", &printed)
}

func (w *woken) close() {
	if w.runner != nil {
		_ = w.runner.Process.Signal(syscall.SIGINT) // it may have ended
		_ = w.runner.Wait()
	}
	w.server.Stop()
}

// round measures a round in a space of its own, for which the runner starts a process.
func (w *woken) round(ctx context.Context, into *report.Row) error {
	w.spaces++
	s, err := w.at.CreateSpace(ctx, shoal.NewSpace{Name: fmt.Sprint("Round ", w.spaces), Members: []shoal.EntityID{agent}})
	if err != nil {
		return err
	}
	var took []float64
	for range 1 + warmTurns {
		one, err := w.mention(ctx, s.ID)
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	into.Add("cold µs", took[0])
	into.AddLatencies(took[1:])
	return nil
}

// mention posts a mention and returns the time until the first word of the answer, in µs, when the
// run has ended.
func (w *woken) mention(ctx context.Context, space shoal.SpaceID) (took float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var began time.Time
	var run shoal.RunID
	for e, err := range w.at.Follow(ctx, client.FollowOptions{Space: space}) {
		if err != nil {
			return 0, err
		}
		var head shoal.EventHead
		if err := json.Unmarshal(e.Data, &head); err != nil {
			return 0, err
		}
		switch {
		case began.IsZero():
			began = time.Now()
			posted, err := w.at.Post(ctx, space, shoal.Draft{Parts: []shoal.Part{shoal.Text(prompt)}, Mentions: []shoal.EntityID{agent}})
			if err != nil || len(posted.Runs) != 1 {
				return 0, fmt.Errorf("the mention starts %+v: %w", posted.Runs, err)
			}
			run = posted.Runs[0].RunID
		case head.RunID == nil || *head.RunID != run:
		case e.Type == shoal.EventTextDelta && took == 0:
			took = float64(time.Since(began)) / 1e3
		case e.Type == shoal.EventRunCompleted && took > 0:
			return took, nil
		case e.Type == shoal.EventRunCompleted, e.Type == shoal.EventRunFailed, e.Type == shoal.EventRunCanceled:
			return 0, fmt.Errorf("the run ended without a word: %s", e.Data)
		}
	}
	return 0, context.Cause(ctx)
}
