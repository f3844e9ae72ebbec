package run_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shoal-dev/shoal"
	"github.com/shoal-dev/shoal/agent/provider/script"
	"github.com/shoal-dev/shoal/internal/agentconfig"
)

// preview returns what an admin is shown of a configuration.
func (w *world) preview(text string, space shoal.SpaceID) shoal.AgentPreview {
	w.t.Helper()
	out, err := w.tryPreview(text, space)
	w.must(err)
	return out
}

func (w *world) tryPreview(text string, space shoal.SpaceID) (out shoal.AgentPreview, err error) {
	w.t.Helper()
	c, err := agentconfig.Decode([]byte(text), agentconfig.Options{Env: []string{"KB"}})
	w.must(err)
	draft, _, err := w.hub.Agents.Draft(w.t.Context(), admin, session, c.Agent.ID, space)
	w.must(err)
	return w.exe.Preview(w.t.Context(), draft, c)
}

// configOf is the configuration that hosts makes.
func configOf(id shoal.EntityID, settings string) string {
	return fmt.Sprintf(`{"version":"1.0","agent":{"id":%q,"name":%q,"system":"Serve."},"model":{"provider":"script","name":"script"},%s}`, id, id, settings)
}

var now = regexp.MustCompile(`(?s)\n# Now\n.*`)

// A preview is what a run that begins then is sent: it is made by the same code.
func TestPreviewMatchesTheRunsRequest(t *testing.T) {
	w := newWorld(t)
	model := &hearing{Model: script.PerTurn(silent)}
	settings := fmt.Sprintf(`"mcp":{"servers":[{"name":"kb","url":%q,"requiresPermission":false}]},`, mcpServer(t)) + cards
	w.shopkeeper(model, settings)
	w.reaches(w.says("The first of them."), shoal.RunCompleted)
	w.reaches(w.says("A <lamp>, please."), shoal.RunCompleted)
	shown := w.preview(configOf("bot", settings), "shop")
	heard := model.all()[1]
	if diff := cmp.Diff(now.ReplaceAllString(heard.System, ""), now.ReplaceAllString(shown.System, "")); diff != "" {
		t.Errorf("the prompts differ (- run, + preview):\n%s", diff)
	}
	if diff := cmp.Diff(plainJSON(t, heard.Tools), plainJSON(t, shown.Tools)); diff != "" {
		t.Errorf("the tools differ (- run, + preview):\n%s", diff)
	}
	input := said(heard.Messages[len(heard.Messages)-1])
	if _, got, found := strings.Cut(shown.Input, "</you>\n\n"); !found || got != input || len(shown.Warnings) != 0 {
		t.Errorf("the input is %q with the warnings %q, of the run it is %q", shown.Input, shown.Warnings, input)
	}
	if !slices.ContainsFunc(shown.Tools, func(tool shoal.ModelTool) bool { return tool.Name == "greet" }) {
		t.Error("the tool of the MCP server is missing")
	}
}

// Nothing comes of a preview: no entity, no run, no word to a model.
func TestPreviewChangesNothing(t *testing.T) {
	w := newWorld(t)
	model := &hearing{Model: script.PerTurn(silent)}
	w.models["new"] = model
	shown := w.preview(configOf("new", cards), "shop")
	if !strings.Contains(shown.System, "Your entity id is new.") || !strings.Contains(shown.Input, "Hello!") {
		t.Errorf("it shows %+v", shown)
	}
	if alone := w.preview(configOf("new", cards), ""); !strings.Contains(alone.Input, `<service name="preview"`) || !strings.Contains(alone.Input, "A service called you") {
		t.Errorf("without a space it shows %q", alone.Input)
	}
	texts, requests := w.store.kept()
	if len(w.runs()) != 0 || len(model.all()) != 0 || len(texts) != 0 || len(requests) != 0 {
		t.Errorf("there are %d runs, %d calls of the model, %d texts", len(w.runs()), len(model.all()), len(texts))
	}
	if _, err := w.hub.Entities.Get(t.Context(), admin, session, "new"); !errors.Is(err, shoal.NotFound) {
		t.Errorf("the agent is there: %v", err)
	}
}

// What a run would have to do without is said, soon.
func TestPreviewWarns(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	shown := w.preview(configOf("bot", `"mcp":{"servers":[
		{"name":"gone","url":"http://127.0.0.1:9/mcp"},{"name":"secret","url":"http://127.0.0.1:9/mcp","headers":{"Authorization":"Bearer ${env.KB}"}}]}`), "shop")
	if len(shown.Warnings) != 2 || shown.Warnings[0] != `The tools of the MCP server "gone" are missing: MCP server gone (http, 127.0.0.1:9) cannot be reached: connect: connection refused.` || !strings.Contains(shown.Warnings[1], "KB") {
		t.Errorf("it warns %q", shown.Warnings)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(shown.Tools) == 0 {
		t.Error("the other tools are missing")
	}
}
