package runner

import (
	"context"
	"maps"
	"slices"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/acp"
	"github.com/shoal-dev/shoal/internal/harness/claude"
	"github.com/shoal-dev/shoal/internal/harness/codex"
	"github.com/shoal-dev/shoal/internal/harness/opencode"
)

// kind is a kind of coding agent.
type kind struct {
	title string
	start func(context.Context, harness.Spec) (harness.Session, error)
	// command starts the program if the configuration does not name another; nil if it must.
	command []string
	// steers means that the program takes messages during a turn.
	steers bool
	// environ are the variables that the program may see besides those that every program needs.
	environ []string
}

var kinds = map[string]kind{
	"claude-code": {
		title: "Claude Code", start: claude.Start, command: []string{"claude"}, steers: true,
		environ: []string{"ANTHROPIC_*", "CLAUDE_*", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "MAX_THINKING_TOKENS", "ENABLE_TOOL_SEARCH"},
	},
	"codex": {title: "Codex", start: codex.Start, command: []string{"codex"}, steers: true, environ: []string{"OPENAI_*", "CODEX_*"}},
	"gemini-cli": {
		title: "Gemini CLI", start: acp.Start, command: []string{"gemini", "--acp"}, environ: []string{"GEMINI_*", "GOOGLE_*"},
	},
	"opencode": {title: "OpenCode", start: opencode.Start, command: []string{"opencode", "acp"}, environ: []string{"OPENCODE_*"}},
	"acp":      {title: "The agent", start: acp.Start},
}

// Kinds returns the kinds of coding agents, sorted: the values of [Agent.Kind].
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
