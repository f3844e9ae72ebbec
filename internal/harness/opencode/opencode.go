// Package opencode drives OpenCode through the Agent Client Protocol. It adds to package acp what
// makes OpenCode keep the mode: by itself it changes files and executes commands without a question.
package opencode

import (
	"context"
	"slices"
	"strings"

	"github.com/shoal-dev/shoal/internal/harness"
	"github.com/shoal-dev/shoal/internal/harness/acp"
)

// The variables of OpenCode with settings for one process, in JSON.
const (
	permissionVariable = "OPENCODE_PERMISSION"
	settingsVariable   = "OPENCODE_CONFIG_CONTENT"
)

// settings let the model go on after a denial. Otherwise OpenCode ends the turn.
const settings = `{"experimental":{"continue_loop_on_deny":true}}`

// Start starts OpenCode, with the conversation to resume if there is one. Of two rules for one tool
// the mode's replaces the user's, except where the user's settings give one of their agents rules of
// its own. OPENCODE_CONFIG_CONTENT of the environment is kept.
func Start(ctx context.Context, spec harness.Spec) (harness.Session, error) {
	set := func(pair string) bool { return strings.HasPrefix(pair, permissionVariable+"=") }
	spec.Env = append(slices.DeleteFunc(slices.Clone(spec.Env), set), permissionVariable+"="+permissions(spec))
	if !slices.ContainsFunc(spec.Env, func(pair string) bool { return strings.HasPrefix(pair, settingsVariable+"=") }) {
		spec.Env = append(spec.Env, settingsVariable+"="+settings)
	}
	return acp.Start(ctx, spec)
}

// permissions are the rules of a mode. The last one that fits counts, so they are in order.
func permissions(spec harness.Spec) string {
	all, edit, bash := "ask", "ask", "ask"
	switch spec.Mode {
	case harness.ModeRead: // the model is not offered what is denied
		all, edit, bash = "deny", "deny", "deny"
	case harness.ModeEdit:
		edit = "allow"
	case harness.ModeAsk:
	}
	rules := []string{`"*":"` + all + `"`, `"read":{"*":"allow","*.env":"` + all + `","*.env.*":"` + all + `","*.env.example":"allow"}`}
	for _, tool := range []string{"glob", "grep", "list", "lsp", "skill", "todoread", "todowrite", "task"} {
		rules = append(rules, `"`+tool+`":"allow"`)
	}
	// Nobody sees a dialog of OpenCode's own.
	rules = append(rules, `"question":"deny"`, `"plan_enter":"deny"`, `"plan_exit":"deny"`, `"edit":"`+edit+`"`, `"bash":"`+bash+`"`)
	for _, server := range spec.Servers {
		rules = append(rules, `"`+server.Name+`_*":"allow"`)
	}
	return "{" + strings.Join(rules, ",") + "}"
}
