// Package coders measures how fast a mention wakes coding agents of others: the real command lines
// from npm, whose models aimock plays.
package coders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/shoal-dev/shoal/bench/driver"
	"github.com/shoal-dev/shoal/bench/process"
	"github.com/shoal-dev/shoal/bench/report"
	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/acp"
	"github.com/shoal-dev/shoal/internal/harness/claude"
	"github.com/shoal-dev/shoal/internal/harness/codex"
	"github.com/shoal-dev/shoal/internal/harness/opencode"
	"github.com/shoal-dev/shoal/internal/shoaltest/program"
)

// Bench measures coding agents.
type Bench struct{ *driver.Run }

// coder is a coding agent that is installed in test/clients.
type coder struct {
	name, kind, model string
	program           []string // the first word is relative to node_modules
	start             func(context.Context, harness.Spec) (harness.Session, error)
	warmMs            float64 // limit of the time from the mention to the first word
}

var coders = []coder{
	{
		name: "Claude Code", kind: "claude-code", model: "claude-opus-4-6", start: claude.Start, warmMs: 120,
		program: []string{"@anthropic-ai/claude-code-linux-x64/claude"},
	},
	{name: "Codex", kind: "codex", start: codex.Start, warmMs: 250, program: []string{"@openai/codex/bin/codex.js"}},
	{
		name: "Gemini CLI (ACP)", kind: "gemini-cli", start: acp.Start, warmMs: 400,
		program: []string{"@google/gemini-cli/bundle/gemini.js", "--acp", "-m", "gemini-2.5-pro"},
	},
	{
		name: "OpenCode (ACP)", kind: "opencode", model: "aimock/gpt-5", start: opencode.Start, warmMs: 400,
		program: []string{"opencode-linux-x64/bin/opencode", "acp"},
	},
}

const (
	clients   = "test/clients"
	warmTurns = 10
	coldMs    = 4000
	// within is how long a word may take.
	within = time.Minute
	prompt = "order: say Good morning to everybody in this space."
)

// Measure measures the time until the first word of an answer: of a coding agent that this command
// drives itself, and of one that a mention wakes, through the stream of its space.
func (b *Bench) Measure(ctx context.Context) error {
	var models struct{ URL string }
	if _, err := os.Stat(filepath.Join(clients, "node_modules")); err != nil {
		b.Log.Print(process.MissingError("the coding agents are not installed, so their rows are not measured; `npm --prefix test/clients ci` installs them"))
		return nil
	}
	stop, err := program.Serve(filepath.Join(clients, "harness-model.mjs"), &models)
	if err != nil {
		return err
	}
	defer func() { _ = stop() }() // it only ends
	for _, c := range coders {
		if !b.Wants(c.name) {
			continue
		}
		if err := b.table(ctx, c, models.URL); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// table measures one coding agent.
func (b *Bench) table(ctx context.Context, c coder, models string) error {
	alone := "driven alone"
	t := b.Report.Add(&report.Table{
		Title: "Mention to first word, " + c.name,
		Note: "The time until the first word of an answer: after the prompt, for a coding agent that the benchmark drives itself with the same driver, and after the post that mentions it, on the stream of the space. " +
			"Warm, its process runs; cold, the prompt starts it. Its model, played by aimock, answers at once.",
		Ratios: []report.Ratio{{Metric: report.P50, Base: alone, Heading: "p50 ÷ alone"}},
		Shown:  []string{report.P50, report.P99, "cold µs"},
	})
	m, err := b.newMachine(c, models)
	if err != nil {
		return err
	}
	woken, err := b.wake(ctx, c, m)
	if err != nil {
		return err
	}
	defer woken.close()
	for range b.Rounds {
		if err := m.alone(ctx, c, t.Row(alone)); err != nil {
			return fmt.Errorf("%s: %w", alone, err)
		}
		if err := woken.round(ctx, t.Row("Shoal")); err != nil {
			return err
		}
	}
	shoal := t.Row("Shoal")
	b.Report.AtMost(c.warmMs*1e3, "µs", shoal.Value(report.P50), t.Title+", warm, p50")
	b.Report.AtMost(coldMs*1e3, "µs", shoal.Value("cold µs"), t.Title+", cold")
	return nil
}

// alone measures a round without Shoal.
func (m *machine) alone(ctx context.Context, c coder, into *report.Row) (err error) {
	began := time.Now()
	s, err := c.start(ctx, harness.Spec{Command: m.program, Dir: m.project, Env: m.env, Mode: harness.ModeAsk, Model: c.model})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	cold, err := firstWord(ctx, s, began)
	if err != nil {
		return err
	}
	var took []float64
	for range warmTurns {
		one, err := firstWord(ctx, s, time.Now())
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	into.AddLatencies(took)
	into.Add("cold µs", cold)
	return nil
}

// firstWord runs a turn and returns the time from a moment to its first word, in µs.
func firstWord(ctx context.Context, s harness.Session, began time.Time) (took float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for e, err := range s.Turn(ctx, prompt) {
		if err != nil {
			return 0, err
		}
		if _, ok := e.(harness.Text); ok && took == 0 {
			took = float64(time.Since(began)) / 1e3
		}
	}
	if took == 0 {
		return 0, errors.New("the turn has no text")
	}
	return took, nil
}
